// The history of changes, with buttons to undo them.

import { undo } from "./change.js";
import { button, byId, dotted, element } from "./elements.js";
import { accuracyChange, age, number } from "./format.js";
import { load } from "./loading.js";
import { newKey, request } from "./request.js";
import { current, may, watch } from "./state.js";

const LIMIT = 50, NOT_UNDOABLE = ["prune", "purge"];

function item(entry) {
  const changed = entry.predictions_changed == null ? null
    : `${number(entry.predictions_changed)} of ${number(entry.predictions_compared)} predictions changed`;
  const { live, candidate } = current().versions, { version, action } = entry, key = newKey();
  const state = version === live ? "live" : version === candidate ? "waiting for review" : null;
  const badge = state && element("span", { class: version === live ? "badge" : "badge alarm" }, state);
  const canUndo = may("teach") && version > 1 && !NOT_UNDOABLE.includes(action);
  return element("li", { "data-version": version },
    element("p", {}, element("span", { class: "version" }, `${version} `), entry.description, " ", badge),
    entry.note ? element("p", { class: "note" }, `“${entry.note}”`) : null,
    element("p", {}, dotted(entry.by, age(entry.at, "ago"), changed, accuracyChange(entry))),
    canUndo ? button("Undo", (event) => undo(version, event.currentTarget, true, key), { "aria-label": `Undo version ${version}` }) : null);
}

watch(["versions"], () => load("history-status", async () => {
  const { versions } = current(), { history } = await request(`v1/history?limit=${LIMIT}`);
  if (versions === current().versions) byId("changes").replaceChildren(...history.map(item));
}));

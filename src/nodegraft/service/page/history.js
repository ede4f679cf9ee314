// The history of changes, with buttons to promote and to undo.

import { busy, button, byId, dotted, element } from "./elements.js";
import { accuracyChange, age, number } from "./format.js";
import { newKey, query } from "./request.js";

const NOT_UNDOABLE = ["prune", "purge"];

export function showHistory(page, history) {
  byId("changes").replaceChildren(...history.map((entry) => item(page, entry)));
}

function item(page, entry) {
  const changed = entry.predictions_changed == null ? null
    : `${number(entry.predictions_changed)} of ${number(entry.predictions_compared)} predictions changed`;
  const { live, candidate } = page.versions;
  const state = entry.version === live ? "live" : entry.version === candidate ? "waiting for review" : null;
  const badge = state && element("span", { class: entry.version === live ? "badge" : "badge alarm" }, state);
  return element("li", { "data-version": entry.version },
    element("p", {}, element("span", { class: "version" }, `${entry.version} `), entry.description, " ", badge),
    entry.note ? element("p", { class: "note" }, `“${entry.note}”`) : null,
    element("p", {}, dotted(entry.by, age(entry.at, "ago"), changed, accuracyChange(entry))),
    element("p", { class: "line" }, ...buttons(page, entry)));
}

function buttons(page, { version, action }) {
  const key = newKey(), status = byId("history-status"), found = [];
  const onClick = (work) => (event) => busy(event.currentTarget, status, work);
  if (page.may("admin") && version === page.versions.candidate)
    found.push(button("Promote", onClick(async () => {
      await page.review.send(`v1/versions/${version}:promote?only_candidate=true`, { method: "POST" });
      await page.refresh(status, () => `Version ${version} is live.`);
    }), { class: "strong", "aria-label": `Promote version ${version}` }));
  if (page.may("teach") && version > 1 && !NOT_UNDOABLE.includes(action))
    found.push(button("Undo", onClick(async () => {
      const path = `v1/versions/${version}:undo?${query({ promote: page.promotesAtOnce() })}`;
      await page.refresh(status, page.describeChange(await page.change(path, { method: "POST", key })));
    }), { "aria-label": `Undo version ${version}` }));
  return found;
}

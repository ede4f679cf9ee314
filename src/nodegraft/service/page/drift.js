// Drift between the live version and the one that is shown.

import { byId, element, show } from "./elements.js";
import { isShown, load } from "./loading.js";
import { query, request } from "./request.js";
import { watch } from "./state.js";

async function showDrift(shown) {
  const { compared_with: before, model_version: after, shifts } = await request(`v1/drift?${query({ after: shown })}`);
  if (!isShown(shown)) return;
  if (before === after) {
    byId("shifts").replaceChildren();
    return show(byId("drift-status"), `Version ${after} is the oldest version: there is none to compare it with.`);
  }
  const alarms = shifts.filter(({ alarm }) => alarm).length, between = `between version ${before} and version ${after}`;
  show(byId("drift-status"), alarms
    ? `Drift above the alarm threshold in ${alarms} of ${shifts.length} measures ${between}: check them.`
    : `No drift above the alarm threshold ${between}.`);
  byId("shifts").replaceChildren(...shifts.map(item));
}

function item({ measure, before, after, distance, alarm }) {
  const bar = element("span", { class: "bar", "aria-hidden": "true" }, element("span", {}));
  bar.firstChild.style.width = `${100 * Math.min(1, distance)}%`;
  const badge = element("span", { class: alarm ? "badge alarm" : "badge quiet" }, alarm ? "alarm" : "no alarm");
  const change = before === after ? after : `${before} → ${after}`;
  return element("li", {}, element("p", {}, element("strong", {}, measure), " ", badge),
    element("p", { class: "soft" }, `${change}; distance ${distance.toFixed(2)}`), bar);
}

watch(["summary"], ({ shown }) => load("drift-status", () => showDrift(shown)));

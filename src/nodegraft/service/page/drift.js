// Whether the nodes of today are still like those that a version was made for.

import { byId, element, tell } from "./elements.js";
import { ask, query } from "./service.js";

export async function showDrift(version) {
  const { compared_with: before, model_version: after, shifts } = await ask(`v1/drift?${query({ after: version })}`);
  if (before === after) {
    byId("shifts").replaceChildren();
    return tell(byId("drift-told"), `Version ${after} is the oldest version: there is none to compare it with.`);
  }
  const moved = shifts.filter((one) => one.alarming).length;
  const since = `between version ${before} and version ${after}`;
  tell(byId("drift-told"), moved ? `${moved} of ${shifts.length} things have moved ${since}: look at them.` : `Nothing has moved much ${since}.`);
  byId("shifts").replaceChildren(...shifts.map(item));
}

function item(one) {
  const bar = element("span", { class: "bar", "aria-hidden": "true" }, element("span", {}));
  bar.firstChild.style.width = `${100 * Math.min(1, one.distance)}%`;
  const badge = element("span", { class: one.alarming ? "badge alarming" : "badge quiet" }, one.alarming ? "moved" : "quiet");
  const change = one.before === one.after ? one.after : `${one.before} → ${one.after}`;
  return element("li", {}, element("p", {}, element("strong", {}, one.what), " ", badge),
    element("p", { class: "soft" }, `${change}; distance ${one.distance.toFixed(2)}`), bar);
}

// Whether the nodes of today are still like those that a version was made for.

import { byId, element, tell } from "./elements.js";
import { ask, query } from "./service.js";

export async function showDrift({ champion, candidate }) {
  if (candidate === 1) return tell(byId("drift-told"), "There is one version: nothing can have moved yet.");
  // Where the newest version answers, all that has come since the first one is told.
  const before = champion === candidate ? 1 : champion;
  const { shifts } = await ask(`v1/drift?${query({ before, after: candidate })}`);
  const moved = shifts.filter((one) => one.alarming).length;
  const since = `between version ${before} and version ${candidate}`;
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

// The classes of the version that answers; the one that is chosen lights up on the map.

import { byId, dotted, element, tell } from "./elements.js";
import { age, counted, number, percent } from "./words.js";

const COLOURS = 10;

// The first classes have a colour each, which they keep when others come: class name -> its number.
export const coloured = (classes) => new Map(classes.slice(0, COLOURS).map((one, place) => [one.name, place]));

export function showClasses(summary, light) {
  const colours = coloured(summary.classes);
  const sampled = summary.asked < summary.nodes ? `, of which ${number(summary.asked)} were asked about` : "";
  const right = summary.accuracy == null ? "" : ` ${percent(summary.accuracy)} of ${number(summary.held_out)} nodes that were held out are answered rightly.`;
  const share = summary.share_of_known_classes == null
    ? ". There is no estimate of how many nodes belong to known classes, so confidence is the probability alone."
    : `, so confidence is probability × known. About ${percent(summary.share_of_known_classes)} of the unlabelled nodes belong to these classes, by estimate.`;
  const world = summary.world === "open" ? ` World: open${share}` : " World: closed, so confidence is the probability.";
  tell(byId("classes-told"), `${counted(summary.nodes, "node")}${sampled}.${right}${world}`);
  const heads = ["class", "nodes", "right", "unsure"].map((name) => element("th", { scope: "col" }, name));
  const rows = summary.classes.map((one) => row(one, colours.get(one.name), light));
  byId("classes-list").replaceChildren(
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)));
}

function row(one, colour, light) {
  const name = element("button", { type: "button", class: "class", "aria-pressed": "false", click: () => light(one.name) },
    element("i", { class: `swatch c${colour ?? "-none"}`, "aria-hidden": "true" }), one.name);
  const since = element("time", { datetime: one.at, title: new Date(one.at).toLocaleString() }, `${age(one.at)} old`);
  const about = dotted(counted(one.labels, "label"), since);
  const unsure = one.unsure == null ? "–" : percent(one.unsure / Math.max(1, one.answered));
  return element("tr", { "data-class": one.name },
    element("th", { scope: "row" }, name, about),
    ...[number(one.answered), percent(one.accuracy), unsure].map((text) => element("td", {}, text)));
}

export function showLit(name) {
  const list = byId("classes-list");
  for (const row of list.querySelectorAll("[data-class]")) {
    const lit = row.dataset.class === name;
    row.classList.toggle("lit", lit);
    row.querySelector("button").setAttribute("aria-pressed", String(lit));
    const hidden = row.offsetTop < list.scrollTop || row.offsetTop + row.offsetHeight > list.scrollTop + list.clientHeight;
    if (lit && hidden) list.scrollTop = row.offsetTop - list.clientHeight / 2;
  }
}

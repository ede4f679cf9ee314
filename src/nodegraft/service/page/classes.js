// The classes of the version that is shown; the selected one is highlighted on the map.

import { byId, dotted, element, show, table } from "./elements.js";
import { age, counted, number, percent } from "./format.js";

const COLOURS = 10;

// Class name -> number of its colour; classes keep it when others are added.
export const classColours = (classes) => new Map(classes.slice(0, COLOURS).map(({ name }, index) => [name, index]));

export function showClasses(summary, select) {
  const colours = classColours(summary.classes), known = summary.share_of_known_classes;
  const sample = summary.nodes_predicted < summary.nodes ? `, ${number(summary.nodes_predicted)} of them predicted` : "";
  const accuracy = summary.accuracy == null ? "" : ` Held-out accuracy ${percent(summary.accuracy)} (${counted(summary.held_out, "node")}).`;
  const share = known == null
    ? ". There is no estimate of how many nodes belong to known classes, so confidence is the probability alone."
    : `, so confidence is probability × known. An estimated ${percent(known)} of the unlabelled nodes belong to these classes.`;
  const world = summary.world === "open" ? ` World: open${share}` : " World: closed, so confidence is the probability.";
  show(byId("classes-status"), `${counted(summary.nodes, "node")}${sample}.${accuracy}${world}`);
  const rows = summary.classes.map((summarised) => row(summarised, colours.get(summarised.name), select));
  byId("classes-list").replaceChildren(table(["class", "nodes", "accuracy", "confidence < 90 %"], rows));
}

function row(summarised, colour, select) {
  const { name, labels, at, predicted, accuracy, low_confidence: low } = summarised;
  const selects = element("button", { type: "button", class: "class", "aria-pressed": "false", click: () => select(name) },
    element("i", { class: `swatch c${colour ?? "-none"}`, "aria-hidden": "true" }), name);
  const lowShare = low == null ? "–" : percent(low / Math.max(1, predicted));
  return element("tr", { "data-class": name },
    element("th", { scope: "row" }, selects, dotted(counted(labels, "label"), age(at, "old"))),
    ...[number(predicted), percent(accuracy), lowShare].map((text) => element("td", {}, text)));
}

export function showSelected(name) {
  const list = byId("classes-list");
  for (const row of list.querySelectorAll("[data-class]")) {
    const isSelected = row.dataset.class === name;
    row.classList.toggle("selected", isSelected);
    row.querySelector("button").setAttribute("aria-pressed", String(isSelected));
    const isHidden = row.offsetTop < list.scrollTop || row.offsetTop + row.offsetHeight > list.scrollTop + list.clientHeight;
    if (isSelected && isHidden) list.scrollTop = row.offsetTop - list.clientHeight / 2;
  }
}

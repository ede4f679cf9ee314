// The table of classes: filter, sort, and what can be done with the selected class.

import { propose } from "./change.js";
import { Combobox, matches } from "./combobox.js";
import { button, byId, dotted, element, show, table } from "./elements.js";
import { age, counted, number, percent } from "./format.js";
import { showFound } from "./selection.js";
import { classNames, current, mayChange, update, watch } from "./state.js";

const lowShare = ({ low_confidence: low, predicted }) => (low == null ? null : low / Math.max(1, predicted));
const COLUMNS = [
  { heading: "class", value: ({ name }) => name.toLowerCase() },
  { heading: "nodes", value: ({ predicted }) => predicted },
  { heading: "accuracy", value: ({ accuracy }) => accuracy },
  { heading: "confidence < 90 %", value: lowShare },
];
// By default classes are in the order in which they were added.
const order = { column: null, isDescending: false };
const list = byId("classes-list"), filter = byId("class-filter");

function sorted(classes) {
  if (order.column == null) return classes;
  const { value } = COLUMNS[order.column], sign = order.isDescending ? -1 : 1;
  const compare = (left, right) => (left < right ? -sign : left > right ? sign : 0);
  // Classes without a value come last either way.
  return [...classes].sort((left, right) => {
    const [a, b] = [value(left), value(right)];
    return a == null || b == null ? (a == null) - (b == null) : compare(a, b);
  });
}

function showRows() {
  const { summary, className } = current();
  if (!summary) return;
  const { classes } = summary, shownNames = new Set(matches(classes.map(({ name }) => name), filter.value));
  const rows = sorted(classes.filter(({ name }) => shownNames.has(name)));
  const selectedRow = rows.find(({ name }) => name === className);
  // An open form and the focus stay when counts arrive meanwhile.
  const focused = list.contains(document.activeElement) ? document.activeElement : null, { scrollTop } = list;
  const form = list.querySelector("tr.actions form")?.closest("tr"), kept = form?.dataset.of === className ? form : null;
  const lines = rows.flatMap((summarised) => [row(summarised), ...(summarised === selectedRow ? [kept ?? actionsRow(summarised)] : [])]);
  const heads = COLUMNS.map(({ heading }, index) => sortButton(heading, index));
  list.replaceChildren(table(heads, lines));
  [...list.querySelectorAll("thead th")].forEach((head, index) => {
    if (index === order.column) head.setAttribute("aria-sort", order.isDescending ? "descending" : "ascending");
  });
  const focusable = list.querySelector("[aria-pressed=true]") ?? list.querySelector(".class");
  if (focusable) focusable.tabIndex = 0;
  list.scrollTop = scrollTop;
  const name = focused?.closest("tr")?.dataset.class;
  if (kept?.contains(focused)) focused.focus();
  else if (name != null) [...list.querySelectorAll("[data-class]")].find((line) => line.dataset.class === name)?.querySelector("button").focus({ preventScroll: true });
  show(byId("class-count"), filter.value ? `${counted(rows.length, "class", "classes")} of ${number(classes.length)}` : counted(classes.length, "class", "classes"));
}

const sortButton = (heading, index) => button(`${heading}${order.column !== index ? "" : order.isDescending ? " ▾" : " ▴"}`, () => {
  // The first click on a number shows the largest first; a third click restores the order.
  const first = index > 0;
  if (order.column !== index) Object.assign(order, { column: index, isDescending: first });
  else if (order.isDescending === first) order.isDescending = !first;
  else order.column = null;
  showRows();
  list.querySelectorAll("thead button")[index].focus();
}, { class: "sort" });

function row(summarised) {
  const { name, labels, at, predicted, accuracy, held_out: heldOut } = summarised, { className, colours } = current();
  const isSelected = name === className, low = lowShare(summarised);
  const selects = element("button", { type: "button", class: "class", tabindex: "-1", "aria-pressed": String(isSelected),
    click: () => update({ className: isSelected ? null : name }) },
  element("i", { class: `swatch c${colours.get(name) ?? "-none"}`, "aria-hidden": "true" }), name);
  const share = (value, count) => element("td", {}, percent(value), element("span", { class: "soft" }, value == null ? "" : ` of ${number(count)}`));
  return element("tr", { "data-class": name, class: isSelected ? "selected" : "" },
    element("th", { scope: "row" }, selects, dotted(counted(labels, "label"), age(at, "old"))),
    element("td", {}, number(predicted)), share(accuracy, heldOut), share(low, predicted));
}

function actionsRow({ name }) {
  const place = element("div", { class: "line" });
  const showButtons = () => place.replaceChildren(...actions(name, place, showButtons).filter(Boolean));
  showButtons();
  return element("tr", { class: "actions", "data-of": name }, element("td", { colspan: String(COLUMNS.length) }, place));
}

function actions(name, place, back) {
  const change = mayChange();
  const edit = (label, input, text, act) => () => {
    const form = element("form", { class: "line", submit: (event) => { event.preventDefault(); act(input.value.trim()); } },
      element("label", { for: input.id }, label), element("span", { class: "field" }, input), element("button", { class: "strong" }, text),
      button("Cancel", () => { back(); place.querySelector("button").focus(); }));
    place.replaceChildren(form);
    input.focus();
  };
  const others = () => classNames().filter((other) => other !== name);
  const newName = element("input", { id: "rename-to", maxlength: "200", required: true, value: name });
  const mergeInto = element("input", { id: "merge-into", required: true });
  const merge = edit(`Merge ${name} into`, mergeInto, "Preview", (into) => propose([{ action: "merge", names: [name, into], into }]));
  return [
    button("Show labels", () => showFound({ label: name })),
    change && button("Rename", edit(`New name of ${name}`, newName, "Preview", (to) => propose([{ action: "rename", old: name, new: to }]))),
    change && button("Merge", () => {
      merge();
      new Combobox(mergeInto, others);
    }),
    change && button("Move labels here", () => {
      byId("target-class").value = name;
      byId("target-class").dispatchEvent(new Event("input"));
      byId("target-class").focus();
    }),
    change && button("Remove", () => propose([{ action: "remove", names: [name] }]), { "aria-label": `Remove the class ${name}` }),
    button("Copy link", () => navigator.clipboard?.writeText(location.href).then(() => show(byId("classes-status"), "Copied the link to this class."))),
  ];
}

function showStatus({ summary, shown }) {
  if (!summary) return;
  const isOld = summary.model_version !== shown, known = summary.share_of_known_classes;
  list.setAttribute("aria-busy", String(isOld));
  if (isOld) return show(byId("classes-status"), `Updating to version ${shown}…`);
  const sample = summary.nodes_predicted < summary.nodes ? `, ${number(summary.nodes_predicted)} of them predicted` : "";
  const accuracy = summary.accuracy == null ? "" : ` Held-out accuracy ${percent(summary.accuracy)} (${counted(summary.held_out, "node")}).`;
  const share = known == null
    ? ". There is no estimate of how many nodes belong to known classes, so confidence is the probability alone."
    : `, so confidence is probability × known. An estimated ${percent(known)} of the unlabelled nodes belong to these classes.`;
  const world = summary.world === "open" ? ` World: open${share}` : " World: closed, so confidence is the probability.";
  show(byId("classes-status"), `${counted(summary.nodes, "node")}${sample}.${accuracy}${world}`);
}

function showSelected() {
  const top = list.scrollTop;
  showRows();
  const selected = list.querySelector(".selected");
  if (!selected) return;
  const end = selected.nextElementSibling, bottom = end.offsetTop + end.offsetHeight;
  if (selected.offsetTop < top + 40 || bottom > top + list.clientHeight) list.scrollTop = selected.offsetTop - list.clientHeight / 3;
}

// Arrow keys move between rows, so that the table is one stop of the Tab key.
list.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !event.target.matches(".class")) return;
  const all = [...list.querySelectorAll(".class")], next = all[all.indexOf(event.target) + step];
  if (!next) return;
  event.preventDefault();
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
});
filter.addEventListener("input", showRows);
filter.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") list.querySelector(".class")?.focus();
});

watch(["summary", "shown"], showStatus);
watch(["summary", "colours", "shown"], showRows);
watch(["className"], showSelected);

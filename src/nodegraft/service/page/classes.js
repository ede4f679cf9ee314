// The table of classes: filter, sort, and what can be done with the selected class.

import { propose } from "./change.js";
import { Combobox, matches } from "./combobox.js";
import { button, byId, dotted, element, show, table } from "./elements.js";
import { age, counted, number, percent } from "./format.js";
import { showFound } from "./selection.js";
import { ancestors, classNames, current, groupNames, mayChange, update, watch } from "./state.js";

const lowShare = ({ low_confidence: low, predicted }) => (low == null ? null : low / Math.max(1, predicted));
const COLUMNS = [
  { heading: "class", value: ({ name }) => name.toLowerCase() },
  { heading: "nodes", value: ({ predicted }) => predicted },
  { heading: "accuracy", value: ({ accuracy }) => accuracy },
  { heading: "confidence < 90 %", value: lowShare },
];
const MOST_INDENTED = 4;
// By default classes are in the order in which they were added, each below its parent.
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

// A group has the sums of the classes below it, but no accuracy: its nodes have labels of these classes.
function withSums(group, classes) {
  const inside = classes.filter(({ name }) => ancestors(name).includes(group.name));
  const sum = (field) => (inside.some((own) => own[field] == null) ? null : inside.reduce((total, own) => total + own[field], 0));
  return { ...group, accuracy: null, count: inside.length, labels: sum("labels"), predicted: sum("predicted"), low_confidence: sum("low_confidence") };
}

// Rows in the order of the tree, each followed by those below it; a group stands where its first class does.
function inTree(rows) {
  const byName = new Map(rows.map((own) => [own.name, own])), children = new Map();
  for (const { name } of rows)
    for (const [child, parent] of [name, ...ancestors(name)].map((own, index, path) => [own, path[index + 1] ?? null]))
      children.set(parent, (children.get(parent) ?? new Set()).add(child));
  const below = (parent) => [...(children.get(parent) ?? [])].flatMap((name) => [byName.get(name), ...below(name)]);
  return below(null);
}

// A filter keeps the ancestors of what it finds; an order by a column leaves the tree.
function shownRows({ classes, groups }) {
  const found = matches([...classes, ...groups].map(({ name }) => name), filter.value);
  if (order.column != null) return sorted(classes.filter(({ name }) => found.includes(name)));
  const names = new Set(found.flatMap((name) => [name, ...ancestors(name)]));
  return inTree([...classes, ...groups.map((group) => withSums(group, classes))].filter(({ name }) => names.has(name)));
}

function showRows() {
  const { summary, className } = current();
  if (!summary) return;
  const { classes } = summary, rows = shownRows(summary), shownClasses = rows.filter(({ count }) => count == null);
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
  show(byId("class-count"), filter.value ? `${counted(shownClasses.length, "class", "classes")} of ${number(classes.length)}` : counted(classes.length, "class", "classes"));
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
  const { name, labels, at, predicted, accuracy, held_out: heldOut, parent, count } = summarised, { className, colours } = current();
  const isSelected = name === className, low = lowShare(summarised);
  const selects = element("button", { type: "button", class: "class", tabindex: "-1", "aria-pressed": String(isSelected),
    click: () => update({ className: isSelected ? null : name }) },
  count == null ? element("i", { class: `swatch c${colours.get(name) ?? "-none"}`, "aria-hidden": "true" }) : "", name);
  const share = (value, count) => element("td", {}, percent(value), element("span", { class: "soft" }, value == null ? "" : ` of ${number(count)}`));
  const isTree = order.column == null, below = parent == null ? null : `below ${parent}`;
  const facts = count == null ? [counted(labels, "label"), age(at, "old")] : [`group of ${counted(count, "class", "classes")}`, counted(labels, "label")];
  // The indentation says the same to those who see it.
  const head = element("th", { scope: "row" }, selects, isTree && below ? element("span", { class: "unseen" }, below) : null, dotted(isTree ? null : below, ...facts));
  // Deep levels share one indentation, so that names have room.
  if (isTree) head.style.setProperty("--depth", Math.min(ancestors(name).length, MOST_INDENTED));
  return element("tr", { "data-class": name, class: `${isSelected ? "selected" : ""}${count == null ? "" : " group"}` }, head,
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
  const others = () => classNames().filter((other) => other !== name), isGroup = groupNames().includes(name);
  const parent = element("input", { id: "parent-of", maxlength: "200", value: ancestors(name)[0] ?? "" });
  // A class cannot be below itself, or below a class that is below it.
  const parents = () => [...groupNames(), ...classNames()].filter((other) => ![other, ...ancestors(other)].includes(name));
  const move = edit(`Parent of ${name} (empty for none)`, parent, "Preview", (to) => propose([{ action: "move", parents: { [name]: to || null } }]));
  const newName = element("input", { id: "rename-to", maxlength: "200", required: true, value: name });
  const mergeInto = element("input", { id: "merge-into", required: true });
  const merge = edit(`Merge ${name} into`, mergeInto, "Preview", (into) => propose([{ action: "merge", names: [name, into], into }]));
  return [
    !isGroup && button("Show labels", () => showFound({ label: name })),
    change && button("Rename", edit(`New name of ${name}`, newName, "Preview", (to) => propose([{ action: "rename", old: name, new: to }]))),
    change && !isGroup && button("Merge", () => {
      merge();
      new Combobox(mergeInto, others);
    }),
    change && button("Change parent", () => {
      move();
      new Combobox(parent, parents, { isFree: true, noun: "group" });
    }),
    change && !isGroup && button("Move labels here", () => {
      byId("target-class").value = name;
      byId("target-class").dispatchEvent(new Event("input"));
      byId("target-class").focus();
    }),
    change && button("Remove", () => propose([{ action: "remove", names: [name] }]), { "aria-label": `Remove the ${isGroup ? "group" : "class"} ${name}` }),
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

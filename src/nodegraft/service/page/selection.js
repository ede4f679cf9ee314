// Find nodes, select them, and give them a class: a new one, a known one, or another one.

import { propose } from "./change.js";
import { Combobox } from "./combobox.js";
import { button, byId, element, nodeLine, show } from "./elements.js";
import { counted } from "./format.js";
import { about, isShown, load } from "./loading.js";
import { query, request } from "./request.js";
import { classNames, current, deselect, keyOf, mayChange, select, update, watch } from "./state.js";

const PAUSE = 250, LIMIT = 100, LISTED = 50, PASTED = 10_000;
const words = byId("words"), target = byId("target-class");
let found = [], timer = null;

function search() {
  clearTimeout(timer);
  const text = words.value.trim();
  if (text) return showFound({ words: text });
  showNodes([], "");
}

// Show the nodes that a request of /v1/nodes finds.
export function showFound(wanted) {
  if (wanted.label) words.value = "";
  return load("found-status", async () => {
    const { shown } = current(), text = words.value;
    const { nodes } = await request(`v1/nodes?${about({ ...wanted, limit: LIMIT })}`);
    if (text !== words.value || !isShown(shown)) return;
    const first = nodes.length === LIMIT ? "The first " : "";
    showNodes(nodes, wanted.label ? `${first}${counted(nodes.length, "node")} with the label ${wanted.label}.` : `${first}${counted(nodes.length, "node")} found.`);
    if (wanted.label) byId("selection-title").focus();
  });
}

// The first key is the strongest match, so Enter opens it.
function showNodes(nodes, text) {
  found = nodes;
  show(byId("found-status"), text);
  byId("select-found").hidden = nodes.length < 2;
  byId("found").replaceChildren(...nodes.map((node) => nodeLine(node.node, node.text,
    node.label == null ? null : element("span", { class: "soft" }, `label ${node.label}`),
    button("", () => (current().selection.has(String(node.node)) ? deselect(node.node) : select([node])), { "data-key": node.node }))));
  markFound();
}

function markFound() {
  for (const toggle of byId("found").querySelectorAll("button")) {
    const isSelected = current().selection.has(toggle.dataset.key);
    toggle.setAttribute("aria-pressed", String(isSelected));
    toggle.setAttribute("aria-label", `Select ${toggle.dataset.key}`);
    toggle.textContent = isSelected ? "Selected" : "Select";
  }
}

// Keys from a table: separated by lines, tabs, commas or semicolons.
async function paste(keys) {
  const asked = [...new Set(keys)].slice(0, PASTED);
  const { predictions } = await request(`v1/predict?${about()}`, { method: "POST", body: { keys: asked.map(keyOf), missing: "null" } });
  const isUnknown = ({ reason }) => reason === "unknown_key";
  const unknown = predictions.filter(isUnknown).map(({ node }) => String(node));
  select(predictions.filter((prediction) => !isUnknown(prediction)).map(({ node, label }) => ({ node, label })));
  const missing = unknown.length ? ` ${counted(unknown.length, "key")} not in the graph: ${unknown.slice(0, 5).join(", ")}${unknown.length > 5 ? "…" : ""}.` : "";
  show(byId("found-status"), `Selected ${counted(asked.length - unknown.length, "pasted node")}.${missing}`, unknown.length > 0);
}

words.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(search, PAUSE);
});
words.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  search()?.then(() => { if (found.length) update({ node: String(found[0].node) }); });
});
words.addEventListener("paste", (event) => {
  const keys = event.clipboardData.getData("text").split(/[\n\r\t,;]+/).map((key) => key.trim()).filter(Boolean);
  if (keys.length < 2) return;
  event.preventDefault();
  load("found-status", () => paste(keys));
});
byId("select-found").addEventListener("click", () => select(found));
byId("clear-selection").addEventListener("click", () => { update({ selection: new Map() }); words.focus(); });

function showSelection() {
  const nodes = [...current().selection.values()];
  markFound();
  byId("selected-title").textContent = `Selected nodes (${nodes.length})`;
  byId("selection-hint").hidden = nodes.length > 0;
  byId("clear-selection").hidden = !nodes.length;
  byId("selected").replaceChildren(...nodes.slice(0, LISTED).map((node) => nodeLine(node.node, node.text,
    node.label == null ? null : element("span", { class: "soft" }, `label ${node.label}`),
    button("Remove", () => { deselect(node.node); words.focus(); }, { "aria-label": `Deselect ${node.node}` }))),
  ...(nodes.length > LISTED ? [element("li", { class: "soft" }, `and ${counted(nodes.length - LISTED, "more node")}`)] : []));
  showActions();
}

// What can be done with the selected nodes and the class in the field.
function showActions() {
  const name = target.value.trim(), isKnown = classNames().includes(name), nodes = [...current().selection.values()];
  const keys = (some) => some.map(({ node }) => node);
  const unlabelled = keys(nodes.filter(({ label }) => label == null));
  const labelled = keys(nodes.filter(({ label }) => label != null)), others = keys(nodes.filter(({ label }) => label != null && label !== name));
  const act = (text, change) => button(text, () => propose([change], () => {
    update({ selection: new Map() });
    target.value = "";
    if (change.action === "add") update({ className: name });
  }), { class: "strong" });
  byId("selection-actions").replaceChildren(...(mayChange() ? [
    name && !isKnown && unlabelled.length && act(`Add class ${name} with ${counted(unlabelled.length, "example")}`, { action: "add", classes: { [name]: unlabelled } }),
    isKnown && unlabelled.length && act(`Label ${counted(unlabelled.length, "node")} ${name}`, { action: "label", more: { [name]: unlabelled } }),
    isKnown && others.length && act(`Move ${counted(others.length, "label")} to ${name}`, { action: "relabel", classes: { [name]: others } }),
    labelled.length && button(`Remove ${counted(labelled.length, "label")}`, () => propose([{ action: "unlabel", keys: labelled }], () => update({ selection: new Map() }))),
  ] : []).filter(Boolean));
  const isLeftOut = name && !isKnown && labelled.length;
  show(byId("selection-note"), isLeftOut ? `${counted(labelled.length, "selected node")} already labelled: not used for a new class. Choose a known class to move them.` : "");
}

function showForm({ versions, shown }) {
  byId("selection-form").hidden = !mayChange();
  byId("selection-blocked").textContent = mayChange() ? ""
    : versions.candidate != null && shown !== versions.candidate ? `This page shows the live version; changes are made to candidate version ${versions.candidate}: switch to it above.`
      : "To change labels, a token with the scope teach is needed.";
}

new Combobox(target, classNames, { change: showActions, isFree: true });
byId("selection-form").addEventListener("submit", (event) => {
  event.preventDefault();
  byId("selection-actions").querySelector("button")?.click();
});

watch(["selection", "summary"], showSelection);
watch(["versions", "shown", "caller"], (state) => { if (state.versions) showForm(state); });

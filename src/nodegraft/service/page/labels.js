// Label suggested nodes: a few keys each, for any class.

import { propose } from "./change.js";
import { Combobox } from "./combobox.js";
import { button, byId, element, nodeLine, nodeLink, show } from "./elements.js";
import { confidence, counted, likely, number } from "./format.js";
import { about, isShown, load, readNodes } from "./loading.js";
import { request } from "./request.js";
import { classNames, current, mayChange, watch } from "./state.js";

const COUNT = 30, DIGITS = 9;
const card = byId("suggestion"), status = byId("labelling-status"), anyClass = byId("any-class");
let queue = [], labels = [], skipped = new Set();

// Labels that the user has chosen stay until they are added.
async function loadQueue() {
  if (labels.length || !mayChange()) return;
  const { shown } = current();
  if (!queue.length) card.replaceChildren(element("p", { class: "soft" }, "Looking for nodes whose labels help most…"));
  const { suggestions } = await request(`v1/suggest?${about({ count: COUNT })}`), keys = suggestions.map(({ node }) => node);
  const [nodes, predictions] = keys.length ? await Promise.all([readNodes(keys),
    request(`v1/predict?${about()}`, { method: "POST", body: { keys, top: DIGITS } }).then((found) => found.predictions)]) : [[], []];
  if (!isShown(shown) || labels.length) return;
  queue = suggestions.map((suggestion, index) => ({ ...suggestion, ...predictions[index], ...nodes[index] }))
    .filter(({ node, label }) => label == null && !skipped.has(String(node)));
  showCard();
}

// A few classes keep their digits; of many classes, the most probable ones are offered.
const offered = ({ top }) => (classNames().length > DIGITS ? top.map((best) => best.class) : classNames());

function showCard() {
  const [node] = queue;
  byId("any-class-part").hidden = !node;
  byId("labelling-counter").textContent = `${counted(labels.length, "label")} chosen, ${number(queue.length)} left`;
  if (!node) {
    const text = labels.length ? "No more suggestions: add the labels you chose." : "There is no node to label now.";
    card.replaceChildren(element("p", {}, text), ...(skipped.size ? [button("Show skipped nodes again", () => {
      skipped = new Set();
      load("labelling-status", loadQueue);
    })] : []));
  } else {
    const [first, second] = node.top;
    const similar = Math.max(1, Math.round(node.similar_nodes));
    const why = second ? `Suggested because it stands for about ${number(similar)} similar ${similar === 1 ? "node" : "nodes"} with uncertain predictions. Its most probable classes: ${first.class} ${likely(first.probability)}, ${second.class} ${likely(second.probability)}.` : "";
    card.replaceChildren(
      element("p", {}, nodeLink(node.node), ` ${node.text ?? ""}`),
      element("p", { class: "soft" }, `predicted ${node.prediction}, ${confidence(node)}`),
      element("p", { class: "soft small" }, why),
      element("div", { class: "line" }, ...offered(node).map((name, index) => offer(String(index + 1), name, () => choose(name), name === node.prediction))));
  }
  showLabels();
}

function offer(key, text, click, isLikely = false) {
  const made = button("", click, { class: isLikely ? "offer likely" : "offer" });
  made.append(element("kbd", {}, key), ` ${text}`);
  return made;
}

function showLabels() {
  byId("chosen").replaceChildren(...labels.map((label) => nodeLine(label.node.node, `→ ${label.name}${classNames().includes(label.name) ? "" : " (new class)"}`,
    button("Remove", () => takeBack(label), { "aria-label": `Remove the label of ${label.node.node}` }))));
  byId("add-labels").hidden = byId("undo-label").hidden = !labels.length;
  byId("add-labels").textContent = `Add ${counted(labels.length, "label")}`;
}

function choose(name) {
  const node = queue.shift();
  labels.push({ node, name });
  anyClass.value = "";
  next(`Labelled ${node.node} as ${name}.`);
}

function skip() {
  const { node } = queue.shift();
  skipped.add(String(node));
  next(`Skipped ${node}.`);
}

function takeBack(label = labels.at(-1)) {
  if (!label) return;
  labels = labels.filter((other) => other !== label);
  queue.unshift(label.node);
  next(`Took back the label of ${label.node.node}.`);
}

function next(text) {
  show(status, text);
  showCard();
  card.focus();
}

const KEYS = { s: skip, u: () => takeBack(), "/": () => anyClass.focus(), n: () => anyClass.focus() };

byId("labelling-part").addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === anyClass) {
    if (event.key !== "Escape") return;
    card.focus();
  } else {
    const [node] = queue, name = node && offered(node)[Number(event.key) - 1];
    if (name != null) choose(name);
    else if (KEYS[event.key] && (node || event.key === "u")) KEYS[event.key]();
    else return;
  }
  event.preventDefault();
});
byId("undo-label").addEventListener("click", () => takeBack());
byId("skip-node").addEventListener("click", () => { if (queue.length) skip(); });

// Labels of new classes need a change of their own.
byId("add-labels").addEventListener("click", () => {
  const known = Object.create(null), fresh = Object.create(null), names = new Set(classNames());
  for (const { node, name } of labels) ((names.has(name) ? known : fresh)[name] ??= []).push(node.node);
  const changes = [["label", "more", known], ["add", "classes", fresh]]
    .filter(([, , classes]) => Object.keys(classes).length).map(([action, field, classes]) => ({ action, [field]: classes }));
  propose(changes, (change) => {
    const done = new Set(Object.keys(change.more ?? change.classes));
    labels = labels.filter(({ name }) => !done.has(name));
    showCard();
  });
});

new Combobox(anyClass, classNames, { choose, isFree: true });

watch(["summary", "caller"], () => {
  byId("labelling").hidden = !mayChange();
  load("labelling-status", loadQueue);
});

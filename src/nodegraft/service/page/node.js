// Everything about one node: its prediction, what it rests on, and its neighbours.

import { button, byId, dotted, element, nodeLine, show, table, working } from "./elements.js";
import { confidence, counted, likely, number } from "./format.js";
import { about, isShown, load } from "./loading.js";
import { request } from "./request.js";
import { ancestors, current, deselect, keyOf, mayChange, select, update, watch } from "./state.js";

const TOP = 5, NEIGHBOURS = 8, MIN_CONFIDENCE = 0.9, panel = byId("node"), status = byId("node-status");

async function describe(key) {
  const { shown } = current(), end = working(status, `Explaining ${key}`);
  try {
    const [{ nodes: [node] }, { predictions: [prediction] }, explanation, { edge_types: types }] = await Promise.all([
      request(`v1/nodes?${about({ key })}`),
      request(`v1/predict?${about()}`, { method: "POST", body: { keys: [keyOf(key)], top: TOP, min_confidence: MIN_CONFIDENCE, ignore_labels: true } }),
      // Not every method explains its predictions; the rest is shown nevertheless.
      request(`v1/explain?${about({ node: key })}`).then((found) => found.explanation, (error) => ({ error: error.message })),
      request(`v1/neighbours?${about({ node: key, limit: NEIGHBOURS })}`),
    ]);
    if (current().node !== key || !isShown(shown)) return;
    byId("node-title").textContent = `Node ${key}`;
    byId("node-content").replaceChildren(...head(node, prediction), ...reasons(explanation), ...neighbours(types, explanation));
    showToggle();
  } finally {
    end();
  }
}

function head(node, prediction) {
  const probable = prediction.top.map((best) => element("li", {}, classLink(best.class), ` ${likely(best.probability)}`, meter(best.probability)));
  return [element("p", {}, node.text ?? "This node has no text."),
    element("p", {}, "Label: ", node.label == null ? "none" : classLink(node.label), ...predicted(prediction)),
    element("h3", {}, "Most probable classes"), element("ol", { class: "bars" }, ...probable)];
}

// A prediction that lacks confidence is followed by the ancestor that reaches it, if there is one.
function predicted(prediction) {
  const [{ class: best }] = prediction.top;
  if (prediction.reason !== "ancestor") return [dotted(` predicted ${best}`, confidence(prediction))];
  return [dotted(` predicted ${best}, which has a confidence below ${likely(MIN_CONFIDENCE)}`), element("br"), "With enough confidence: ",
    classLink(prediction.prediction), element("span", { class: "badge" }, `ancestor of ${best}`), dotted(` ${confidence(prediction)}`)];
}

const classLink = (name) => button(name, () => update({ className: name }), { class: "text" });

function meter(share) {
  const bar = element("span", { class: "bar", "aria-hidden": "true" }, element("span", {}));
  bar.firstChild.style.width = `${100 * Math.max(0, Math.min(1, share))}%`;
  return bar;
}

function reasons({ error, answer, runner_up: second, signals, labels, note }) {
  if (error) return [element("p", { class: "soft" }, error)];
  if (!signals) return [];
  const row = (cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, cell)));
  const nearest = labels.map(({ node, similarity, diffusion, through = [] }) => nodeLine(node, "",
    element("span", { class: "soft" }, `similarity ${similarity.toFixed(2)}, diffusion ${diffusion.toFixed(2)}`,
      through.length ? `; both linked to ${through.join(", ")}` : "")));
  return [element("h3", {}, "Signals"),
    element("div", { class: "scroll", role: "region", "aria-label": "Signals", tabindex: "0" },
      table(["signal", `for ${answer}`, `for ${second}`], signals.map((signal) => row([signal.signal, signal.for.toFixed(2), signal.for_runner_up.toFixed(2)])))),
    element("h3", {}, `Labels of ${answer} that contribute most`), element("ul", { class: "nodes" }, ...nearest),
    note ? element("p", { class: "soft" }, note) : ""];
}

function neighbours(types, { relations = [] }) {
  const weights = new Map(relations.map(({ kind, worth }) => [kind, worth]));
  const without = types.filter(({ neighbours: count }) => !count).map(({ name }) => name);
  const sections = types.filter(({ neighbours: count }) => count).map(({ name, neighbours: count, nodes }) => element("details", { open: true },
    element("summary", {}, `${name}: ${counted(count, "neighbour")}`, weights.has(name) ? `, weight ${weights.get(name).toFixed(2)}` : ""),
    element("ul", { class: "nodes" }, ...nodes.map((node) => nodeLine(node.node, node.text, node.label == null ? null : element("span", { class: "soft" }, `label ${node.label}`))),
      count > nodes.length ? element("li", { class: "soft" }, `and ${number(count - nodes.length)} more`) : null)));
  return [element("h3", {}, "Neighbours by edge type"), ...sections,
    without.length ? element("p", { class: "soft small" }, `No neighbours by: ${without.join(", ")}.`) : ""];
}

function showToggle() {
  const key = current().node, isSelected = current().selection.has(key);
  byId("node-select").hidden = !mayChange();
  byId("node-select").textContent = isSelected ? "Deselect" : "Select";
}

byId("node-select").addEventListener("click", () => load("node-status", async () => {
  const { node: key, selection } = current();
  if (selection.has(key)) return deselect(key);
  select((await request(`v1/nodes?${about({ key })}`)).nodes);
}));
byId("node-close").addEventListener("click", () => { update({ node: null }); byId("map-title").focus(); });
byId("node-link").addEventListener("click", () => navigator.clipboard?.writeText(location.href).then(() => show(status, "Copied the link to this node.")));

watch(["node", "shown", "summary"], ({ node, summary, shown }, before) => {
  panel.hidden = node == null;
  if (node == null || summary?.model_version !== shown) return;
  if (node !== before.node) byId("node-content").replaceChildren();
  byId("node-title").textContent = `Node ${node}`;
  load("node-status", () => describe(node));
  if (node !== before.node && !document.activeElement?.closest("#map, #labelling")) byId("node-title").focus();
});
watch(["selection"], ({ node }) => { if (node != null) showToggle(); });

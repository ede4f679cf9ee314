// The map: similar nodes are close together. Zoom, hover, and a lasso that selects nodes.

import { busy, byId, element, show, working } from "./elements.js";
import { confidence, counted, number } from "./format.js";
import { Grid, isInside, middles, paint, spreadColours, stamp } from "./geometry.js";
import { about, isShown, load } from "./loading.js";
import { request } from "./request.js";
import { ancestors, classNames, current, groupNames, select, update, watch } from "./state.js";

const HIGH_CONFIDENCE = 0.9, MARGIN = 14, NEAR = 14, MOST = 100_000, ZOOM = 1.6, MOST_ZOOM = 60, NAMES = 16, STEP = 60;
const canvas = byId("map-canvas"), status = byId("map-status"), tip = byId("map-tip"), lassoButton = byId("map-lasso");
const pen = canvas.getContext("2d");
let map = null, view = { scale: 1, x: 0, y: 0 }, base = null, gesture = null, hover = null, frame = 0, count = null;

// Columns instead of an object for each node: 100,000 nodes need little memory.
function columns(nodes, names) {
  const numbers = new Map(names.map((name, index) => [name, index]));
  const xs = Float32Array.from(nodes, ({ x }) => x), ys = Float32Array.from(nodes, ({ y }) => 1 - y);
  const classes = Int32Array.from(nodes, ({ prediction }) => numbers.get(prediction) ?? -1);
  return { xs, ys, classes, names, keys: nodes.map(({ node }) => node), labels: nodes.map(({ label }) => label),
    confidences: Float32Array.from(nodes, (node) => node.confidence), probabilities: Float32Array.from(nodes, ({ probability }) => probability),
    known: Float32Array.from(nodes, ({ known }) => known ?? NaN),
    grid: new Grid(xs, ys), places: middles(names.length, classes, xs, ys) };
}

async function showMap() {
  const { shown } = current(), end = working(status, map ? "Updating the map" : "Drawing the map; the first one of a graph takes some seconds");
  canvas.setAttribute("aria-busy", "true");
  try {
    const { nodes } = await request(`v1/map?${about(count ? { count } : {})}`);
    if (!isShown(shown)) return;
    map = columns(nodes, classNames());
    const colours = spreadColours(map.places);
    update({ colours: new Map(map.names.map((name, index) => [name, colours[index]])) });
    canvas.hidden = byId("map-tools").hidden = false;
    byId("map-all").hidden = nodes.length >= Math.min(MOST, current().summary.nodes);
    byId("map-all").textContent = `Show ${current().summary.nodes > MOST ? number(MOST) : "all " + number(current().summary.nodes)} nodes`;
  } finally {
    end();
    canvas.removeAttribute("aria-busy");
  }
  describe();
  redraw();
}

function describe() {
  const { className } = current(), total = counted(map.keys.length, "node");
  const text = className == null ? `${total}, coloured by predicted class${map.names.length > 10 ? "; classes far apart share colours" : ""}.`
    : `${number(shownNodes().length)} of ${total} are predicted ${groupNames().includes(className) ? "below " : ""}${className}; rings have a confidence below 90 %.`;
  show(status, text);
  canvas.setAttribute("aria-label", `Map: ${text} Keys: arrows move, plus and minus zoom, 0 shows the whole map, n and p go through the nodes.`);
}

// Numbers of the classes that are highlighted: the selected class, or all classes of a group.
function selectedClasses() {
  const { className } = current();
  if (className == null) return new Set();
  const isBelow = (name) => name === className || (groupNames().includes(className) && ancestors(name).includes(className));
  return new Set([...map.names.keys()].filter((number) => isBelow(map.names[number])));
}
const shownIn = (classes) => (node) => !classes.size || classes.has(map.classes[node]);
const shownNodes = () => [...map.keys.keys()].filter(shownIn(selectedClasses()));

// Position on the canvas, in CSS pixels, of a place on the map; and the way back.
const screen = (x, y) => [MARGIN + (x * view.scale + view.x) * (canvas.clientWidth - 2 * MARGIN), MARGIN + (y * view.scale + view.y) * (canvas.clientHeight - 2 * MARGIN)];
const place = (left, top) => [((left - MARGIN) / (canvas.clientWidth - 2 * MARGIN) - view.x) / view.scale, ((top - MARGIN) / (canvas.clientHeight - 2 * MARGIN) - view.y) / view.scale];

function zoom(factor, left = canvas.clientWidth / 2, top = canvas.clientHeight / 2) {
  const [x, y] = place(left, top), scale = Math.max(1, Math.min(MOST_ZOOM, view.scale * factor));
  move({ scale, x: view.x + x * (view.scale - scale), y: view.y + y * (view.scale - scale) });
}

function move(wanted) {
  const within = (offset) => Math.max(1 - wanted.scale - 0.5, Math.min(0.5, offset));
  view = wanted.scale === 1 ? { scale: 1, x: 0, y: 0 } : { scale: wanted.scale, x: within(wanted.x), y: within(wanted.y) };
  redraw();
}

function redraw() {
  base = null;
  draw();
}

function draw() {
  if (!frame) frame = requestAnimationFrame(() => { frame = 0; drawNow(); });
}

function drawNow() {
  if (!map || !canvas.clientWidth) return;
  const ratio = devicePixelRatio;
  if (!base) {
    canvas.width = Math.round(ratio * canvas.clientWidth);
    canvas.height = Math.round(ratio * canvas.clientHeight);
    base = dots(ratio);
  }
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.putImageData(base, 0, 0);
  pen.scale(ratio, ratio);
  const style = getComputedStyle(canvas), ink = style.getPropertyValue("--ink");
  drawNames(style);
  for (const key of current().selection.keys()) if (map.rowOf?.has(key)) circle(map.rowOf.get(key), 6, ink);
  const node = hover ?? nodeRow();
  if (node != null) circle(node, 9, ink);
  if (gesture?.points) drawLasso(style);
}

const nodeRow = () => {
  map.rowOf ??= new Map(map.keys.map((key, index) => [String(key), index]));
  return map.rowOf.get(current().node) ?? null;
};

function dots(ratio) {
  const style = getComputedStyle(canvas), image = pen.createImageData(canvas.width, canvas.height), chosen = selectedClasses();
  const colour = (name) => parseColour(style.getPropertyValue(name)), paper = colour("--paper");
  new Uint32Array(image.data.buffer).fill(((255 << 24) | (paper[2] << 16) | (paper[1] << 8) | paper[0]) >>> 0);
  // Numbers of colours: one for each class, then that of other classes, then that of no class.
  const count = map.names.length, palette = [...map.names.map((name) => `--c${current().colours.get(name) ?? "-none"}`), "--faint", "--c-none"].flatMap(colour);
  const colours = map.classes.map((number) => (chosen.size && !chosen.has(number) ? count : number < 0 ? count + 1 : number));
  const [left, top] = screen(0, 0), [right, bottom] = screen(1, 1);
  const places = { ...map, left: ratio * left, top: ratio * top, across: ratio * (right - left), down: ratio * (bottom - top) };
  const radius = ratio * Math.max(1, Math.min(4, 90 / Math.sqrt(map.keys.length))) * Math.min(2.5, Math.sqrt(view.scale));
  const layer = (dot, isPainted, opacity) => paint(image, dot, places, isPainted, colours, palette, opacity);
  if (!chosen.size) layer(stamp(radius), () => true, 0.85);
  else {
    const isChosen = (node) => chosen.has(map.classes[node]), isLow = (node) => map.confidences[node] < HIGH_CONFIDENCE;
    layer(stamp(radius), (node) => !isChosen(node), 0.55);
    layer(stamp(Math.max(3.5 * ratio, radius * 1.4)), (node) => isChosen(node) && !isLow(node), 1);
    layer(stamp(Math.max(4 * ratio, radius * 1.4), true), (node) => isChosen(node) && isLow(node), 1);
  }
  return image;
}

const parseColour = (hex) => [1, 3, 5].map((start) => parseInt(hex.trim().slice(start, start + 2), 16));

// Names of the largest classes in sight that do not cover each other; zoom in to see more.
function drawNames(style) {
  const taken = [], chosen = selectedClasses();
  pen.font = `600 11px ${style.fontFamily}`;
  Object.assign(pen, { textAlign: "center", textBaseline: "middle", lineWidth: 3.5, lineJoin: "round" });
  const order = [...map.names.keys()].filter((index) => map.places[index] && (!chosen.size || chosen.has(index)))
    .sort((left, right) => map.places[right].size - map.places[left].size);
  for (const index of order) {
    const [x, y] = screen(map.places[index].x, map.places[index].y), name = shortened(map.names[index]), half = pen.measureText(name).width / 2 + 4;
    if (x - half < 0 || y < 8 || x + half > canvas.clientWidth || y > canvas.clientHeight - 8) continue;
    if (taken.some(([otherX, otherY, otherHalf]) => Math.abs(x - otherX) < half + otherHalf && Math.abs(y - otherY) < 16)) continue;
    taken.push([x, y, half]);
    pen.strokeStyle = style.getPropertyValue("--paper");
    pen.strokeText(name, x, y);
    pen.fillStyle = style.getPropertyValue("--ink");
    pen.fillText(name, x, y);
    if (taken.length >= NAMES * view.scale) break;
  }
}

const shortened = (name) => (name.length > 24 ? `${name.slice(0, 23)}…` : name);

function circle(node, radius, colour) {
  pen.beginPath();
  pen.arc(...screen(map.xs[node], map.ys[node]), radius, 0, 2 * Math.PI);
  Object.assign(pen, { strokeStyle: colour, lineWidth: 2 });
  pen.stroke();
}

function drawLasso(style) {
  pen.beginPath();
  gesture.points.forEach(([x, y], index) => pen[index ? "lineTo" : "moveTo"](x, y));
  pen.closePath();
  Object.assign(pen, { strokeStyle: style.getPropertyValue("--blue"), lineWidth: 2, fillStyle: style.getPropertyValue("--lasso") });
  pen.fill();
  pen.stroke();
}

const nodeOf = (row) => ({ node: map.keys[row], label: map.labels[row] });

function selectRows(rows) {
  select(rows.map(nodeOf));
  show(status, `Selected ${counted(rows.length, "node")}: they are listed under “Find and select nodes”.`);
}

function near(event) {
  const [x, y] = place(event.offsetX, event.offsetY);
  return map.grid.nearest(x, y, NEAR / view.scale / (canvas.clientWidth - 2 * MARGIN), NEAR / view.scale / (canvas.clientHeight - 2 * MARGIN), shownIn(selectedClasses()));
}

function showTip(event) {
  tip.hidden = hover == null;
  canvas.style.cursor = lassoButton.getAttribute("aria-pressed") === "true" ? "crosshair" : hover == null ? "grab" : "pointer";
  if (hover == null) return;
  const known = Number.isNaN(map.known[hover]) ? null : map.known[hover];
  const label = map.labels[hover] == null ? "" : `; label ${map.labels[hover]}`;
  tip.replaceChildren(element("strong", {}, String(map.keys[hover])), ` ${map.names[map.classes[hover]] ?? ""}${label}`,
    element("span", { class: "soft" }, confidence({ confidence: map.confidences[hover], probability: map.probabilities[hover], known })));
  tip.style.left = `${Math.min(event.offsetX + 14, canvas.clientWidth - tip.offsetWidth)}px`;
  tip.style.top = `${canvas.offsetTop + Math.min(event.offsetY + 14, canvas.clientHeight - tip.offsetHeight)}px`;
}

canvas.addEventListener("pointerdown", (event) => {
  if (event.button) return;
  canvas.setPointerCapture(event.pointerId);
  const isLasso = lassoButton.getAttribute("aria-pressed") === "true" || event.shiftKey;
  gesture = { start: [event.offsetX, event.offsetY], view, isMoved: false, ...(isLasso ? { points: [[event.offsetX, event.offsetY]] } : {}) };
});
canvas.addEventListener("pointermove", (event) => {
  if (!map) return;
  if (!gesture) {
    hover = near(event);
    showTip(event);
    return draw();
  }
  const dx = event.offsetX - gesture.start[0], dy = event.offsetY - gesture.start[1];
  gesture.isMoved ||= Math.hypot(dx, dy) > 4;
  if (gesture.points) gesture.points.push([event.offsetX, event.offsetY]);
  else if (gesture.isMoved && view.scale > 1)
    return move({ ...gesture.view, x: gesture.view.x + dx / (canvas.clientWidth - 2 * MARGIN), y: gesture.view.y + dy / (canvas.clientHeight - 2 * MARGIN) });
  draw();
});
canvas.addEventListener("pointerup", (event) => {
  const { points, isMoved } = gesture ?? {};
  gesture = null;
  if (!map) return;
  if (points && isMoved) selectRows(shownNodes().filter((row) => isInside(points, ...screen(map.xs[row], map.ys[row]))));
  else if (!isMoved) choose(near(event));
  draw();
});
canvas.addEventListener("pointercancel", () => { gesture = null; });
canvas.addEventListener("pointerleave", () => { hover = null; tip.hidden = true; draw(); });
canvas.addEventListener("dblclick", (event) => zoom(ZOOM * ZOOM, event.offsetX, event.offsetY));
// Without Ctrl the wheel scrolls the page, unless the map has the focus.
canvas.addEventListener("wheel", (event) => {
  if (!event.ctrlKey && document.activeElement !== canvas) return;
  event.preventDefault();
  zoom(event.deltaY < 0 ? 1.25 : 0.8, event.offsetX, event.offsetY);
}, { passive: false });

const choose = (row) => update({ node: row == null ? null : String(map.keys[row]) });

function step(by) {
  const rows = shownNodes(), index = rows.indexOf(nodeRow());
  if (rows.length) choose(rows.at(index < 0 ? 0 : (index + by) % rows.length));
}

const whole = () => move({ scale: 1, x: 0, y: 0 });
const pan = (dx, dy) => () => move({ ...view, x: view.x + dx / canvas.clientWidth, y: view.y + dy / canvas.clientHeight });
const KEYS = { "+": () => zoom(ZOOM), "-": () => zoom(1 / ZOOM), 0: whole, n: () => step(1), p: () => step(-1),
  ArrowLeft: pan(STEP, 0), ArrowRight: pan(-STEP, 0), ArrowUp: pan(0, STEP), ArrowDown: pan(0, -STEP) };

canvas.addEventListener("keydown", (event) => {
  if (!KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  KEYS[event.key]();
});
for (const [id, work] of Object.entries({ "map-in": KEYS["+"], "map-out": KEYS["-"], "map-whole": whole, "map-before": KEYS.p, "map-after": KEYS.n }))
  byId(id).addEventListener("click", work);
lassoButton.addEventListener("click", () => lassoButton.setAttribute("aria-pressed", String(lassoButton.getAttribute("aria-pressed") !== "true")));
byId("map-view").addEventListener("click", () => selectRows(shownNodes().filter((row) => {
  const [x, y] = screen(map.xs[row], map.ys[row]);
  return x >= 0 && y >= 0 && x <= canvas.clientWidth && y <= canvas.clientHeight;
})));
byId("map-all").addEventListener("click", (event) => {
  count = Math.min(MOST, current().summary.nodes);
  busy(event.currentTarget, byId("map-note"), showMap, "Drawing all nodes");
});
new ResizeObserver(redraw).observe(canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

watch(["summary"], () => load("map-status", showMap));
watch(["className"], () => { if (map) { describe(); redraw(); } });
watch(["node", "selection"], () => { if (map) draw(); });

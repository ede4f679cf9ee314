// A map of nodes: similar nodes are close together.

import { button, byId, element, show, withErrors } from "./elements.js";
import { confidence, counted, number } from "./format.js";
import { query, request } from "./request.js";

const HIGH_CONFIDENCE = 0.9, DOT = 2.4, SELECTED_DOT = 3.8, MARGIN = 12, NEAR = 24;

export class NodeMap {
  constructor() {
    this.canvas = byId("map-canvas");
    this.nodes = [];
    this.colours = new Map();
    this.selectedClass = this.node = this.useAsExample = null;
    this.canvas.addEventListener("click", (event) => this.click(event));
    byId("map-before").addEventListener("click", () => this.step(-1));
    byId("map-after").addEventListener("click", () => this.step(1));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  show(version, nodes, colours) {
    [this.version, this.nodes, this.colours] = [version, nodes, colours];
    byId("map-steps").hidden = this.canvas.hidden = false;
    this.select(this.selectedClass);
  }

  select(name) {
    this.selectedClass = name;
    this.choose(null);
    if (!this.nodes.length) return;
    const text = name == null
      ? `${counted(this.nodes.length, "node")}, coloured by predicted class. Select a class to highlight it.`
      : `${number(this.shown().length)} of ${counted(this.nodes.length, "node")} are predicted ${name}; rings have a confidence below 90 %.`;
    show(byId("map-status"), text);
    this.canvas.setAttribute("aria-label", `Map: ${text}`);
  }

  shown() {
    return this.selectedClass == null ? this.nodes : this.nodes.filter(({ prediction }) => prediction === this.selectedClass);
  }

  step(by) {
    const shown = this.shown();
    const index = this.node ? shown.indexOf(this.node) + by : 0;
    this.choose(shown.at(index % shown.length) ?? null);
  }

  click(event) {
    const distance = (node) => {
      const [x, y] = this.place(node);
      return Math.hypot(x - event.offsetX, y - event.offsetY);
    };
    const near = this.shown().filter((node) => distance(node) < NEAR);
    this.choose(near.sort((left, right) => distance(left) - distance(right))[0] ?? null);
  }

  choose(node) {
    this.node = node;
    this.draw();
    byId("map-node").replaceChildren();
    if (node) withErrors(byId("map-status"), () => this.describe(node));
  }

  async describe(node) {
    const { nodes: [content] } = await request(`v1/nodes?${query({ key: node.node, version: this.version })}`);
    if (this.node !== node) return;
    const add = content.label == null && this.useAsExample
      ? button("Use as an example", () => this.useAsExample(content)) : null;
    const label = content.label == null ? "" : `; label ${content.label}`;
    byId("map-node").replaceChildren(
      element("p", {}, element("strong", {}, String(node.node)), ` ${content.text ?? ""}`),
      element("p", { class: "line" },
        element("span", { class: "soft" }, `predicted ${node.prediction}, ${confidence(node)}${label}`), add));
  }

  place({ x, y }) {
    const across = this.canvas.clientWidth - 2 * MARGIN, up = this.canvas.clientHeight - 2 * MARGIN;
    return [MARGIN + across * x, MARGIN + up * (1 - y)];
  }

  draw() {
    const ratio = devicePixelRatio, pen = this.canvas.getContext("2d");
    this.canvas.width = ratio * this.canvas.clientWidth;
    this.canvas.height = ratio * this.canvas.clientHeight;
    pen.scale(ratio, ratio);
    const style = getComputedStyle(this.canvas);
    const colour = (name, other) => style.getPropertyValue(this.colours.has(name) ? `--c${this.colours.get(name)}` : other);
    const selected = this.selectedClass;
    for (const node of this.nodes) {
      if (node.prediction === selected) continue;
      pen.globalAlpha = selected == null ? 0.85 : 0.55;
      this.dot(pen, node, DOT, selected == null ? colour(node.prediction, "--c-none") : style.getPropertyValue("--faint"));
    }
    pen.globalAlpha = 1;
    if (selected != null)
      for (const node of this.shown())
        this.dot(pen, node, SELECTED_DOT, colour(selected, "--ink"), node.confidence < HIGH_CONFIDENCE);
    if (this.node) this.dot(pen, this.node, 9, style.getPropertyValue("--ink"), true);
  }

  dot(pen, node, radius, colour, ring = false) {
    pen.beginPath();
    pen.arc(...this.place(node), radius, 0, 2 * Math.PI);
    pen.fillStyle = pen.strokeStyle = colour;
    pen.lineWidth = 1.8;
    if (ring) pen.stroke();
    else pen.fill();
  }
}

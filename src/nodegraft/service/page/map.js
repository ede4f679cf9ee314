// A map of nodes: those that are like each other lie close together.

import { button, byId, element, guarded, tell } from "./elements.js";
import { ask, query } from "./service.js";
import { counted, number, numbers } from "./words.js";

const SURE = 0.9, DOT = 2.4, LIT = 3.8, MARGIN = 12, NEAR = 24;

export class NodeMap {
  constructor() {
    this.canvas = byId("map-canvas");
    this.nodes = [];
    this.colours = new Map();
    this.lit = this.chosen = this.useAsExample = null;
    this.canvas.addEventListener("click", (event) => this.click(event));
    byId("map-before").addEventListener("click", () => this.step(-1));
    byId("map-after").addEventListener("click", () => this.step(1));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  show(version, nodes, colours) {
    [this.version, this.nodes, this.colours] = [version, nodes, colours];
    byId("map-steps").hidden = this.canvas.hidden = false;
    this.light(this.lit);
  }

  light(name) {
    this.lit = name;
    this.choose(null);
    if (!this.nodes.length) return;
    const told = name == null
      ? `${counted(this.nodes.length, "node")}, by predicted class. Choose a class to light it up.`
      : `${counted(this.shown().length, "node")} of ${number(this.nodes.length)} shown are predicted ${name}; rings have a confidence below 90 %.`;
    tell(byId("map-told"), told);
    this.canvas.setAttribute("aria-label", `Map: ${told}`);
  }

  shown() {
    return this.lit == null ? this.nodes : this.nodes.filter((one) => one.class === this.lit);
  }

  step(by) {
    const shown = this.shown();
    const place = this.chosen ? shown.indexOf(this.chosen) + by : 0;
    this.choose(shown.at(place % shown.length) ?? null);
  }

  click(event) {
    const distance = (one) => {
      const [x, y] = this.place(one);
      return Math.hypot(x - event.offsetX, y - event.offsetY);
    };
    const near = this.shown().filter((one) => distance(one) < NEAR);
    this.choose(near.sort((one, other) => distance(one) - distance(other))[0] ?? null);
  }

  choose(one) {
    this.chosen = one;
    this.draw();
    byId("map-node").replaceChildren();
    if (one) guarded(byId("map-told"), () => this.describe(one));
  }

  async describe(one) {
    const { nodes: [about] } = await ask(`v1/nodes?${query({ key: one.node, version: this.version })}`);
    if (this.chosen !== one) return;
    const add = about.label == null && this.useAsExample
      ? button("Use as an example", () => this.useAsExample(about)) : null;
    byId("map-node").replaceChildren(element("p", {},
      element("strong", {}, String(one.node)), ` ${about.text ?? ""}`),
      element("p", { class: "line" }, element("span", { class: "soft" },
        `predicted ${one.class}, ${numbers(one)}${about.label == null ? "" : `; labelled ${about.label}`}`), add));
  }

  place(one) {
    const across = this.canvas.clientWidth - 2 * MARGIN, up = this.canvas.clientHeight - 2 * MARGIN;
    return [MARGIN + across * one.x, MARGIN + up * (1 - one.y)];
  }

  draw() {
    const ratio = devicePixelRatio, pen = this.canvas.getContext("2d");
    this.canvas.width = ratio * this.canvas.clientWidth;
    this.canvas.height = ratio * this.canvas.clientHeight;
    pen.scale(ratio, ratio);
    const style = getComputedStyle(this.canvas);
    const colour = (name, other) => style.getPropertyValue(this.colours.has(name) ? `--c${this.colours.get(name)}` : other);
    for (const one of this.nodes) {
      if (one.class === this.lit) continue;
      pen.globalAlpha = this.lit == null ? 0.85 : 0.55;
      this.dot(pen, one, DOT, this.lit == null ? colour(one.class, "--c-none") : style.getPropertyValue("--faint"));
    }
    pen.globalAlpha = 1;
    if (this.lit != null) for (const one of this.shown()) this.dot(pen, one, LIT, colour(this.lit, "--ink"), one.confidence < SURE);
    if (this.chosen) this.dot(pen, this.chosen, 9, style.getPropertyValue("--ink"), true);
  }

  dot(pen, one, radius, colour, ring = false) {
    pen.beginPath();
    pen.arc(...this.place(one), radius, 0, 2 * Math.PI);
    pen.fillStyle = pen.strokeStyle = colour;
    pen.lineWidth = 1.8;
    if (ring) pen.stroke();
    else pen.fill();
  }
}

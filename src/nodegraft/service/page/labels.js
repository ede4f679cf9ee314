// Suggested nodes, labelled with one key press each.

import { busy, button, byId, element, nodeLine, show } from "./elements.js";
import { confidence, counted } from "./format.js";
import { newKey, query, request } from "./request.js";

const COUNT = 30, DIGITS = 9;

export class Labelling {
  constructor(page) {
    this.page = page;
    this.queue = [];
    this.labels = [];
    byId("labelling").addEventListener("keydown", (event) => this.press(event));
    byId("add-labels").addEventListener("click", () => this.submit());
  }

  // Labels that the user has chosen stay until they are added.
  async load(classes) {
    if (this.labels.length) return;
    const { suggestions } = await request(`v1/suggest?${query({ count: COUNT, version: this.page.shown })}`);
    if (suggestions.length) await this.describe(suggestions.map(({ node }) => node), classes);
    this.show();
  }

  async describe(keys, classes) {
    const version = ["version", this.page.shown];
    const [{ nodes }, { predictions }] = await Promise.all([
      request(`v1/nodes?${query([...keys.map((key) => ["key", key]), version])}`),
      request(`v1/predict?${query([version])}`, { method: "POST", body: { keys, top: DIGITS } }),
    ]);
    // A few classes keep their digits; of many classes, the most probable ones are offered.
    const offered = ({ top }) => (classes.length > DIGITS ? top.map((best) => best.class) : classes);
    this.queue = predictions
      .map((prediction, index) => ({ ...prediction, ...nodes[index], offered: offered(prediction) }))
      .filter(({ label, prediction }) => label == null && prediction != null);
  }

  show() {
    const [node] = this.queue, place = byId("suggestion");
    if (!node) {
      const text = this.labels.length ? "No more suggestions: add the labels you chose." : "There is no node to label now.";
      place.replaceChildren(element("p", {}, text));
    } else {
      const offers = node.offered.map((name, index) => this.offer(String(index + 1), name, () => this.choose(name),
        name === node.prediction ? "offer likely" : "offer"));
      place.replaceChildren(
        element("p", {}, element("strong", {}, String(node.node)), ` ${node.text ?? ""}`),
        element("p", { class: "soft" }, `predicted ${node.prediction}, ${confidence(node)}`),
        element("div", { class: "line" }, ...offers, this.offer("s", "skip", () => this.skip(), "offer")));
    }
    this.showLabels();
  }

  offer(key, text, click, style) {
    const offer = button("", click, { class: style });
    offer.append(element("kbd", {}, key), ` ${text}`);
    return offer;
  }

  showLabels() {
    byId("chosen").replaceChildren(...this.labels.map((label) =>
      nodeLine(label.node.node, `→ ${label.name}`, button("Remove", () => {
        this.labels = this.labels.filter((other) => other !== label);
        this.queue.unshift(label.node);
        this.key = newKey();
        this.show();
        byId("suggestion").focus();
      }, { "aria-label": `Remove the label of ${label.node.node}` }))));
    byId("add-labels").hidden = !this.labels.length;
    byId("add-labels").textContent = `Add ${counted(this.labels.length, "label")}`;
  }

  choose(name) {
    const node = this.queue.shift();
    this.labels.push({ node, name });
    this.key = newKey();
    this.next(`Labelled ${node.node} as ${name}.`);
  }

  skip() {
    this.next(`Skipped ${this.queue.shift().node}.`);
  }

  next(text) {
    show(byId("labelling-status"), text);
    this.show();
    byId("suggestion").focus();
  }

  press(event) {
    const [node] = this.queue;
    if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
    const name = node.offered[Number(event.key) - 1];
    if (event.key === "s") this.skip();
    else if (name != null) this.choose(name);
    else return;
    event.preventDefault();
  }

  submit() {
    const status = byId("labelling-status"), labels = Object.create(null);
    for (const { node, name } of this.labels) (labels[name] ??= []).push(node.node);
    return busy(byId("add-labels"), status, async () => {
      const changed = await this.page.change(`v1/labels?${query({ promote: this.page.promotesAtOnce() })}`,
        { method: "POST", body: { labels, note: "suggested nodes" }, key: this.key });
      this.labels = [];
      await this.page.refresh(status, this.page.describeChange(changed));
    });
  }
}

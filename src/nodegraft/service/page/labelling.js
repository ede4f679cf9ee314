// Nodes whose label would tell most, labelled with one key each.

import { busy, button, byId, element, nodeLine, tell } from "./elements.js";
import { ask, newKey, query } from "./service.js";
import { counted, numbers } from "./words.js";

const ASKED = 30, DIGITS = 9;

export class Labelling {
  constructor(page) {
    this.page = page;
    this.waiting = [];
    this.chosen = [];
    byId("labelling").addEventListener("keydown", (event) => this.press(event));
    byId("label-all").addEventListener("click", () => this.teach());
  }

  // Whoever has begun to label goes on where they are.
  async load(classes) {
    if (this.chosen.length) return;
    const { suggestions } = await ask(`v1/suggest?${query({ count: ASKED, version: this.page.shown })}`);
    if (suggestions.length) await this.describe(suggestions.map((one) => one.node), classes);
    this.show();
  }

  async describe(keys, classes) {
    const version = ["version", this.page.shown];
    const [read, predicted] = await Promise.all([
      ask(`v1/nodes?${query([...keys.map((key) => ["key", key]), version])}`),
      ask(`v1/predict?${query([version])}`, { method: "POST", body: { keys, top: DIGITS } }),
    ]);
    // Few classes keep their digits; of many the likeliest of each node are offered.
    const offered = (one) => (classes.length > DIGITS ? one.top.map((likely) => likely.class) : classes);
    this.waiting = predicted.answers
      .map((one, place) => ({ ...one, ...read.nodes[place], offered: offered(one) }))
      .filter((one) => one.label == null && one.prediction != null);
  }

  show() {
    const one = this.waiting[0], place = byId("suggestion");
    if (!one) {
      const what = this.chosen.length ? "All are looked at: teach the labels you chose." : "There is nothing to label now.";
      place.replaceChildren(element("p", {}, what));
    } else {
      const offers = one.offered.map((name) =>
        button("", () => this.choose(name), { class: name === one.class ? "offer likely" : "offer" }));
      offers.forEach((offer, digit) => offer.append(element("kbd", {}, String(digit + 1)), ` ${one.offered[digit]}`));
      const skip = button("", () => this.skip(), { class: "offer" });
      skip.append(element("kbd", {}, "s"), " skip");
      place.replaceChildren(
        element("p", {}, element("strong", {}, String(one.node)), ` ${one.text ?? ""}`),
        element("p", { class: "soft" }, `predicted ${one.prediction}, ${numbers(one)}`),
        element("div", { class: "line" }, ...offers, skip));
    }
    this.showChosen();
  }

  showChosen() {
    byId("chosen").replaceChildren(...this.chosen.map((label) =>
      nodeLine(label.one.node, `→ ${label.name}`, button("Take back", () => {
        this.chosen = this.chosen.filter((other) => other !== label);
        this.waiting.unshift(label.one);
        this.key = newKey();
        this.show();
        byId("suggestion").focus();
      }, { "aria-label": `Take back ${label.one.node}` }))));
    byId("label-all").hidden = !this.chosen.length;
    byId("label-all").textContent = `Teach ${counted(this.chosen.length, "label")}`;
  }

  choose(name) {
    this.chosen.push({ one: this.waiting.shift(), name });
    this.key = newKey();
    this.next(`${this.chosen.at(-1).one.node} is ${name}.`);
  }

  skip() {
    this.next(`${this.waiting.shift().node} is skipped.`);
  }

  next(sentence) {
    tell(byId("labelling-told"), sentence);
    this.show();
    byId("suggestion").focus();
  }

  press(event) {
    const one = this.waiting[0];
    if (!one || event.ctrlKey || event.metaKey || event.altKey) return;
    const name = one.offered[Number(event.key) - 1];
    if (event.key === "s") this.skip();
    else if (name != null) this.choose(name);
    else return;
    event.preventDefault();
  }

  teach() {
    const told = byId("labelling-told"), labels = Object.create(null);
    for (const { one, name } of this.chosen) (labels[name] ??= []).push(one.node);
    return busy(byId("label-all"), told, async () => {
      const made = await this.page.change(`v1/labels?${query({ promote: this.page.atOnce() })}`,
        { method: "POST", body: { labels, note: "suggested nodes" }, key: this.key });
      this.chosen = [];
      await this.page.changed(told, this.page.made(made));
    });
  }
}

// A new class: found examples, a look at what would change, and only then a yes.

import { busy, button, byId, element, guarded, nodeLine, tell } from "./elements.js";
import { ask, newKey, query } from "./service.js";
import { counted, likely, number, percent } from "./words.js";

const PAUSE = 250, FOUND = 20;

export class Teaching {
  constructor(page) {
    this.page = page;
    this.examples = new Map();
    byId("words").addEventListener("input", () => this.searchSoon());
    byId("words").addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.search();
    });
    byId("class-name").addEventListener("input", () => this.rename());
    byId("teaching-form").addEventListener("submit", (event) => this.look(event));
    byId("yes-form").addEventListener("submit", (event) => this.teach(event));
  }

  searchSoon() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.search(), PAUSE);
  }

  search() {
    clearTimeout(this.waiting);
    guarded(byId("found-told"), () => this.find(byId("words").value.trim()));
  }

  async find(words) {
    const nodes = words ? (await ask(`v1/nodes?${query({ words, limit: FOUND, version: this.page.shown })}`)).nodes : [];
    if (words !== byId("words").value.trim()) return;
    const more = nodes.length === FOUND ? "The first " : "";
    tell(byId("found-told"), words ? `${more}${counted(nodes.length, "node")} found.` : "");
    byId("found").replaceChildren(...nodes.map((one) => this.found(one)));
    this.markFound();
  }

  found(one) {
    const offer = one.label == null
      ? button("", () => this.toggle(one), { "aria-label": `Example ${one.node}`, "data-key": one.node })
      : element("span", { class: "soft" }, `is ${one.label}`);
    return nodeLine(one.node, one.text, offer);
  }

  markFound() {
    for (const offer of byId("found").querySelectorAll("button")) {
      const added = this.examples.has(offer.dataset.key);
      offer.setAttribute("aria-pressed", String(added));
      offer.textContent = added ? "Added" : "Add";
    }
  }

  add(one) {
    this.examples.set(String(one.node), one);
    this.showExamples();
  }

  remove(one) {
    this.examples.delete(String(one.node));
    this.showExamples();
  }

  toggle(one) {
    if (this.examples.has(String(one.node))) this.remove(one);
    else this.add(one);
  }

  showExamples() {
    this.unlook();
    this.markFound();
    byId("examples-told").hidden = this.examples.size > 0;
    byId("examples").replaceChildren(...[...this.examples.values()].map((one) =>
      nodeLine(one.node, one.text, button("Remove", () => {
        this.remove(one);
        byId("words").focus();
      }, { "aria-label": `Remove ${one.node}` }))));
  }

  // Whoever changes something looks again before saying yes.
  unlook() {
    byId("preview").hidden = true;
    tell(byId("teaching-told"), "");
  }

  rename() {
    byId("force-name-part").hidden = true;
    byId("force-name").checked = false;
    this.unlook();
  }

  lesson() {
    return {
      classes: { [byId("class-name").value.trim()]: [...this.examples.values()].map((one) => one.node) },
      force_name: byId("force-name").checked,
    };
  }

  // A name that resembles another one can be used, but not by accident.
  async sent(work) {
    try {
      return await work();
    } catch (error) {
      if (error.code === "similar_name") {
        byId("force-name-part").hidden = false;
        error.message += " Change the name, or tick “Use this name anyway” below it and press the button again.";
      }
      throw error;
    }
  }

  look(event) {
    event.preventDefault();
    const told = byId("teaching-told");
    if (!this.examples.size) return tell(told, "Choose some examples first: search for words of their text.", true);
    return busy(byId("look"), told, async () => {
      const seen = await this.sent(() => ask("v1/classes:preview", { method: "POST", body: this.lesson() }));
      const about = await this.texts(seen.examples.map((one) => one.node), seen.model_version);
      this.key = newKey();
      byId("override-part").hidden = !seen.objections.length;
      byId("override").required = seen.objections.length > 0;
      byId("preview-seen").replaceChildren(...sentences(seen), flips(seen), examples(seen, about));
      byId("preview").hidden = false;
      tell(told, "Nothing was changed yet.");
      byId("preview-title").focus();
    });
  }

  async texts(keys, version) {
    if (!keys.length) return [];
    return (await ask(`v1/nodes?${query([...keys.map((key) => ["key", key]), ["version", version]])}`)).nodes;
  }

  teach(event) {
    event.preventDefault();
    const told = byId("teaching-told"), [name] = Object.keys(this.lesson().classes);
    const override = byId("override-part").hidden ? "" : byId("override").value;
    const body = { ...this.lesson(), note: byId("note").value, override };
    // A version that something speaks against is looked at before it answers.
    const promote = this.page.atOnce() && !override;
    return busy(event.submitter, told, async () => {
      const made = await this.sent(() => this.page.change(`v1/classes?${query({ promote })}`, { method: "POST", body, key: this.key }));
      this.forget();
      await this.page.changed(told, this.page.made(made), name);
    });
  }

  forget() {
    this.examples.clear();
    this.showExamples();
    this.rename();
    for (const id of ["class-name", "words", "note", "override"]) byId(id).value = "";
    byId("found").replaceChildren();
    tell(byId("found-told"), "");
  }
}

function sentences(seen) {
  const flipped = seen.flips.reduce((sum, one) => sum + one.nodes, 0);
  const right = seen.accuracy_before == null || seen.accuracy_after == null ? ""
    : ` Held-out nodes answered rightly: ${percent(seen.accuracy_before)} before, ${percent(seen.accuracy_after)} after.`;
  const lines = [element("p", {}, `${number(flipped)} of ${counted(seen.asked, "node")} would be answered differently.${right}`)];
  return lines.concat(
    seen.objections.map((one) => element("p", { class: "refused" }, one)),
    seen.warnings.map((one) => element("p", { class: "warning" }, `Warning: ${one}`)));
}

export function flips(seen) {
  const rows = seen.flips.map((one) => element("tr", {},
    ...[one.before, one.after, number(one.nodes)].map((text) => element("td", {}, text))));
  const heads = ["from", "to", "nodes"].map((name) => element("th", { scope: "col" }, name));
  return element("div", { class: "scroll", role: "region", "aria-label": "Predictions that change", tabindex: "0" },
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)));
}

function examples(seen, about) {
  const lines = seen.examples.map((one, place) =>
    nodeLine(one.node, about[place]?.text, element("span", { class: "soft" }, `${one.before} → ${one.after}, confidence ${likely(one.confidence)}`)));
  return element("ul", { class: "nodes", "aria-label": "Some of them" }, ...lines);
}

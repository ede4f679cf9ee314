// Add a class: find examples, preview the change, then confirm.

import { busy, button, byId, element, nodeLine, show, table, withErrors } from "./elements.js";
import { accuracyChange, counted, likely, number } from "./format.js";
import { newKey, query, request } from "./request.js";

const PAUSE = 250, LIMIT = 20;

export class NewClass {
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
    byId("new-class-form").addEventListener("submit", (event) => this.preview(event));
    byId("confirm-form").addEventListener("submit", (event) => this.add(event));
  }

  searchSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.search(), PAUSE);
  }

  search() {
    clearTimeout(this.timer);
    withErrors(byId("found-status"), () => this.find(byId("words").value.trim()));
  }

  async find(words) {
    const nodes = words ? (await request(`v1/nodes?${query({ words, limit: LIMIT, version: this.page.shown })}`)).nodes : [];
    if (words !== byId("words").value.trim()) return;
    const first = nodes.length === LIMIT ? "The first " : "";
    show(byId("found-status"), words ? `${first}${counted(nodes.length, "node")} found.` : "");
    byId("found").replaceChildren(...nodes.map((node) => this.foundLine(node)));
    this.markFound();
  }

  foundLine(node) {
    const toggle = node.label == null
      ? button("", () => this.toggle(node), { "aria-label": `Example ${node.node}`, "data-key": node.node })
      : element("span", { class: "soft" }, `label ${node.label}`);
    return nodeLine(node.node, node.text, toggle);
  }

  markFound() {
    for (const toggle of byId("found").querySelectorAll("button")) {
      const isAdded = this.examples.has(toggle.dataset.key);
      toggle.setAttribute("aria-pressed", String(isAdded));
      toggle.textContent = isAdded ? "Added" : "Add";
    }
  }

  addExample(node) {
    this.examples.set(String(node.node), node);
    this.showExamples();
  }

  toggle(node) {
    if (this.examples.delete(String(node.node))) this.showExamples();
    else this.addExample(node);
  }

  showExamples() {
    this.hidePreview();
    this.markFound();
    byId("examples-hint").hidden = this.examples.size > 0;
    byId("examples").replaceChildren(...[...this.examples.values()].map((node) =>
      nodeLine(node.node, node.text, button("Remove", () => {
        this.toggle(node);
        byId("words").focus();
      }, { "aria-label": `Remove ${node.node}` }))));
  }

  // After any edit, the change is previewed again before it can be confirmed.
  hidePreview() {
    byId("preview").hidden = true;
    show(byId("new-class-status"), "");
  }

  rename() {
    byId("force-name-part").hidden = true;
    byId("force-name").checked = false;
    this.hidePreview();
  }

  body() {
    return {
      classes: { [byId("class-name").value.trim()]: [...this.examples.values()].map(({ node }) => node) },
      force_name: byId("force-name").checked,
    };
  }

  // A name that is similar to another one must be confirmed.
  async send(work) {
    try {
      return await work();
    } catch (error) {
      if (error.code === "similar_name") byId("force-name-part").hidden = false;
      throw error;
    }
  }

  preview(event) {
    event.preventDefault();
    const status = byId("new-class-status");
    if (!this.examples.size) return show(status, "Choose examples first: search for words in their text.", true);
    return busy(byId("preview-button"), status, async () => {
      const preview = await this.send(() => request("v1/classes:preview", { method: "POST", body: this.body() }));
      const texts = await this.texts(preview.examples.map(({ node }) => node), preview.model_version);
      this.key = newKey();
      byId("override-part").hidden = !preview.objections.length;
      byId("override").required = preview.objections.length > 0;
      byId("preview-content").replaceChildren(...summary(preview), changesTable(preview), exampleList(preview, texts));
      byId("preview").hidden = false;
      show(status, "Nothing was changed yet.");
      byId("preview-title").focus();
    });
  }

  async texts(keys, version) {
    if (!keys.length) return [];
    return (await request(`v1/nodes?${query([...keys.map((key) => ["key", key]), ["version", version]])}`)).nodes;
  }

  add(event) {
    event.preventDefault();
    const status = byId("new-class-status"), [name] = Object.keys(this.body().classes);
    const override = byId("override-part").hidden ? "" : byId("override").value;
    const body = { ...this.body(), note: byId("note").value, override };
    // A version that the quality gate objects to is reviewed before it is promoted.
    const promote = this.page.promotesAtOnce() && !override;
    return busy(event.submitter, status, async () => {
      const changed = await this.send(() => this.page.change(`v1/classes?${query({ promote })}`, { method: "POST", body, key: this.key }));
      this.clear();
      await this.page.refresh(status, this.page.describeChange(changed), name);
    });
  }

  clear() {
    this.examples.clear();
    this.showExamples();
    this.rename();
    for (const id of ["class-name", "words", "note", "override"]) byId(id).value = "";
    byId("found").replaceChildren();
    show(byId("found-status"), "");
  }
}

// How many predictions change, the accuracy, and what speaks against the change.
export function summary(comparison, suffix = "") {
  const accuracy = accuracyChange(comparison);
  const changed = `${number(comparison.predictions_changed)} of ${counted(comparison.predictions_compared, "prediction")} would change.`;
  return [element("p", {}, changed, accuracy ? ` ${accuracy[0].toUpperCase()}${accuracy.slice(1)}${suffix}.` : ""),
    ...comparison.objections.map((objection) => element("p", { class: "error" }, objection)),
    ...comparison.warnings.map((warning) => element("p", { class: "warning" }, `Warning: ${warning}`))];
}

export function changesTable({ changes }) {
  const rows = changes.map(({ before, after, nodes }) => element("tr", {},
    ...[before, after, number(nodes)].map((text) => element("td", {}, text))));
  return element("div", { class: "scroll", role: "region", "aria-label": "Predictions that change", tabindex: "0" },
    table(["from", "to", "nodes"], rows));
}

function exampleList({ examples }, texts) {
  const lines = examples.map(({ node, before, after, confidence }, index) => nodeLine(node, texts[index]?.text,
    element("span", { class: "soft" }, `${before} → ${after}, confidence ${likely(confidence)}`)));
  return element("ul", { class: "nodes", "aria-label": "Some nodes whose prediction changes" }, ...lines);
}

// A text field that offers names while the user types: prefix first, then the start of a word, then anywhere.

import { element } from "./elements.js";

const SHOWN = 8;

export function matches(names, text) {
  const wanted = text.trim().toLowerCase();
  const rank = (name) => {
    const lower = name.toLowerCase();
    if (lower === wanted) return 0;
    if (lower.startsWith(wanted)) return 1;
    return lower.includes(` ${wanted}`) ? 2 : lower.includes(wanted) ? 3 : null;
  };
  return names.map((name) => [rank(name), name]).filter(([place]) => place != null)
    .sort(([left], [right]) => left - right).map(([, name]) => name);
}

export class Combobox {
  // `names` returns what is offered; `choose` gets a name that was chosen; `isFree` allows other names.
  constructor(input, names, { choose = () => {}, change = () => {}, isFree = false, noun = "class" } = {}) {
    Object.assign(this, { input, names, choose, change, isFree, noun, active: -1 });
    this.list = element("ul", { id: `${input.id}-list`, class: "options", role: "listbox", "aria-label": "Classes", hidden: true });
    const attributes = { role: "combobox", autocomplete: "off", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": this.list.id };
    for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
    input.after(this.list);
    input.addEventListener("input", () => { this.show(); change(); });
    input.addEventListener("keydown", (event) => this.press(event));
    input.addEventListener("blur", () => this.hide());
  }

  show() {
    const text = this.input.value.trim(), found = text ? matches(this.names(), text).slice(0, SHOWN) : [];
    const isNew = this.isFree && text && !this.names().includes(text);
    this.offers = [...found.map((name) => [name, name]), ...(isNew ? [[text, `New ${this.noun} “${text}”`]] : [])];
    this.list.replaceChildren(...this.offers.map(([name, label], index) => element("li",
      { id: `${this.list.id}-${index}`, role: "option", "aria-selected": "false",
        mousedown: (event) => { event.preventDefault(); this.take(name); } }, label)));
    this.move(found.length || isNew ? 0 : -1);
    this.list.hidden = !this.offers.length;
    this.list.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-expanded", String(!this.list.hidden));
  }

  move(place) {
    this.active = place;
    [...this.list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === place)));
    if (place >= 0) this.input.setAttribute("aria-activedescendant", `${this.list.id}-${place}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  hide() {
    this.list.hidden = true;
    this.move(-1);
    this.input.setAttribute("aria-expanded", "false");
  }

  take(name) {
    this.input.value = name;
    this.hide();
    this.change();
    this.choose(name);
  }

  press(event) {
    const count = this.offers?.length ?? 0, isOpen = !this.list.hidden;
    if (event.key === "ArrowDown" && !isOpen) this.show();
    else if (!isOpen) return;
    else if (event.key === "ArrowDown") this.move((this.active + 1) % count);
    else if (event.key === "ArrowUp") this.move((this.active + count - 1) % count);
    else if (event.key === "Escape") this.hide();
    else if (event.key === "Enter" && this.active >= 0) this.take(this.offers[this.active][0]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

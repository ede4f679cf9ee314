// Elements of the page. What comes from the service is only ever text: strings become text nodes,
// so a node that is called like markup is shown as it is called.

export const byId = (id) => document.getElementById(id);

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== false && value != null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

export const button = (text, click, attributes = {}) =>
  element("button", { type: "button", click, ...attributes }, text);

// A list of words and elements with dots between, those that are null left out.
export const dotted = (...parts) =>
  element("span", { class: "soft" }, ...parts.filter((part) => part != null)
    .flatMap((part, place) => (place ? [" · ", part] : [part])));

// A node by its key and text, and what can be done with it.
export const nodeLine = (node, text, ...more) =>
  element("li", {}, element("span", {}, element("strong", {}, String(node)), text ? ` ${text}` : ""), ...more);

// What goes wrong is said in a sentence.
export async function guarded(told, work) {
  try {
    await work();
  } catch (error) {
    tell(told, error.message, true);
  }
}

// While work is done a button cannot be pressed.
export async function busy(pressed, told, work) {
  pressed.disabled = true;
  tell(told, "Working…");
  await guarded(told, work);
  pressed.disabled = false;
}

export function tell(place, sentence, refused = false) {
  place.classList.toggle("refused", refused);
  place.textContent = sentence;
}

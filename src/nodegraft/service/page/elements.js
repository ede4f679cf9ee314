// Elements of the page. Strings from the service become text nodes, never markup, whatever a node
// or class is called.

export const byId = (id) => document.getElementById(id);

export function element(tag, attributes = {}, ...children) {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") created.addEventListener(name, value);
    else if (value !== false && value != null) created.setAttribute(name, value === true ? "" : value);
  }
  created.append(...children.filter((child) => child != null));
  return created;
}

export const button = (text, click, attributes = {}) =>
  element("button", { type: "button", click, ...attributes }, text);

// Texts and elements with dots between them; null is left out.
export const dotted = (...parts) =>
  element("span", { class: "soft" }, ...parts.filter((part) => part != null)
    .flatMap((part, index) => (index ? [" · ", part] : [part])));

// A list item with key and text of a node, and its buttons.
export const nodeLine = (node, text, ...more) =>
  element("li", {}, element("span", {}, nodeLink(node), text ? ` ${text}` : ""), ...more);

export function table(headings, rows) {
  const heads = headings.map((name) => element("th", { scope: "col" }, name));
  return element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows));
}

export function show(status, text, isError = false) {
  status.classList.toggle("error", isError);
  status.textContent = text;
}

// A link that explains a node.
export const nodeLink = (key) => element("a", { href: `#${new URLSearchParams({ node: key })}` }, String(key));

// Say that work runs, with its seconds; return what ends that.
export function working(status, text) {
  const began = Date.now(), seconds = element("span", { "aria-hidden": "true" });
  const bar = element("progress", { "aria-label": text });
  show(status, "");
  status.append(bar, ` ${text}… `, seconds);
  const timer = setInterval(() => { seconds.textContent = `${Math.round((Date.now() - began) / 1000)} s`; }, 1000);
  return () => {
    clearInterval(timer);
    if (status.contains(bar)) show(status, "");
  };
}

// Disable a button while its work runs; show how long it takes, and its error.
export async function busy(pressed, status, work, text = "Working") {
  const end = working(status, text);
  if (pressed) pressed.disabled = true;
  try {
    await work();
    end();
  } catch (error) {
    end();
    show(status, error.message, true);
  }
  if (pressed) pressed.disabled = false;
}

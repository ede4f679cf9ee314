// Groups of nodes that look like a new class, as examples to start one from.

import { button, byId, element, nodeLine, show, working } from "./elements.js";
import { counted } from "./format.js";
import { about, isShown, load, readNodes } from "./loading.js";
import { request } from "./request.js";
import { current, mayChange, select, update, watch } from "./state.js";

const status = byId("groups-status");

async function showGroups() {
  const { shown } = current(), end = working(status, "Looking for groups");
  try {
    const { groups } = await request(`v1/suggest/classes?${about()}`);
    const nodes = await readNodes(groups.flatMap(({ examples }) => examples));
    if (!isShown(shown)) return;
    const byKey = new Map(nodes.map((node) => [String(node.node), node]));
    byId("group-list").replaceChildren(...groups.map((group) => card(group, group.examples.map((key) => byKey.get(String(key))))));
    end();
    show(status, groups.length ? `${counted(groups.length, "group")} of nodes that are similar to each other and to no class.`
      : "No group of nodes looks like a new class.");
  } finally {
    end();
  }
}

function card({ size, top_terms: terms }, nodes) {
  const title = terms.length ? terms.join(", ") : `like ${nodes[0].node}`;
  const start = button("Start a class", () => {
    update({ selection: new Map() });
    select(nodes);
    byId("target-class").value = "";
    byId("target-class").focus();
  }, { "aria-label": `Start a class from the group ${title}` });
  return element("li", { class: "card" }, element("h3", {}, title), element("p", { class: "soft" }, `about ${counted(size, "node")}`),
    element("ul", { class: "nodes" }, ...nodes.map((node) => nodeLine(node.node, node.text))), mayChange() ? start : "");
}

// Finding groups takes seconds, so it waits until the panel is in sight.
let isInSight = false;
const loadGroups = () => { if (isInSight && current().summary) load("groups-status", showGroups); };

new IntersectionObserver(([{ isIntersecting }]) => {
  if (!isIntersecting || isInSight) return;
  isInSight = true;
  loadGroups();
}).observe(byId("groups"));
watch(["summary"], loadGroups);

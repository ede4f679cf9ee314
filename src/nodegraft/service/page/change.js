// Every change of labels: a dialog shows what it would change before the user confirms it.

import { busy, byId, element, nodeLine, show, table, button } from "./elements.js";
import { accuracyChange, counted, likely, number } from "./format.js";
import { load, readNodes, refresh } from "./loading.js";
import { newKey, query, request } from "./request.js";
import { current, may } from "./state.js";

const dialog = byId("change"), status = byId("change-status");
const BRANCHES = 8;
let proposal = null;

// A promoted change would also promote the candidate below it, which nobody has reviewed.
const promotesAtOnce = () => may("admin") && byId("promote-at-once").checked && current().versions.candidate == null;

// Preview changes, one after the other; `done` is called after each one that was made.
export function propose(changes, done = () => {}) {
  const [change, ...rest] = changes;
  proposal = { change, rest, done, key: newKey() };
  byId("change-title").textContent = title(change);
  for (const id of ["change-note", "change-override"]) byId(id).value = "";
  byId("change-force").checked = false;
  byId("change-force-part").hidden = true;
  if (!dialog.open) dialog.showModal();
  byId("change-title").focus();
  return preview();
}

function title({ action, ...detail }) {
  const sizes = (classes) => Object.entries(classes).map(([name, nodes]) => `${name} (${counted(nodes.length, "node")})`).join(", ");
  switch (action) {
    case "add": return `Add ${sizes(detail.classes)}`;
    case "label": return `Label ${sizes(detail.more)}`;
    case "relabel": return `Move labels to ${sizes(detail.classes)}`;
    case "unlabel": return `Remove ${counted(detail.keys.length, "label")}`;
    case "rename": return `Rename ${detail.old} to ${detail.new}`;
    case "move": return Object.entries(detail.parents).map(([name, parent]) => (parent == null ? `Move ${name} to the top of the class tree` : `Move ${name} below ${parent}`)).join(", ");
    case "merge": return `Merge ${detail.names.join(" and ")} into ${detail.into}`;
    default: return `Remove ${detail.names.join(", ")}`;
  }
}

const body = (more) => ({ ...proposal.change, force_name: byId("change-force").checked, ...more });

function preview() {
  byId("change-content").replaceChildren();
  byId("change-form").hidden = true;
  const asked = proposal;
  return busy(null, status, async () => {
    const found = await send("v1/changes", { method: "POST", body: body({ dry_run: true }) });
    const texts = await readNodes(found.examples.map(({ node }) => node));
    if (asked !== proposal) return;
    byId("change-override-part").hidden = !found.objections.length;
    byId("change-override").required = found.objections.length > 0;
    byId("change-content").replaceChildren(...summary(found), changesTable(found), exampleList(found, texts));
    byId("change-form").hidden = false;
    byId("change-confirm").focus();
  }, "Comparing predictions before and after");
}

// A name that is similar to another one must be confirmed.
async function send(path, options) {
  try {
    return await request(path, options);
  } catch (error) {
    if (error.code === "similar_name") byId("change-force-part").hidden = false;
    if (error.code === "gate_refused") byId("change-override-part").hidden = !(byId("change-override").required = true);
    // Another user may have made a candidate meanwhile: show it before the change is added to it.
    if (error.code === "candidate_waits") await refresh();
    throw error;
  }
}

byId("change-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const override = byId("change-override-part").hidden ? "" : byId("change-override").value;
  // A version that the quality gate objects to is reviewed before it is promoted.
  const promote = promotesAtOnce() && !override, { rest, done, change, key } = proposal;
  const notes = { note: byId("change-note").value, override };
  busy(byId("change-confirm"), status, async () => {
    const changed = await send(`v1/changes?${query({ promote })}`, { method: "POST", body: body(notes), key });
    proposal = null;
    done(change);
    if (!rest.length) dialog.close();
    await refresh("candidate");
    notify(changed);
    if (rest.length) await propose(rest, done);
  }, "Making the version");
});

byId("change-force").addEventListener("change", () => preview());
byId("change-cancel").addEventListener("click", () => dialog.close());
dialog.addEventListener("close", () => { proposal = null; });

// Say which version was made, and offer to undo it.
export function notify({ model_version: version, promoted, warnings }, isUndone = false) {
  const { live, candidate } = current().versions;
  const outcome = promoted ? `Version ${version} was made and is live.`
    : candidate == null ? `Version ${version} was made. It equals version ${live}, which is live.`
      : `Version ${version} was made and waits for review. Version ${live} is live.`;
  show(byId("notice-text"), [outcome, ...warnings.map((warning) => `Warning: ${warning}`)].join(" "));
  byId("notice").hidden = false;
  byId("notice-undo").replaceChildren(button(isUndone ? "Redo" : "Undo", (event) => undo(version, event.currentTarget, !isUndone)));
  byId("notice").focus();
}

export function undo(version, pressed, isUndone = true, key = newKey()) {
  return busy(pressed, byId("notice-text"), async () => {
    byId("notice").hidden = false;
    const promote = promotesAtOnce();
    let changed;
    try {
      changed = await request(`v1/versions/${version}:undo?${query({ promote })}`, { method: "POST", key });
    } catch (error) {
      await load("live-status", refresh);
      throw error;
    }
    await refresh("candidate");
    notify(changed, isUndone);
  }, `Undoing version ${version}`);
}

byId("notice-close").addEventListener("click", () => { byId("notice").hidden = true; });

// How many predictions change, the accuracy, and what speaks against the change.
export function summary(comparison, suffix = "") {
  const accuracy = accuracyChange(comparison);
  const changed = `${number(comparison.predictions_changed)} of ${counted(comparison.predictions_compared, "prediction")} would change.`;
  return [element("p", {}, changed, accuracy ? ` ${accuracy[0].toUpperCase()}${accuracy.slice(1)}${suffix}.` : ""),
    ...insideBranches(comparison),
    ...comparison.objections.map((objection) => element("p", { class: "error" }, objection)),
    ...comparison.warnings.map((warning) => element("p", { class: "warning" }, `Warning: ${warning}`))];
}

// Changes between classes of one branch of the class tree, by its lowest name above both.
function insideBranches({ changes_inside: inside, predictions_changed: changed }) {
  const counts = Object.entries(inside).sort(([, left], [, right]) => right - left), total = counts.reduce((sum, [, nodes]) => sum + nodes, 0);
  if (!counts.length) return [];
  const named = counts.slice(0, BRANCHES).map(([name, nodes]) => `${name} ${number(nodes)}`).join(", ");
  const more = counts.length > BRANCHES ? ` and ${counted(counts.length - BRANCHES, "more ancestor")}` : "";
  return [element("p", {}, `Changes inside a branch of the class tree: ${named}${more}; other changes: ${number(changed - total)}.`)];
}

export function changesTable({ changes }) {
  if (!changes.length) return "";
  const rows = changes.map(({ before, after, nodes }) => element("tr", {},
    ...[before, after, number(nodes)].map((text) => element("td", {}, text))));
  return element("div", { class: "scroll changes-table", role: "region", "aria-label": "Predictions that change", tabindex: "0" },
    table(["from", "to", "nodes"], rows));
}

function exampleList({ examples }, texts) {
  const lines = examples.map(({ node, before, after, confidence }, index) => nodeLine(node, texts[index]?.text,
    element("span", { class: "soft" }, `${before} → ${after}, confidence ${likely(confidence)}`)));
  return element("ul", { class: "nodes", "aria-label": "Some nodes whose prediction changes" }, ...lines);
}

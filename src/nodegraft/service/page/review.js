// The candidate version that waits for review: what it changes, with buttons to promote and discard.

import { changesTable, summary } from "./change.js";
import { busy, byId, dotted, element, show } from "./elements.js";
import { age, counted } from "./format.js";
import { load, refresh } from "./loading.js";
import { newKey, query, request } from "./request.js";
import { current, may, watch } from "./state.js";

const status = byId("review-status");
let compared = null, discardKey = null;

// The message about the last candidate stays when none waits any more.
function showState({ versions: { live, candidate }, shown }) {
  byId("review").hidden = candidate == null && !status.textContent;
  byId("review-part").hidden = candidate == null;
  byId("review").classList.toggle("waiting", candidate != null);
  byId("review-title").textContent = candidate == null ? `Version ${live} is live` : `Version ${candidate} waits for review`;
  if (candidate == null) return;
  byId("show-live-name").textContent = `live version ${live}`;
  byId("show-candidate-name").textContent = `candidate version ${candidate}`;
  byId(shown === candidate ? "show-candidate" : "show-live").checked = true;
  byId("review-promote").hidden = !may("admin");
  byId("review-promote").textContent = `Promote version ${candidate}`;
  byId("review-discard").hidden = !may("teach");
  byId("review-discard").textContent = `Discard, back to version ${live}`;
  byId("review-scope").hidden = may("admin");
  load("review-status", () => showDiff(live, candidate));
}

async function showDiff(live, candidate) {
  const pair = `${live} ${candidate}`;
  if (compared === pair) return;
  [compared, discardKey] = [pair, newKey()];
  show(status, "");
  byId("review-content").replaceChildren(element("p", { class: "soft" }, element("progress", { "aria-label": "Comparing" }), ` Comparing it with live version ${live}…`));
  const diff = await request(`v1/diff?${query({ before: live, after: candidate })}`);
  if (compared === pair) byId("review-content").replaceChildren(...sentences(diff), history(diff), changes(diff));
}

// After an error the page is loaded again: another user may have made a version.
const act = (text, work) => (event) => busy(event.currentTarget, status, async () => {
  const { candidate } = current().versions;
  let outcome;
  try {
    outcome = await work(candidate);
  } catch (error) {
    await refresh();
    throw error;
  }
  // The focused button is gone after this, so the heading gets the focus.
  byId("review-title").focus();
  await refresh(null);
  show(status, outcome);
  showState(current());
}, text);

export async function promote(candidate) {
  await request(`v1/versions/${candidate}:promote?only_candidate=true`, { method: "POST" });
  return `Promoted version ${candidate}: all callers now get its predictions.`;
}

async function discard(candidate) {
  const { change } = await request(`v1/versions/${candidate}:discard`, { method: "POST", key: discardKey });
  return `Made version ${change.version} (${change.description}). To restore the changes, undo version ${change.version} in the history.`;
}

byId("review-promote").addEventListener("click", act("Promoting", promote));
byId("review-discard").addEventListener("click", act("Discarding", discard));
for (const name of ["live", "candidate"])
  byId(`show-${name}`).addEventListener("change", () => load("review-status", () => refresh(name)));

watch(["versions", "shown"], showState);

function sentences(diff) {
  const classes = [["Classes added", diff.classes_added], ["Classes removed", diff.classes_removed]]
    .filter(([, names]) => names.length)
    .map(([heading, names]) => element("p", {}, `${heading}: `, element("strong", {}, names.join(", "))));
  const [first, ...rest] = summary(diff, ` (${counted(diff.held_out, "node")})`);
  first.prepend(`Version ${diff.compared_with} is live. `);
  return [first, ...classes, ...rest];
}

function history(diff) {
  const items = diff.history.map(({ version, description, by, at, note }) =>
    element("li", {}, element("span", { class: "version" }, `${version} `), `${description} `,
      dotted(by, age(at, "ago"), note ? `“${note}”` : null)));
  return element("ul", { class: "changes", "aria-label": "Changes since the live version" }, ...items);
}

function changes(diff) {
  if (!diff.predictions_changed) return "";
  return element("details", {}, element("summary", {}, "Which predictions change"), changesTable(diff));
}

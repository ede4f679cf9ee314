// The candidate version that waits for review: what it changes, and what can be done with it.

import { busy, byId, dotted, element, tell } from "./elements.js";
import { ask, newKey, query } from "./service.js";
import { flips } from "./teaching.js";
import { age, counted, number, percent } from "./words.js";

export class Review {
  constructor(page) {
    this.page = page;
    byId("review-promote").addEventListener("click", (event) => this.promote(event.currentTarget));
    byId("review-discard").addEventListener("click", (event) => this.discard(event.currentTarget));
    for (const name of ["live", "candidate"])
      byId(`show-${name}`).addEventListener("change", () => page.choose(name));
  }

  // What was said about the last candidate stays to be read when none waits any more.
  showState() {
    const { champion, waiting } = this.page.versions, status = byId("review-told");
    byId("review").hidden = waiting == null && !status.textContent;
    byId("review-part").hidden = waiting == null;
    byId("review").classList.toggle("waiting", waiting != null);
    byId("review-title").textContent = waiting == null ? `Version ${champion} is live` : `Version ${waiting} waits for review`;
    if (waiting == null) return;
    if (this.key?.version !== waiting) this.key = { version: waiting, key: newKey() };
    byId("show-live-name").textContent = `live version ${champion}`;
    byId("show-candidate-name").textContent = `candidate version ${waiting}`;
    byId(this.page.shown === waiting ? "show-candidate" : "show-live").checked = true;
    byId("review-promote").hidden = !this.page.may("admin");
    byId("review-promote").textContent = `Promote version ${waiting}`;
    byId("review-discard").hidden = !this.page.may("teach");
    byId("review-discard").textContent = `Discard, back to version ${champion}`;
    byId("review-scope").hidden = this.page.may("admin");
  }

  async showDiff() {
    const { champion, waiting } = this.page.versions;
    if (waiting == null) return;
    const about = `${champion} ${waiting}`;
    if (this.about === about) return;
    byId("review-seen").replaceChildren(element("p", { class: "soft" }, `Comparing it with version ${champion}, which is live…`));
    const diff = await ask(`v1/diff?${query({ before: champion, after: waiting })}`);
    if (this.page.versions.waiting !== waiting || this.page.versions.champion !== champion) return;
    this.about = about;
    byId("review-seen").replaceChildren(...sentences(diff), changes(diff), predictions(diff));
  }

  // A refusal may mean that somebody else made another version: that is shown.
  async sent(path, options) {
    try {
      return await ask(path, options);
    } catch (error) {
      await this.page.show();
      throw error;
    }
  }

  promote(pressed) {
    const { waiting } = this.page.versions, status = byId("review-told");
    return busy(pressed, status, async () => {
      await this.sent(`v1/versions/${waiting}:promote?only_waiting=true`, { method: "POST" });
      await this.page.changed(status, () => "It was promoted: its predictions are the ones that callers get.");
    });
  }

  discard(pressed) {
    const { waiting } = this.page.versions, status = byId("review-told");
    return busy(pressed, status, async () => {
      const { session } = await this.sent(`v1/versions/${waiting}:discard`, { method: "POST", key: this.key.key });
      await this.page.changed(status, () => `Version ${session.id} was made (${session.what}). To take that back, undo version ${session.id} in the history.`);
    });
  }
}

function sentences(diff) {
  const accuracy = diff.accuracy_before == null || diff.accuracy_after == null ? ""
    : ` Held-out accuracy ${percent(diff.accuracy_before)} → ${percent(diff.accuracy_after)} (${counted(diff.held_out, "node")}).`;
  const line = `Version ${diff.compared_with} is live. ${number(diff.flipped)} of ${counted(diff.asked, "prediction")} would change.${accuracy}`;
  const classes = [["Classes added", diff.classes_added], ["Classes removed", diff.classes_removed]]
    .filter(([, names]) => names.length)
    .map(([what, names]) => element("p", {}, `${what}: `, element("strong", {}, names.join(", "))));
  return [element("p", {}, line), ...classes,
    ...diff.objections.map((objection) => element("p", { class: "refused" }, objection)),
    ...diff.warnings.map((warning) => element("p", { class: "warning" }, `Warning: ${warning}`))];
}

function changes(diff) {
  const items = diff.sessions.map((session) => {
    const when = element("time", { datetime: session.at, title: new Date(session.at).toLocaleString() }, `${age(session.at)} ago`);
    return element("li", {}, element("span", { class: "version" }, `${session.id} `), `${session.what} `,
      dotted(session.by, when, session.note ? `“${session.note}”` : null));
  });
  return element("ul", { class: "changes", "aria-label": "Changes since the live version" }, ...items);
}

function predictions(diff) {
  if (!diff.flipped) return "";
  return element("details", {}, element("summary", {}, "Which predictions change"), flips(diff));
}

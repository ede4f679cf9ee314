// The candidate version that waits for review: what it changes, with buttons to promote and discard.

import { busy, byId, dotted, element } from "./elements.js";
import { age, counted } from "./format.js";
import { changesTable, summary } from "./new_class.js";
import { newKey, query, request } from "./request.js";

export class Review {
  constructor(page) {
    this.page = page;
    byId("review-promote").addEventListener("click", (event) => this.promote(event.currentTarget));
    byId("review-discard").addEventListener("click", (event) => this.discard(event.currentTarget));
    for (const name of ["live", "candidate"])
      byId(`show-${name}`).addEventListener("change", () => page.choose(name));
  }

  // The message about the last candidate stays when none waits any more.
  showState() {
    const { live, candidate } = this.page.versions, status = byId("review-status");
    byId("review").hidden = candidate == null && !status.textContent;
    byId("review-part").hidden = candidate == null;
    byId("review").classList.toggle("waiting", candidate != null);
    byId("review-title").textContent = candidate == null ? `Version ${live} is live` : `Version ${candidate} waits for review`;
    if (candidate == null) return;
    if (this.key?.version !== candidate) this.key = { version: candidate, key: newKey() };
    byId("show-live-name").textContent = `live version ${live}`;
    byId("show-candidate-name").textContent = `candidate version ${candidate}`;
    byId(this.page.shown === candidate ? "show-candidate" : "show-live").checked = true;
    byId("review-promote").hidden = !this.page.may("admin");
    byId("review-promote").textContent = `Promote version ${candidate}`;
    byId("review-discard").hidden = !this.page.may("teach");
    byId("review-discard").textContent = `Discard, back to version ${live}`;
    byId("review-scope").hidden = this.page.may("admin");
  }

  async showDiff() {
    const { live, candidate } = this.page.versions;
    if (candidate == null) return;
    const compared = `${live} ${candidate}`;
    if (this.compared === compared) return;
    byId("review-content").replaceChildren(element("p", { class: "soft" }, `Comparing it with live version ${live}…`));
    const diff = await request(`v1/diff?${query({ before: live, after: candidate })}`);
    if (this.page.versions.candidate !== candidate || this.page.versions.live !== live) return;
    this.compared = compared;
    byId("review-content").replaceChildren(...sentences(diff), history(diff), changes(diff));
  }

  // After an error the page is loaded again: another user may have made a version.
  async send(path, options) {
    try {
      return await request(path, options);
    } catch (error) {
      await this.page.show();
      throw error;
    }
  }

  promote(pressed) {
    const { candidate } = this.page.versions, status = byId("review-status");
    return busy(pressed, status, async () => {
      await this.send(`v1/versions/${candidate}:promote?only_candidate=true`, { method: "POST" });
      await this.page.refresh(status, () => `Promoted version ${candidate}: all callers now get its predictions.`);
    });
  }

  discard(pressed) {
    const { candidate } = this.page.versions, status = byId("review-status");
    return busy(pressed, status, async () => {
      const { change } = await this.send(`v1/versions/${candidate}:discard`, { method: "POST", key: this.key.key });
      await this.page.refresh(status, () => `Made version ${change.version} (${change.description}). To restore the changes, undo version ${change.version} in the history.`);
    });
  }
}

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

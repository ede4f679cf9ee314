// The page: who uses it, which version it shows, and what is loaded again after a change.

import { classColours, showClasses, showSelected } from "./classes.js";
import { showDrift } from "./drift.js";
import { button, byId, element, show, withErrors } from "./elements.js";
import { showHistory } from "./history.js";
import { Labelling } from "./labels.js";
import { NodeMap } from "./map.js";
import { NewClass } from "./new_class.js";
import { query, request, token } from "./request.js";
import { Review } from "./review.js";

const SCOPES = ["read", "teach", "admin"], HISTORY = 50;

class Page {
  constructor() {
    this.selectedClass = null;
    this.newClass = new NewClass(this);
    this.labelling = new Labelling(this);
    this.map = new NodeMap();
    this.review = new Review(this);
    this.turn = 0;
    byId("sign-in-form").addEventListener("submit", (event) => this.signIn(event));
    byId("sign-out").addEventListener("click", () => this.signOut());
    document.addEventListener("visibilitychange", () => this.checkVersions());
  }

  may = (scope) => SCOPES.indexOf(this.caller.scope) >= SCOPES.indexOf(scope);

  // A promoted change would also promote the candidate below it, which nobody has reviewed.
  promotesAtOnce = () => this.may("admin") && byId("promote-at-once").checked && this.versions.candidate == null;

  describeChange = ({ model_version: version, promoted, warnings }) => () => {
    const { live, candidate } = this.versions;
    const outcome = promoted ? `Version ${version} was made and is live.`
      : candidate == null ? `Version ${version} was made. It equals version ${live}, which is live.`
        : `Version ${version} was made and waits for review. Version ${live} is live.`;
    return [outcome, ...warnings.map((warning) => `Warning: ${warning}`)].join(" ");
  };

  // Another user may have made a candidate meanwhile: show it before the change is added to it.
  async change(path, options) {
    try {
      return await request(path, options);
    } catch (error) {
      if (error.code === "candidate_waits") await this.show();
      throw error;
    }
  }

  async open() {
    try {
      this.caller = await request("v1/whoami");
    } catch (error) {
      return this.askForToken(error.status === 401 && !token.get() ? "" : error.message);
    }
    byId("sign-in").hidden = true;
    byId("panels").hidden = false;
    this.showCaller();
    await this.show();
  }

  showCaller() {
    const { name, scope, store } = this.caller;
    document.title = `${store} – nodegraft`;
    byId("store").textContent = store;
    byId("caller-name").textContent = `Signed in as ${name} (scope ${scope}).`;
    byId("caller").hidden = false;
    byId("sign-out").hidden = !token.get();
    byId("promote-at-once-part").hidden = !this.may("admin");
  }

  askForToken(message) {
    byId("panels").hidden = byId("caller").hidden = byId("review").hidden = true;
    byId("sign-in").hidden = false;
    show(byId("sign-in-status"), message, true);
    byId("token").focus();
  }

  async signIn(event) {
    event.preventDefault();
    token.set(byId("token").value.trim());
    byId("token").value = "";
    await this.open();
  }

  signOut() {
    token.remove();
    this.askForToken("");
  }

  // All panels show the same version: every request names its number.
  async show() {
    this.turn += 1;
    await this.withStatus("live-status", this.showVersions());
  }

  async showVersions() {
    const turn = this.turn, versions = await request("v1/versions?limit=1");
    if (turn !== this.turn) return;
    this.versions = versions;
    const { live, candidate } = versions;
    if (candidate == null) this.chosen = null;
    // Changes are made to the candidate, so users who may make them see it first.
    const chosen = this.chosen ?? (this.may("teach") ? "candidate" : "live");
    this.shown = candidate != null && chosen === "candidate" ? candidate : live;
    show(byId("live-status"), `Version ${live} is live${this.shown === live ? "" : `, version ${this.shown} is shown`}.`);
    byId("promote-at-once").disabled = candidate != null;
    byId("promote-at-once-hint").textContent = candidate == null ? "" : ` (after the review of version ${candidate})`;
    this.review.showState();
    this.showForms();
    await this.showPanels(turn);
  }

  // Panels load independently: a slow or failed one does not block the others.
  async showPanels(turn) {
    const panels = { review: this.review.showDiff(), classes: this.showSummary(turn), history: this.showHistory(turn), map: this.showMap(turn) };
    await Promise.all(Object.entries(panels).map(([name, work]) => this.withStatus(`${name}-status`, work)));
  }

  showForms() {
    const { candidate } = this.versions, mayTeach = this.may("teach"), isNewest = candidate == null || this.shown === candidate;
    for (const panel of ["new-class", "labelling"]) {
      byId(`${panel}-blocked`).hidden = mayTeach && isNewest;
      byId(`${panel}-blocked`).replaceChildren(...(mayTeach
        ? [element("p", {}, `This page shows the live version; changes are made to candidate version ${candidate}.`),
          button(`Show version ${candidate}`, () => this.choose("candidate"))]
        : [`This needs the scope teach; your token has ${this.caller.scope}. Ask the operator of this service for another token.`]));
    }
    byId("new-class-form").hidden = byId("labelling-part").hidden = !mayTeach || !isNewest;
    if (byId("new-class-form").hidden) this.newClass.hidePreview();
    this.map.useAsExample = mayTeach && isNewest ? (node) => this.newClass.addExample(node) : null;
  }

  choose(name) {
    this.chosen = name;
    return this.show();
  }

  async withStatus(id, work) {
    try {
      await work;
    } catch (error) {
      if (error.status === 401) this.askForToken(error.message);
      else show(byId(id), error.message, true);
    }
  }

  async showSummary(turn) {
    const summary = await request(`v1/summary?${query({ version: this.shown })}`);
    if (turn !== this.turn) return;
    const names = summary.classes.map(({ name }) => name);
    if (!names.includes(this.selectedClass)) this.selectedClass = null;
    showClasses(summary, (name) => this.select(name === this.selectedClass ? null : name));
    this.select(this.selectedClass);
    if (!byId("labelling-part").hidden) await this.withStatus("labelling-status", this.labelling.load(names));
  }

  async showHistory(turn) {
    const { history } = await request(`v1/history?limit=${HISTORY}`);
    if (turn !== this.turn) return;
    showHistory(this, history);
    await this.withStatus("drift-status", showDrift(this.shown));
  }

  async showMap(turn) {
    const version = query({ version: this.shown });
    const [{ nodes, model_version: number }, { classes }] = await Promise.all([request(`v1/map?${version}`), request(`v1/summary?${version}`)]);
    if (turn === this.turn) this.map.show(number, nodes, classColours(classes));
  }

  select(name) {
    this.selectedClass = name;
    showSelected(name);
    this.map.select(name);
  }

  // The focused button may be gone after a change, so the heading of its panel gets the focus.
  async refresh(status, describe, name = this.selectedClass) {
    this.selectedClass = name;
    this.chosen = null;
    for (const other of document.querySelectorAll("[role=status]")) show(other, "");
    this.versions = await request("v1/versions?limit=1");
    show(status, describe());
    const shown = this.show();
    const section = status.closest("section");
    section.hidden = false;
    section.querySelector("h2").focus();
    await shown;
  }

  // Other users change the store too.
  checkVersions() {
    if (document.hidden || !this.versions) return;
    withErrors(byId("live-status"), async () => {
      const versions = await request("v1/versions?limit=1");
      if (["live", "newest", "candidate"].some((name) => versions[name] !== this.versions[name])) await this.show();
    });
  }
}

new Page().open();

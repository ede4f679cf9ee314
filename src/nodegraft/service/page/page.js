// The page: who looks at it, what it shows, and what is shown again after a change.

import { coloured, showClasses, showLit } from "./classes.js";
import { showDrift } from "./drift.js";
import { button, byId, element, guarded, tell } from "./elements.js";
import { showHistory } from "./history.js";
import { Labelling } from "./labelling.js";
import { NodeMap } from "./map.js";
import { Review } from "./review.js";
import { ask, query, token } from "./service.js";
import { Teaching } from "./teaching.js";

const SCOPES = ["read", "teach", "admin"], SESSIONS = 50;

class Page {
  constructor() {
    this.lit = null;
    this.teaching = new Teaching(this);
    this.labelling = new Labelling(this);
    this.map = new NodeMap();
    this.review = new Review(this);
    this.turn = 0;
    byId("sign-in-form").addEventListener("submit", (event) => this.signIn(event));
    byId("forget").addEventListener("click", () => this.signOut());
    document.addEventListener("visibilitychange", () => this.lookAgain());
  }

  may = (scope) => SCOPES.indexOf(this.caller.scope) >= SCOPES.indexOf(scope);

  // A change on top of a candidate would promote that, too, which nobody has reviewed.
  atOnce = () => this.may("admin") && byId("at-once").checked && this.versions.waiting == null;

  made = ({ model_version: version, promoted, warnings }) => () => {
    const { champion, waiting } = this.versions;
    const outcome = promoted ? `Version ${version} was made and is live.`
      : waiting == null ? `Version ${version} was made. It equals version ${champion}, which is live.`
        : `Version ${version} was made and waits for review. Version ${champion} is live.`;
    return [outcome, ...warnings.map((warning) => `Warning: ${warning}`)].join(" ");
  };

  // Somebody else may have made a candidate meanwhile: it is shown, and pressing again adds to it.
  async change(path, options) {
    try {
      return await ask(path, options);
    } catch (error) {
      if (error.code !== "candidate_waits") throw error;
      await this.show();
      error.message += " Promote or discard it above, or press the button again to add your change to it.";
      throw error;
    }
  }

  async open() {
    try {
      this.caller = await ask("v1/whoami");
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
    byId("caller-name").textContent = `You are ${name} (${scope}).`;
    byId("caller").hidden = false;
    byId("forget").hidden = !token.get();
    byId("at-once-part").hidden = !this.may("admin");
  }

  askForToken(why) {
    byId("panels").hidden = byId("caller").hidden = byId("review").hidden = true;
    byId("sign-in").hidden = false;
    tell(byId("sign-in-told"), why, true);
    byId("token").focus();
  }

  async signIn(event) {
    event.preventDefault();
    token.set(byId("token").value.trim());
    byId("token").value = "";
    await this.open();
  }

  signOut() {
    token.forget();
    this.askForToken("");
  }

  // All parts show one version: its number is sent with every request.
  async show() {
    this.turn += 1;
    await this.kept("answering", this.showVersions());
  }

  async showVersions() {
    const turn = this.turn, versions = await ask("v1/versions?limit=1");
    if (turn !== this.turn) return;
    this.versions = versions;
    const { champion, waiting } = versions;
    if (waiting == null) this.chosen = null;
    // Changes are made to the candidate, so whoever may make them sees it first.
    const chosen = this.chosen ?? (this.may("teach") ? "candidate" : "live");
    this.shown = waiting != null && chosen === "candidate" ? waiting : champion;
    tell(byId("answering"), `Version ${champion} is live${this.shown === champion ? "" : `, version ${this.shown} is shown`}.`);
    byId("at-once").disabled = waiting != null;
    byId("at-once-waits").textContent = waiting == null ? "" : ` (after the review of version ${waiting})`;
    this.review.showState();
    this.showForms();
    await this.showParts(turn);
  }

  // Every part is asked for by itself: one that takes long or fails holds up no other.
  async showParts(turn) {
    const parts = [["review", this.review.showDiff()], ["classes", this.showSummary(turn)],
      ["history", this.showSessions(turn)], ["map", this.showMap(turn)]];
    await Promise.all(parts.map(([name, work]) => this.kept(name, work)));
  }

  showForms() {
    const { waiting } = this.versions, scope = this.may("teach"), shown = waiting == null || this.shown === waiting;
    for (const part of ["teaching", "labelling"]) {
      byId(`${part}-refused`).hidden = scope && shown;
      byId(`${part}-refused`).replaceChildren(...(scope
        ? [element("p", {}, `This page shows the live version; changes are made to version ${waiting}, the candidate version.`),
          button(`Show version ${waiting}`, () => this.choose("candidate"))]
        : [`This takes the scope teach, and your token has ${this.caller.scope}. Ask who runs this service for another one.`]));
    }
    byId("teaching-form").hidden = byId("labelling-part").hidden = !scope || !shown;
    if (byId("teaching-form").hidden) this.teaching.unlook();
    this.map.useAsExample = scope && shown ? (one) => this.teaching.add(one) : null;
  }

  choose(name) {
    this.chosen = name;
    return this.show();
  }

  async kept(name, work) {
    try {
      await work;
    } catch (error) {
      if (error.status === 401) this.askForToken(error.message);
      else tell(byId(`${name}-told`) ?? byId(name), error.message, true);
    }
  }

  async showSummary(turn) {
    const summary = await ask(`v1/summary?${query({ version: this.shown })}`);
    if (turn !== this.turn) return;
    this.classes = summary.classes;
    if (!this.classes.some((one) => one.name === this.lit)) this.lit = null;
    showClasses(summary, (name) => this.light(name === this.lit ? null : name));
    this.light(this.lit);
    if (!byId("labelling-part").hidden) await this.kept("labelling", this.labelling.load(this.classes.map((one) => one.name)));
  }

  async showSessions(turn) {
    const { sessions } = await ask(`v1/sessions?limit=${SESSIONS}`);
    if (turn !== this.turn) return;
    showHistory(this, sessions);
    await this.kept("drift", showDrift(this.shown));
  }

  async showMap(turn) {
    const version = query({ version: this.shown });
    const [{ nodes, model_version: number }, { classes }] = await Promise.all([ask(`v1/map?${version}`), ask(`v1/summary?${version}`)]);
    if (turn === this.turn) this.map.show(number, nodes, coloured(classes));
  }

  light(name) {
    this.lit = name;
    showLit(name);
    this.map.light(name);
  }

  // What had the focus may be gone after a change: it goes to the heading of the part. The
  // sentence is made when the versions are known.
  async changed(told, sentence, name = this.lit) {
    this.lit = name;
    this.chosen = null;
    for (const place of document.querySelectorAll("[role=status]")) tell(place, "");
    this.versions = await ask("v1/versions?limit=1");
    tell(told, sentence());
    const shown = this.show();
    const section = told.closest("section");
    section.hidden = false;
    section.querySelector("h2").focus();
    await shown;
  }

  // Others change the store, too.
  lookAgain() {
    if (document.hidden || !this.versions) return;
    guarded(byId("answering"), async () => {
      const { champion, candidate, waiting } = await ask("v1/versions?limit=1"), known = this.versions;
      if (champion !== known.champion || candidate !== known.candidate || waiting !== known.waiting) await this.show();
    });
  }
}

new Page().open();

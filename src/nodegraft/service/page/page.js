// The page: who looks at it, what it shows, and what is shown again after a change.

import { coloured, showClasses, showLit } from "./classes.js";
import { showDrift } from "./drift.js";
import { byId, guarded, tell } from "./elements.js";
import { showHistory } from "./history.js";
import { Labelling } from "./labelling.js";
import { NodeMap } from "./map.js";
import { ask, token } from "./service.js";
import { Teaching } from "./teaching.js";

const SCOPES = ["read", "teach", "admin"], SESSIONS = 50;

class Page {
  constructor() {
    this.lit = null;
    this.teaching = new Teaching(this);
    this.labelling = new Labelling(this);
    this.map = new NodeMap();
    byId("sign-in-form").addEventListener("submit", (event) => this.signIn(event));
    byId("forget").addEventListener("click", () => this.signOut());
    document.addEventListener("visibilitychange", () => this.lookAgain());
  }

  may = (scope) => SCOPES.indexOf(this.caller.scope) >= SCOPES.indexOf(scope);

  atOnce = () => this.may("admin") && byId("at-once").checked;

  made = ({ model_version, promoted, warnings }) => [promoted
    ? `Version ${model_version} was made, and answers now.`
    : `Version ${model_version} was made. It answers when somebody promotes it.`,
  ...warnings.map((one) => `Warning: ${one}`)].join(" ");

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
    for (const part of ["teaching", "labelling"]) {
      byId(`${part}-refused`).hidden = this.may("teach");
      byId(`${part}-refused`).textContent = `This takes the scope teach, and your token has ${scope}. Ask who runs this service for another one.`;
    }
    byId("teaching-form").hidden = byId("labelling-part").hidden = !this.may("teach");
    this.map.useAsExample = this.may("teach") ? (one) => this.teaching.add(one) : null;
  }

  askForToken(why) {
    byId("panels").hidden = byId("caller").hidden = true;
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

  // Every part is asked for by itself: one that takes long or fails holds up no other.
  async show() {
    const parts = [["classes", this.showSummary()], ["history", this.showSessions()], ["map", this.showMap()]];
    await Promise.all(parts.map(([name, work]) => this.kept(name, work)));
  }

  async kept(name, work) {
    try {
      await work;
    } catch (error) {
      if (error.status === 401) this.askForToken(error.message);
      else tell(byId(`${name}-told`), error.message, true);
    }
  }

  async showSummary() {
    const summary = await ask("v1/summary");
    this.version = summary.model_version;
    this.classes = summary.classes;
    if (!this.classes.some((one) => one.name === this.lit)) this.lit = null;
    byId("answering").textContent = `Version ${summary.model_version} answers.`;
    showClasses(summary, (name) => this.light(name === this.lit ? null : name));
    this.light(this.lit);
    if (this.may("teach")) await this.kept("labelling", this.labelling.load(this.classes.map((one) => one.name)));
  }

  async showSessions() {
    const [{ sessions }, { champion }] = await Promise.all([ask(`v1/sessions?limit=${SESSIONS}`), ask("v1/versions?limit=1")]);
    showHistory(this, sessions, champion);
    await this.kept("drift", showDrift());
  }

  async showMap() {
    const [{ nodes }, { classes }] = await Promise.all([ask("v1/map"), ask("v1/summary")]);
    this.map.show(nodes, coloured(classes));
  }

  light(name) {
    this.lit = name;
    showLit(name);
    this.map.light(name);
  }

  // What had the focus may be gone after a change: it goes to the heading of the part.
  async changed(told, sentence, name = this.lit) {
    this.lit = name;
    for (const place of document.querySelectorAll("[role=status]")) tell(place, "");
    tell(told, sentence);
    told.closest("section").querySelector("h2").focus();
    await this.show();
  }

  // Others change the store, too.
  lookAgain() {
    if (document.hidden || !this.version) return;
    guarded(byId("answering"), async () => {
      if ((await ask("readyz")).model_version !== this.version) await this.show();
    });
  }
}

new Page().open();

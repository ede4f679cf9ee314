// The page: who uses it, which version it shows, and the links to a class or a node.

import "./classes.js";
import "./drift.js";
import "./groups.js";
import "./history.js";
import "./labels.js";
import "./map.js";
import "./node.js";
import "./review.js";
import "./selection.js";
import { byId, show } from "./elements.js";
import { load, refresh } from "./loading.js";
import { query, request, token } from "./request.js";
import { askForToken, startSignIn } from "./sign_in.js";
import { current, may, update, watch } from "./state.js";

async function open() {
  let caller;
  try {
    caller = await request("v1/whoami");
  } catch (error) {
    return askForToken(error.status === 401 && !token.get() ? "" : error.message);
  }
  byId("sign-in").hidden = true;
  byId("panels").hidden = false;
  update({ caller });
  await load("live-status", refresh);
}

watch(["caller"], ({ caller: { name, scope, store } }) => {
  document.title = `${store} – nodegraft`;
  byId("store").textContent = store;
  byId("caller-name").textContent = `Signed in as ${name} (scope ${scope}).`;
  byId("caller").hidden = false;
  byId("sign-out").hidden = !token.get();
  byId("promote-at-once-part").hidden = !may("admin");
});

watch(["versions", "shown"], ({ versions: { live, candidate }, shown }) => {
  show(byId("live-status"), `Version ${live} is live${shown === live ? "" : `, version ${shown} is shown`}.`);
  byId("promote-at-once").disabled = candidate != null;
  byId("promote-at-once-hint").textContent = candidate == null ? "" : ` (after the review of version ${candidate})`;
});

function readLink() {
  // The link that skips to the classes is no link to a class or node.
  if (/^#[^=]+$/.test(location.hash)) return;
  const link = new URLSearchParams(location.hash.slice(1));
  update({ className: link.get("class"), node: link.get("node") });
}

watch(["className", "node"], ({ className, node }) => {
  const link = query(Object.entries({ class: className, node }).filter(([, value]) => value != null));
  if (link !== location.hash.slice(1)) history.pushState(null, "", link ? `#${link}` : location.pathname);
});

// A link to a node keeps the class that is highlighted.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#node=']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  update({ node: new URLSearchParams(link.hash.slice(1)).get("node") });
});

// Other users change the store too.
async function checkVersions() {
  const { versions } = current();
  if (document.hidden || !versions) return;
  await load("live-status", async () => {
    const found = await request("v1/versions?limit=1");
    if (["live", "newest", "candidate"].some((name) => found[name] !== versions[name])) await refresh();
  });
}

window.addEventListener("hashchange", readLink);
window.addEventListener("popstate", readLink);
document.addEventListener("visibilitychange", checkVersions);
startSignIn(open);
readLink();
open();

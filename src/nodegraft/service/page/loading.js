// Loads the versions and the summary; panels load what they show when the version changes.

import { byId, show } from "./elements.js";
import { query, request } from "./request.js";
import { askForToken } from "./sign_in.js";
import { current, may, update, watch } from "./state.js";

// Run work whose errors a status line shows.
export async function load(status, work) {
  try {
    return await work();
  } catch (error) {
    if (error.status === 401) askForToken(error.message);
    else show(byId(status), error.message, true);
  }
}

// All panels show the same version: every request names its number.
export async function refresh(choice = current().choice) {
  const versions = await request("v1/versions?limit=1"), { live, candidate } = versions;
  // Changes are made to the candidate, so users who may make them see it first.
  const name = candidate == null ? null : choice ?? (may("teach") ? "candidate" : "live");
  update({ versions, choice: candidate == null ? null : choice, shown: name === "candidate" ? candidate : live });
}

export const about = (values = {}) => query([...Object.entries(values), ["version", current().shown]]);

export const isShown = (version) => current().shown === version;

// Texts and labels of nodes by key, in requests of as many keys as the service reads at once.
export async function readNodes(keys) {
  const found = [];
  for (let start = 0; start < keys.length; start += 100) {
    const some = keys.slice(start, start + 100).map((key) => ["key", key]);
    found.push(...(await request(`v1/nodes?${query([...some, ["version", current().shown]])}`)).nodes);
  }
  return found;
}

watch(["shown"], () => load("classes-status", async () => {
  const { shown } = current();
  const summary = await request(`v1/summary?${about()}`);
  if (!isShown(shown)) return;
  const names = new Set([...summary.classes, ...summary.groups].map(({ name }) => name)), { className } = current();
  update({ summary, className: names.has(className) ? className : null });
}));

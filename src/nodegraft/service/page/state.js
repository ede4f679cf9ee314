// The state of the page: one value, replaced as a whole. Panels watch the parts that they show.

let state = Object.freeze({
  // Response of /v1/whoami.
  caller: null,
  // Response of /v1/versions.
  versions: null,
  // Number of the version that all panels show.
  shown: null,
  // "live" or "candidate", if the user chose one.
  choice: null,
  // Response of /v1/summary about a version, perhaps an older one than `shown`.
  summary: null,
  // The class that is highlighted.
  className: null,
  // Key of the node that is explained, as text.
  node: null,
  // Key as text -> {node, text, label}.
  selection: new Map(),
  // Class name -> number of its colour.
  colours: new Map(),
});
const watchers = [], SCOPES = ["read", "teach", "admin"];

export const current = () => state;

export const watch = (names, show) => watchers.push({ names, show });

export function update(changes) {
  const before = state;
  state = Object.freeze({ ...state, ...changes });
  for (const { names, show } of watchers)
    if (names.some((name) => state[name] !== before[name])) show(state, before);
}

export const may = (scope) => SCOPES.indexOf(state.caller?.scope) >= SCOPES.indexOf(scope);

// Changes are added to the newest version, so only that one can be changed.
export const mayChange = () =>
  may("teach") && state.versions != null && (state.versions.candidate == null || state.shown === state.versions.candidate);

export const classNames = () => state.summary?.classes.map(({ name }) => name) ?? [];

// Names of the class tree that have no labels of their own.
export const groupNames = () => state.summary?.groups.map(({ name }) => name) ?? [];

// The ancestors of a class or group, the lowest first.
let parents = new Map(), parentsOf = null;
export function ancestors(name) {
  const { summary } = state, found = [];
  if (summary !== parentsOf) [parents, parentsOf] = [new Map([...summary.classes, ...summary.groups].map((own) => [own.name, own.parent])), summary];
  for (let up = parents.get(name); up != null; up = parents.get(up)) found.push(up);
  return found;
}

// A key from a text, in the type of the store's keys.
export const keyOf = (text) => (state.summary?.key_type === "integer" && /^-?\d+$/.test(text)
  ? (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)) : text);

export const select = (nodes) =>
  update({ selection: new Map([...state.selection, ...nodes.map((node) => [String(node.node), node])]) });

export function deselect(key) {
  const selection = new Map(state.selection);
  selection.delete(String(key));
  update({ selection });
}

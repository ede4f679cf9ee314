// Requests to the service, and its errors.

const TOKEN = "nodegraft-token";

// What users of this page can do, where the service's own advice is for programs: code -> advice.
const ADVICE = {
  candidate_waits: "Cancel and review it first, or press the button again to add your change to it.",
  class_name: "Choose another name.",
  data: "Reload the page and try again.",
  gate_refused: "Cancel and choose other examples, or give a reason to apply it.",
  no_token: "Check the token, or ask the operator of this service for a new one.",
  parameter: "Change your input and try again.",
  similar_name: "Cancel and change the name, or check “Use this name anyway”.",
  store_refused: "See the history.",
  unknown_node: "Reload the page: the node may have been removed.",
  unknown_version: "Reload the page.",
};

// An error whose message says what happened and what to do.
export class ServiceError extends Error {
  constructor(status, { code, message, what_to_do: advice }) {
    super(`${message} ${ADVICE[code] ?? advice}`);
    Object.assign(this, { status, code });
  }
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN),
  set: (secret) => sessionStorage.setItem(TOKEN, secret),
  remove: () => sessionStorage.removeItem(TOKEN),
};

// Idempotency key: a change that is sent again after a failure is made only once.
export const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

export async function request(path, { method = "GET", body, key } = {}) {
  const headers = {};
  if (token.get()) headers.Authorization = `Bearer ${token.get()}`;
  if (body) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  let response, content;
  try {
    response = await fetch(path, { method, headers, body: body && stringify(body) });
    content = parse(await response.text());
  } catch {
    throw new ServiceError(0, { message: "The service cannot be reached.", what_to_do: "Check that it runs, and try again." });
  }
  if (!response.ok) throw new ServiceError(response.status, content.error);
  return content;
}

export const query = (values) => new URLSearchParams(values).toString();

// Node keys may be integers that are too large for a JavaScript number. Reading them one by one is
// slow, so it is done only where there are any.
const parse = (text) => (/[:[,]\s*-?\d{16,}\s*[,\]}]/.test(text)
  ? JSON.parse(text, (_, value, context) =>
    typeof value === "number" && /^-?\d{16,}$/.test(context?.source ?? "") ? BigInt(context.source) : value)
  : JSON.parse(text));

const stringify = (body) =>
  JSON.stringify(body, (_, value) => (typeof value === "bigint" ? JSON.rawJSON(String(value)) : value));

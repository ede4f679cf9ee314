// What is asked of the service, and what it says when it refuses.

const TOKEN = "nodegraft-token";

export class Refusal extends Error {
  constructor(status, told) {
    super(told.message);
    this.status = status;
    this.code = told.code;
  }
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN),
  set: (secret) => sessionStorage.setItem(TOKEN, secret),
  forget: () => sessionStorage.removeItem(TOKEN),
};

// Another key for each change: sent again after a failure, it is done once.
export const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

export async function ask(path, { method = "GET", body, key } = {}) {
  const headers = {};
  if (token.get()) headers.Authorization = `Bearer ${token.get()}`;
  if (body) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  let answer, content;
  try {
    answer = await fetch(path, { method, headers, body: body && written(body) });
    content = read(await answer.text());
  } catch {
    throw new Refusal(0, { message: "The service does not answer. Try it again in a moment." });
  }
  if (!answer.ok) throw new Refusal(answer.status, content.error);
  return content;
}

export const query = (values) => new URLSearchParams(values).toString();

// Keys may be integers that are too large for a number of JavaScript.
const read = (text) =>
  JSON.parse(text, (_, value, context) =>
    typeof value === "number" && /^-?\d{16,}$/.test(context?.source ?? "") ? BigInt(context.source) : value);

const written = (body) =>
  JSON.stringify(body, (_, value) => (typeof value === "bigint" ? JSON.rawJSON(String(value)) : value));

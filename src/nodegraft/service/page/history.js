// What was done, and taking it back.

import { busy, button, byId, dotted, element } from "./elements.js";
import { newKey, query } from "./service.js";
import { age, number, percent } from "./words.js";

const GONE = ["prune", "purge"];

export function showHistory(page, sessions) {
  byId("sessions").replaceChildren(...sessions.map((one) => item(page, one)));
}

function item(page, one) {
  const flipped = one.flipped == null ? null : `${number(one.flipped)} of ${number(one.asked)} predictions changed`;
  const right = one.accuracy_before == null || one.accuracy_after == null ? null
    : `held-out accuracy ${percent(one.accuracy_before)} → ${percent(one.accuracy_after)}`;
  const when = element("time", { datetime: one.at, title: new Date(one.at).toLocaleString() }, `${age(one.at)} ago`);
  const { champion, waiting } = page.versions;
  const state = one.id === champion ? "live" : one.id === waiting ? "waiting for review" : null;
  const badge = state && element("span", { class: one.id === champion ? "badge" : "badge alarming" }, state);
  return element("li", { "data-version": one.id },
    element("p", {}, element("span", { class: "version" }, `${one.id} `), one.what, " ", badge),
    one.note ? element("p", { class: "note" }, `“${one.note}”`) : null,
    element("p", {}, dotted(one.by, when, flipped, right)),
    element("p", { class: "line" }, ...actions(page, one)));
}

function actions(page, one) {
  const key = newKey(), told = byId("history-told"), found = [];
  const pressed = (work) => (event) => busy(event.currentTarget, told, work);
  if (page.may("admin") && one.id === page.versions.waiting)
    found.push(button("Promote", pressed(async () => {
      await page.review.sent(`v1/versions/${one.id}:promote?only_waiting=true`, { method: "POST" });
      await page.changed(told, () => `Version ${one.id} is live.`);
    }), { class: "strong", "aria-label": `Promote version ${one.id}` }));
  if (page.may("teach") && one.id > 1 && !GONE.includes(one.action))
    found.push(button("Undo", pressed(async () => {
      const path = `v1/sessions/${one.id}:undo?${query({ promote: page.atOnce() })}`;
      await page.changed(told, page.made(await page.change(path, { method: "POST", key })));
    }), { "aria-label": `Undo version ${one.id}` }));
  return found;
}

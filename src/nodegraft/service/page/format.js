// Numbers and times as people read them.

import { element } from "./elements.js";

const NUMBERS = new Intl.NumberFormat("en");
const UNITS = [["year", 31_557_600], ["month", 2_629_800], ["day", 86_400], ["hour", 3_600], ["minute", 60]];

export const number = (count) => NUMBERS.format(count);

export const counted = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

export const percent = (share) => (share == null ? "–" : `${(100 * share).toFixed(1)}\u00a0%`);

export function likely(share) {
  if (share > 0.99) return ">99 %";
  return share < 0.01 ? "<1 %" : `${Math.round(100 * share)} %`;
}

export const confidence = ({ confidence, probability, known }) =>
  `confidence ${likely(confidence)} (probability ${likely(probability)}, known ${known == null ? "–" : likely(known)})`;

// Held-out accuracy before and after a change; null if it was not measured.
export const accuracyChange = ({ accuracy_before: before, accuracy_after: after }) =>
  before == null || after == null ? null : `held-out accuracy ${percent(before)} → ${percent(after)}`;

// The time since a moment, with the exact time as a tooltip.
export function age(time, suffix) {
  const seconds = (Date.now() - new Date(time)) / 1000;
  const unit = UNITS.find(([, length]) => seconds >= length);
  const text = unit ? counted(Math.floor(seconds / unit[1]), unit[0]) : "moments";
  return element("time", { datetime: time, title: new Date(time).toLocaleString() }, `${text} ${suffix}`);
}

// Numbers and times as people read them.

const NUMBERS = new Intl.NumberFormat("en");
const UNITS = [["year", 31_557_600], ["month", 2_629_800], ["day", 86_400], ["hour", 3_600], ["minute", 60]];

export const number = (count) => NUMBERS.format(count);

export const counted = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

export const percent = (share) => (share == null ? "–" : `${(100 * share).toFixed(1)}\u00a0%`);

export function likely(share) {
  if (share > 0.99) return ">99 %";
  return share < 0.01 ? "<1 %" : `${Math.round(100 * share)} %`;
}

// The three numbers of a prediction, by the names that they have everywhere.
export const numbers = ({ confidence, probability, known }) =>
  `confidence ${likely(confidence)} (probability ${likely(probability)}, known ${known == null ? "–" : likely(known)})`;

export function age(time) {
  const seconds = (Date.now() - new Date(time)) / 1000;
  const unit = UNITS.find(([, length]) => seconds >= length);
  return unit ? counted(Math.floor(seconds / unit[1]), unit[0]) : "moments";
}

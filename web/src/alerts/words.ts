import type { Alert, Channel, Condition, Operator, Rule } from "../alert-api";
import type { Value } from "../api";
import { formatWhen, unitSymbol } from "../format";

const UNITS: readonly (readonly [seconds: number, word: string])[] = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
  [1, "second"],
];

/** A length of time in words, all of it: 1 hour 30 minutes. */
export function durationWords(seconds: number): string {
  let rest = Math.max(0, Math.round(seconds));
  const words: string[] = [];
  for (const [size, word] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) words.push(`${count} ${word}${count === 1 ? "" : "s"}`);
  }
  return words.length === 0 ? "0 seconds" : words.join(" ");
}

// What a person sets is shown as it is: a threshold is not rounded.
const exact = new Intl.NumberFormat("en", { maximumSignificantDigits: 15, useGrouping: false });

/** A value as it is: a number with its unit, a text in quotation marks. */
export function exactly(value: Value, unit: string | null | undefined): string {
  if (typeof value === "string") return `“${value}”`;
  if (typeof value === "boolean") return String(value);
  return `${exact.format(value)} ${unitSymbol(unit)}`.trimEnd();
}

/** A difference loses the noise of its digits: 0.3 - 0.1 is 0.2. */
const sum = (one: number, other: number) => Number((one + other).toPrecision(12));

const SIDES: Record<Operator, string> = {
  ">": "is above",
  ">=": "is at or above",
  "<": "is below",
  "<=": "is at or below",
  "=": "is",
  "!=": "is not",
};

/** How a threshold clears: by which values, in words. */
function clears(operator: Operator, operand: Value, hysteresis: number, unit: string | null): string {
  if (operator === "!=") return `when it is ${exactly(operand, unit)}`;
  if (typeof operand !== "number") return "when it is anything else";
  const at = (value: number) => exactly(value, unit);
  switch (operator) {
    case ">":
      return `at ${at(sum(operand, -hysteresis))} or below`;
    case ">=":
      return `below ${at(sum(operand, -hysteresis))}`;
    case "<":
      return `at ${at(sum(operand, hysteresis))} or above`;
    case "<=":
      return `above ${at(sum(operand, hysteresis))}`;
    case "=":
      return hysteresis > 0
        ? `when it is more than ${at(hysteresis)} away from that`
        : "when it is anything else";
  }
}

/** What a condition does, in one sentence. */
export function conditionWords(
  condition: Condition,
  watched: { resource: string; stream: string | null; unit: string | null },
): string {
  const { resource, stream, unit } = watched;
  const what = stream === null ? resource : `${stream} of ${resource}`;
  switch (condition.kind) {
    case "threshold": {
      const { operator, operand, hysteresis, hold_s } = condition;
      const hold = hold_s > 0 ? ` for ${durationWords(hold_s)}` : "";
      return (
        `Alert when ${what} ${SIDES[operator]} ${exactly(operand, unit)}${hold}; ` +
        `clear ${clears(operator, operand, hysteresis, unit)}.`
      );
    }
    case "change":
      return (
        `Alert when ${what} differs from the reading before` +
        `${condition.by === null ? "" : ` by ${exactly(condition.by, unit)} or more`}; ` +
        `clear with the next reading that does not.`
      );
    case "silence": {
      const { periods, after_s } = condition;
      const long =
        periods === null ? durationWords(after_s ?? 0) : `${periods} of the usual intervals between readings`;
      return `Alert when no reading of ${what} arrives for ${long}; clear with the next reading.`;
    }
  }
}

/** What was measured when an alert was opened. */
export function measured({ stream, unit, opened_value }: Alert): string {
  if (opened_value === null) return stream === null ? "no readings" : `${stream}: no readings`;
  return `${stream ?? ""} ${exactly(opened_value, unit)}`.trimStart();
}

const RANK = { critical: 0, warning: 1, information: 2 } as const;

/** What matters most first: by severity, then what nobody has acknowledged, then the newest. */
export function byUrgency(alerts: readonly Alert[]): Alert[] {
  const seen = ({ state }: Alert) => (state === "open" ? 0 : 1);
  return [...alerts].sort(
    (one, other) => RANK[one.severity] - RANK[other.severity] || seen(one) - seen(other) || other.id - one.id,
  );
}

/** A sentence that ends where it ends. */
function sentence(words: string): string {
  return /[.!?]$/.test(words) ? words : `${words}.`;
}

/** How telling on a channel goes. */
export function channelState(
  channel: Channel,
  now: number,
): { state: "good" | "unused" | "failing"; words: string } {
  const { confirmed, last_told, last_error, failures, next_try, waiting, given_up, untold } = channel;
  const words: string[] = [];
  if (!confirmed) words.push("Not confirmed: no alert is told before the code that was sent there is typed.");
  if (last_error !== null) {
    const times = failures > 1 ? `${failures} tries failed` : "The last try failed";
    words.push(sentence(`${times}: ${last_error}`));
    if (waiting > 0 && next_try > now) words.push(`Next try at ${formatWhen(next_try)}.`);
  }
  words.push(last_told === null ? "Nothing was told yet." : `Told last at ${formatWhen(last_told)}.`);
  if (waiting > 0) words.push(`${waiting} ${waiting === 1 ? "message waits" : "messages wait"}.`);
  if (given_up > 0) words.push(`${given_up} given up after 24 hours.`);
  if (untold > 0) words.push(`${untold} dropped, as too many waited.`);
  const state = last_error !== null || !confirmed ? "failing" : last_told === null ? "unused" : "good";
  return { state, words: words.join(" ") };
}

/** How a rule is doing: whether it can open an alert, and whether anybody is told. */
export function ruleState(
  rule: Rule,
  channels: readonly Channel[],
): { state: "paused" | "alert" | "failing" | "waiting" | "good"; words: string } {
  if (rule.paused) return { state: "paused", words: "Paused" };
  const failing = channels.filter(
    ({ label, last_error, confirmed }) =>
      (last_error !== null || !confirmed) && rule.channels.includes(label),
  );
  if (failing.length > 0) {
    const names = failing.map(({ label }) => label).join(", ");
    const words = `${rule.alert === null ? "" : "Alert open. "}Telling fails: ${names}`;
    return { state: "failing", words };
  }
  if (rule.alert !== null) return { state: "alert", words: "Alert open" };
  const { condition } = rule;
  if (condition.kind === "silence" && condition.periods !== null && rule.due === null) {
    return { state: "waiting", words: "Learning the usual interval" };
  }
  return { state: "good", words: rule.channels.length === 0 ? "Watching, tells nobody" : "Watching" };
}

/** What came of a test of a channel; nothing as long as that is not known. */
export function testOutcome(before: Channel, now: Channel): string | undefined {
  const what = before.confirmed ? "The test" : "The code";
  if ((now.last_told ?? -Infinity) > (before.last_told ?? -Infinity)) return `${what} was told.`;
  if (now.failures > before.failures || (now.last_error !== null && now.last_error !== before.last_error)) {
    return sentence(`${what} could not be told: ${now.last_error ?? "no reason is known"}`);
  }
  return undefined;
}

import { expect, test } from "vitest";
import type { Alert, Channel, Condition, Rule } from "../src/alert-api";
import { conditionOf, type Filled } from "../src/alerts/rule-form";
import {
  byUrgency,
  channelState,
  conditionWords,
  durationWords,
  measured,
  ruleState,
  testOutcome,
} from "../src/alerts/words";
import { inUnits } from "../src/duration-field";
import { matchingAlerts } from "../src/pages/alerts";
import { LINKS, routeOf, tabOf } from "../src/route";

const alert: Alert = {
  id: 1,
  rule: 1,
  label: "too warm",
  severity: "warning",
  resource: "greenhouse",
  stream: "temperature",
  unit: "Cel",
  state: "open",
  opened: 0,
  opened_value: 31.25,
  acknowledged: null,
  acknowledged_by: null,
  cleared: null,
  cleared_value: null,
};
const channel: Channel = {
  id: 1,
  label: "ops",
  kind: "webhook",
  address: "https://example.org/",
  token: false,
  confirmed: true,
  created: 0,
  last_told: null,
  last_error: null,
  failures: 0,
  next_try: 0,
  waiting: 0,
  given_up: 0,
  untold: 0,
};
const above: Condition = { kind: "threshold", operator: ">", operand: 30, hysteresis: 2, hold_s: 300 };
const rule: Rule = {
  id: 1,
  label: "too warm",
  severity: "warning",
  resource: "greenhouse",
  stream: "temperature",
  condition: above,
  channels: ["ops"],
  payload: null,
  paused: false,
  created: 0,
  alert: null,
  heard: null,
  due: null,
};

test("a threshold says in one sentence when it alerts and when it is over", () => {
  const words = (condition: Condition) =>
    conditionWords(condition, { resource: "greenhouse", stream: "temperature", unit: "Cel" });
  expect(words(above)).toBe(
    "Alert when temperature of greenhouse is above 30 °C for 5 minutes; clear at 28 °C or below.",
  );
  const plain = (operator: "<" | "<=" | ">=" | "=", operand: number, hysteresis: number) =>
    words({ kind: "threshold", operator, operand, hysteresis, hold_s: 0 });
  expect(plain("<", 0.1, 0.2)).toBe(
    "Alert when temperature of greenhouse is below 0.1 °C; clear at 0.3 °C or above.",
  );
  expect(plain("<=", -5, 0)).toContain("is at or below -5 °C; clear above -5 °C.");
  expect(plain(">=", 12_345.678, 0)).toContain("at or above 12345.678 °C; clear below 12345.678 °C.");
  expect(plain("=", 3, 0)).toContain("is 3 °C; clear when it is anything else.");
  expect(plain("=", 3, 1)).toContain("clear when it is more than 1 °C away from that.");
});

test("a change and a silence say what they do", () => {
  const of = { resource: "greenhouse", stream: "temperature", unit: null };
  expect(conditionWords({ kind: "change", by: 5 }, of)).toBe(
    "Alert when temperature of greenhouse differs from the reading before by 5 or more; clear with the next reading that does not.",
  );
  expect(conditionWords({ kind: "silence", periods: 3, after_s: null }, of)).toBe(
    "Alert when no reading of temperature of greenhouse arrives for 3 of the usual intervals between readings; clear with the next reading.",
  );
  expect(conditionWords({ kind: "silence", periods: null, after_s: 5400 }, { ...of, stream: null })).toBe(
    "Alert when no reading of greenhouse arrives for 1 hour 30 minutes; clear with the next reading.",
  );
});

test("a length of time is said in full, and written with the largest unit that it is a multiple of", () => {
  expect([0, 1, 61, 90_060].map(durationWords)).toEqual([
    "0 seconds",
    "1 second",
    "1 minute 1 second",
    "1 day 1 hour 1 minute",
  ]);
  expect([0, 45, 300, 7200, 172_800].map(inUnits)).toEqual([
    { count: 0, unit: 60 },
    { count: 45, unit: 1 },
    { count: 5, unit: 60 },
    { count: 2, unit: 3600 },
    { count: 2, unit: 86_400 },
  ]);
});

test("a condition is sent only when its own fields are filled in", () => {
  const filled: Filled = {
    kind: "threshold",
    operator: "<",
    operand: 4,
    hysteresis: 0,
    hold: 60,
    by: NaN,
    silence: "periods",
    periods: 3,
    after: NaN,
  };
  expect(conditionOf(filled)).toEqual({
    kind: "threshold",
    operator: "<",
    operand: 4,
    hysteresis: 0,
    hold_s: 60,
  });
  expect(conditionOf({ ...filled, operand: NaN })).toBeUndefined();
  expect(conditionOf({ ...filled, kind: "change", by: NaN })).toBeUndefined();
  expect(conditionOf({ ...filled, kind: "change", by: 2 })).toEqual({ kind: "change", by: 2 });
  const silence = { ...filled, kind: "silence" };
  expect(conditionOf(silence)).toEqual({ kind: "silence", periods: 3, after_s: null });
  expect(conditionOf({ ...silence, silence: "after" })).toBeUndefined();
  expect(conditionOf({ ...silence, silence: "after", after: 600 })).toEqual({
    kind: "silence",
    periods: null,
    after_s: 600,
  });
});

test("what matters most is first: by severity, what nobody has acknowledged, the newest", () => {
  const alerts: Alert[] = [
    { ...alert, id: 1, severity: "information" },
    { ...alert, id: 2, severity: "critical", state: "acknowledged" },
    { ...alert, id: 3, severity: "critical" },
    { ...alert, id: 4 },
    { ...alert, id: 5 },
  ];
  expect(byUrgency(alerts).map(({ id }) => id)).toEqual([3, 2, 5, 4, 1]);
});

test("an alert says what was measured, in the unit of its stream, or that nothing was", () => {
  expect(measured(alert)).toBe("temperature 31.25 °C");
  expect(measured({ ...alert, opened_value: "ajar" })).toBe("temperature “ajar”");
  expect(measured({ ...alert, opened_value: true })).toBe("temperature true");
  expect(measured({ ...alert, opened_value: null })).toBe("temperature: no readings");
  expect(measured({ ...alert, opened_value: null, stream: null })).toBe("no readings");
});

test("alerts are found by rule, device or stream, and by severity", () => {
  const other: Alert = { ...alert, id: 2, label: "silent", severity: "critical", stream: null };
  const found = (text: string, severity: string) =>
    matchingAlerts([alert, other], text, severity).map(({ id }) => id);
  expect(found("", "")).toEqual([1, 2]);
  expect(found(" GREEN", "critical")).toEqual([2]);
  expect(found("temperature", "")).toEqual([1]);
  expect(found("warm", "critical")).toEqual([]);
});

test("a channel says how telling goes, and why it fails", () => {
  const now = 1_800_000_000_000;
  expect(channelState(channel, now)).toEqual({ state: "unused", words: "Nothing was told yet." });
  const told = channelState({ ...channel, last_told: now, waiting: 1 }, now);
  expect(told.state).toBe("good");
  expect(told.words).toContain("1 message waits.");
  const failing = channelState(
    { ...channel, last_error: "it answered 503", failures: 3, waiting: 2, next_try: now + 1, given_up: 4 },
    now,
  );
  expect(failing.state).toBe("failing");
  expect(failing.words).toMatch(/^3 tries failed: it answered 503\. Next try at /);
  expect(failing.words).toContain("4 given up after 24 hours.");
  const unconfirmed = channelState({ ...channel, confirmed: false }, now);
  expect([unconfirmed.state, unconfirmed.words.split(":")[0]]).toEqual(["failing", "Not confirmed"]);
});

test("a rule is shown as paused, failing, open, learning or watching", () => {
  const state = (change: Partial<Rule>, channels: Channel[] = [channel]) =>
    ruleState({ ...rule, ...change }, channels).state;
  const failing = { ...channel, last_error: "it answered 503" };
  expect(state({})).toBe("good");
  expect(state({ paused: true }, [failing])).toBe("paused");
  expect(state({ alert: 7 })).toBe("alert");
  expect(ruleState({ ...rule, alert: 7 }, [failing]).words).toBe("Alert open. Telling fails: ops");
  expect(state({ channels: [] }, [failing])).toBe("good");
  expect(state({}, [{ ...channel, confirmed: false }])).toBe("failing");
  const silence: Condition = { kind: "silence", periods: 3, after_s: null };
  expect(state({ condition: silence })).toBe("waiting");
  expect(state({ condition: silence, due: 5 })).toBe("good");
  expect(ruleState({ ...rule, channels: [] }, []).words).toBe("Watching, tells nobody");
});

test("what came of a test is known once a message was told or a try has failed", () => {
  expect(testOutcome(channel, { ...channel, waiting: 1 })).toBeUndefined();
  expect(testOutcome(channel, { ...channel, last_told: 5 })).toBe("The test was told.");
  const failed = { ...channel, failures: 1, last_error: "it answered 404" };
  expect(testOutcome(channel, failed)).toBe("The test could not be told: it answered 404.");
  expect(testOutcome(failed, failed)).toBeUndefined();
  const unconfirmed = { ...channel, confirmed: false };
  expect(testOutcome(unconfirmed, { ...unconfirmed, last_told: 5 })).toBe("The code was told.");
  expect(testOutcome(failed, { ...failed, failures: 0, last_error: null, last_told: 9 })).toBe(
    "The test was told.",
  );
});

test("alerts, rules and channels have addresses below one tab", () => {
  for (const page of ["alerts", "rules", "channels"] as const) {
    expect(routeOf(LINKS[page])).toEqual({ page });
    expect(tabOf({ page })).toBe(LINKS.alerts);
  }
  expect(tabOf({ page: "device", resource: "7" })).toBe(LINKS.devices);
  expect(tabOf({ page: "users" })).toBe(LINKS.users);
});

test("a rule compares texts and truth values by what is equal, and says so", () => {
  const of = { resource: "shed", stream: "door", unit: null };
  const filled: Filled = {
    kind: "threshold",
    operator: ">",
    operand: "closed",
    hysteresis: 2,
    hold: 300,
    by: null,
    silence: "periods",
    periods: 3,
    after: 600,
  };
  const text = conditionOf({ ...filled, operator: "!=" })!;
  expect(text).toEqual({ kind: "threshold", operator: "!=", operand: "closed", hysteresis: 0, hold_s: 300 });
  expect(conditionWords(text, of)).toBe(
    "Alert when door of shed is not “closed” for 5 minutes; clear when it is “closed”.",
  );
  const truth = conditionOf({ ...filled, operand: true, hold: 0 })!;
  expect(truth).toEqual({ kind: "threshold", operator: "=", operand: true, hysteresis: 0, hold_s: 0 });
  expect(conditionWords(truth, of)).toBe("Alert when door of shed is true; clear when it is anything else.");
  const change = conditionOf({ ...filled, kind: "change" })!;
  expect(change).toEqual({ kind: "change", by: null });
  expect(conditionWords(change, of)).toBe(
    "Alert when door of shed differs from the reading before; clear with the next reading that does not.",
  );
});

import { expect, test } from "vitest";
import { refusal } from "../src/api";
import { endWords } from "../src/certificate";
import { formatWhen, shown } from "../src/format";
import {
  aheadWords,
  asideWords,
  heardWords,
  isAhead,
  isLater,
  measuredWords,
  silentAfter,
} from "../src/heard";
import { mistake } from "../src/account/password";
import { RANGES, reaching } from "../src/ranges";
import { tooMany } from "../src/refusal";
import { byArrival, usualStep } from "../src/usual";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = Date.UTC(2026, 10, 23, 12);

test("a device is silent after three of its own intervals, and never if it has shown none", () => {
  const words = (ago: number, interval?: number) => heardWords(NOW - ago, interval, NOW);
  expect(words(40 * MINUTE, 1800)).toEqual({ words: "Last reading 40 min 0 s ago", silent: false });
  expect(words(91 * MINUTE, 1800)).toEqual({ words: "Silent for 1 h 31 min", silent: true });
  expect(words(20_000, 5).silent).toBe(false);
  expect(words(61_000, 5).silent).toBe(true);
  expect(words(30 * HOUR)).toEqual({ words: "Last reading 30 h 0 min ago", silent: false });
  expect(words(-3_000).words).toBe("Last reading now");
  expect(silentAfter(3_600)).toBe(10_800);
});

test("a device that was never heard, or is heard in the future, is not heard now", () => {
  expect(heardWords(null, undefined, NOW)).toEqual({ words: "No reading yet", silent: false });
  const { words, silent } = heardWords(99_999_999_999_000, 5, NOW);
  expect([words.startsWith("Last reading in the future: 5138-11-1"), silent]).toEqual([true, true]);
});

test("a reading is ahead if its time is later than its arrival, or than tomorrow", () => {
  const now = Date.now();
  expect(isAhead({ time: now, arrived: now, value: 1 })).toBe(false);
  expect(isAhead({ time: now - 9 * HOUR, arrived: now, value: 1 })).toBe(false);
  expect(isAhead({ time: now + 2 * HOUR, arrived: now, value: 1 })).toBe(true);
  expect(isAhead({ time: 99_999_999_999_000, arrived: 99_999_999_999_000, value: 1 })).toBe(true);
});

test("a reading that is ahead is told of without a guess whose clock was wrong", () => {
  const now = Date.now();
  const late = 99_999_999_999_000;
  for (const arrived of [now, late]) {
    const reading = { time: late, arrived, value: 1 };
    expect(aheadWords(reading)).toMatch(/measured at 5138-11-1.*, ahead of this cloud's clock\.$/);
    expect(asideWords(reading)).toMatch(/^of 5138-11-1.*, ahead of this cloud's clock$/);
  }
  const prompt = { time: now, arrived: now, value: 1 };
  expect([aheadWords(prompt), asideWords(prompt)]).toEqual(["", ""]);
});

test("a latest value that arrived long after it was measured says when that was", () => {
  const now = Date.now();
  const words = (age: number, from = -Infinity) => {
    const latest = { time: now - age, arrived: now, value: 39.9 };
    return [asideWords(latest), measuredWords(latest, from)];
  };
  const yesterday = formatWhen(now - 24 * HOUR);
  expect(words(24 * HOUR)).toEqual([`of ${yesterday}`, yesterday]);
  // A chart that reaches back so far does not say it either: beside the value stands what is now.
  expect(words(24 * HOUR, now - 48 * HOUR)[1]).toBe(yesterday);
  expect(words(30 * MINUTE)).toEqual(["", ""]);
  expect(words(30 * MINUTE, now - 15 * MINUTE)[1]).toBe(formatWhen(now - 30 * MINUTE));
});

test("the latest is what arrived last, and of what came at once what was measured last", () => {
  const one = (arrived: number, time: number) => ({ arrived, time, value: 1 });
  expect(isLater(one(9, 1), one(8, 5))).toBe(true);
  expect(isLater(one(8, 9), one(9, 1))).toBe(false);
  expect(isLater(one(9, 1), one(9, 5))).toBe(false);
});

test("the usual interval is the median, and readings of one moment are one", () => {
  expect(usualStep([0, 10, 20, 30, 500])).toBe(10);
  expect(usualStep([0, 0, 0, 60, 60, 60, 120, 120, 180])).toBe(60);
  expect(usualStep([0, 10, 20])).toBeUndefined();
  expect(usualStep([])).toBeUndefined();
});

test("the streams that had a reading last tell the interval", () => {
  const stream = (id: number, arrived?: number) => ({
    id,
    label: "",
    unit: null,
    description: "",
    value_type: "number" as const,
    latest: arrived === undefined ? null : { time: 0, value: 0, arrived },
  });
  expect(byArrival([stream(1, 5), stream(2, 9), stream(3)]).map(({ id }) => id)).toEqual([2, 1]);
});

test("the page opens with the shortest range that reaches the latest reading", () => {
  const name = (age: number) => reaching(NOW - age, NOW).name;
  const ages = [0, 20 * MINUTE, 3 * HOUR, 20 * HOUR, 25 * HOUR, 400 * HOUR, 5_000 * HOUR, 10_000 * HOUR];
  expect(ages.map(name)).toEqual(["15 min", "1 h", "6 h", "24 h", "7 d", "30 d", "1 y", "All"]);
  expect(reaching(NOW + HOUR, NOW)).toBe(RANGES[0]);
});

test("a name shows the characters that would hide what it is", () => {
  expect(shown("\u202eevil\u200b")).toBe("\ufffdevil\ufffd");
  expect(shown("Gewächshaus 1")).toBe("Gewächshaus 1");
});

test("a refusal says how long to wait", () => {
  const error = refusal(429, '{"error":{"code":"too_many","message":"Too many."}}', "8");
  expect([error.status, error.code, error.retryMs]).toEqual([429, "too_many", 8_000]);
  expect(refusal(503, "", "Wed, 21 Oct 2026 07:28:00 GMT").retryMs).toBe(0);
  expect(tooMany(8)).toBe("Too many wrong passwords: try again in 8 s.");
});

test("a new password is long enough, is not the user name, and is typed twice alike", () => {
  expect(mistake("ann", "short", "short")).toContain("too short");
  expect(mistake("annabella", "annabella", "annabella")).toContain("user name");
  expect(mistake("ann", "long enough", "long enougj")).toContain("differ");
  expect(mistake("ann", "long enough", "long enough")).toBeUndefined();
});

test("a certificate is warned of thirty days before it ends, and when it has", () => {
  const words = (days: number) => endWords(NOW + days * 24 * HOUR, NOW);
  expect(words(31)).toEqual({ words: "Certificate good until 2026-12-24", state: "good" });
  expect(words(3)).toEqual({ words: "Certificate ends in 3 days, 2026-11-26", state: "soon" });
  expect(words(-1)).toEqual({ words: "Certificate ended 2026-11-22: replace its key", state: "ended" });
});

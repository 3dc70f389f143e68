import { expect, test } from "vitest";
import {
  formatBytes,
  formatDuration,
  formatMoment,
  formatShare,
  formatValue,
  unitSymbol,
} from "../src/format";

test("values keep about four significant digits", () => {
  expect(formatValue(21.44)).toBe("21.4");
  expect(formatValue(21)).toBe("21.0");
  expect(formatValue(310)).toBe("310");
  expect(formatValue(101325.4)).toBe("101,325");
  expect(formatValue(-0.01234)).toBe("-0.012");
});

test("bytes are told in decimal units", () => {
  expect(formatBytes(999)).toBe("999 B");
  expect(formatBytes(12_345)).toBe("12.3 kB");
  expect(formatBytes(26_000)).toBe("26.0 kB");
  expect(formatBytes(999_700)).toBe("1.0 MB");
  expect(formatBytes(123_456)).toBe("123 kB");
  expect(formatBytes(25_300_000)).toBe("25.3 MB");
});

test("nothing sent has no share", () => {
  expect(formatShare(null)).toBe("–");
  expect(formatShare(0)).toBe("0 %");
  expect(formatShare(0.3163)).toBe("31.6 %");
});

test("durations name their two largest units", () => {
  expect(formatDuration(-1)).toBe("0 s");
  expect(formatDuration(59)).toBe("59 s");
  expect(formatDuration(754)).toBe("12 min 34 s");
  expect(formatDuration(7_260)).toBe("2 h 1 min");
  expect(formatDuration(200_000)).toBe("2 d 7 h");
});

test("SenML units become the symbols people read", () => {
  expect(unitSymbol("Cel")).toBe("°C");
  expect(unitSymbol("lx")).toBe("lx");
  expect(unitSymbol(null)).toBe("");
});

test("moments less than a second apart are told apart", () => {
  const today = new Date().setHours(15, 10, 19, 50) / 1000;
  expect(formatMoment(today, 60)).toBe("15:10");
  expect(formatMoment(today, 1)).toBe("15:10:19");
  expect(formatMoment(today, 0.05)).toBe("15:10:19.050");
});

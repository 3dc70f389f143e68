import { describe, expect, it } from "vitest";
import { RANGES } from "../src/ranges";
import { outline, windowLength, type Window } from "../src/windows";

const HOUR = 3_600_000;

function window(time: number, values: number[]): Window {
  return {
    time,
    count: values.length,
    min: Math.min(...values),
    max: Math.max(...values),
    first: values[0]!,
    last: values.at(-1)!,
  };
}

describe("windows of long ranges", () => {
  it("are whole hours, and about as many as a chart has columns", () => {
    const lengths = RANGES.map(({ seconds }) => seconds && windowLength(seconds * 1000));
    expect(lengths).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      HOUR,
      6 * HOUR,
      undefined,
    ]);
    expect(windowLength(10 * 366 * 24 * HOUR)).toBe(59 * HOUR);
  });

  it("are drawn with their lowest and highest value, in the order in which the value went", () => {
    const windows = [window(0, [2, 9, 1, 3]), window(HOUR, [3, 1, 9, 2]), window(2 * HOUR, [5])];
    expect(outline(windows, HOUR, 9 * HOUR)).toEqual([
      { time: HOUR / 4, value: 1 },
      { time: (3 * HOUR) / 4, value: 9 },
      { time: (5 * HOUR) / 4, value: 9 },
      { time: (7 * HOUR) / 4, value: 1 },
      { time: 2 * HOUR, value: 5 },
    ]);
  });

  it("never reach beyond now, so that what comes live comes after them", () => {
    const now = HOUR / 2;
    const times = outline([window(0, [1, 2])], HOUR, now).map((point) => point.time);
    expect(times).toEqual([HOUR / 4, now]);
  });
});

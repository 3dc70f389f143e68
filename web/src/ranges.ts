import type { Span } from "./series";

export interface Range {
  name: string;
  /** Without a length: all there is. */
  seconds?: number;
}

const HOUR = 3_600;

export const RANGES: readonly Range[] = [
  { name: "15 min", seconds: HOUR / 4 },
  { name: "1 h", seconds: HOUR },
  { name: "6 h", seconds: 6 * HOUR },
  { name: "24 h", seconds: 24 * HOUR },
  { name: "7 d", seconds: 7 * 24 * HOUR },
  { name: "30 d", seconds: 30 * 24 * HOUR },
  { name: "1 y", seconds: 366 * 24 * HOUR },
  { name: "All" },
];

/** The span of a range that ends `now`; all there is begins with the `first` point. */
export function spanOf(range: Range, first: number | undefined, now: number): Span {
  if (range.seconds !== undefined) return [now - range.seconds, now];
  return [Math.min(first ?? now - 60, now - 60), now];
}

/** The shortest range that reaches back to `time`, in milliseconds since 1970. */
export function reaching(time: number, now: number): Range {
  const age = (now - time) / 1000;
  return RANGES.find(({ seconds }) => seconds !== undefined && age < seconds) ?? RANGES.at(-1)!;
}

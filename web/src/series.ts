import type { Point } from "./api";
import { usualStep } from "./usual";
import { numberOf } from "./value";

/** A span of time in seconds since 1970. */
export type Span = [from: number, until: number];

/** The points of one chart as numbers, oldest first and never more than `capacity`: the oldest go first. */
export class Series {
  /** Seconds since 1970, as uPlot wants them. */
  times: number[] = [];
  values: number[] = [];

  constructor(readonly capacity: number) {}

  get length(): number {
    return this.times.length;
  }

  get last(): { time: number; value: number } | undefined {
    const index = this.times.length - 1;
    return index < 0 ? undefined : { time: this.times[index]! * 1000, value: this.values[index]! };
  }

  /**
   * Adds a point at its place in time. Two points may share a millisecond, but one that is here already is the same:
   * the live feed may tell of a point that the history has told of.
   */
  push(point: Point): void {
    const { time } = point;
    const value = numberOf(point.value);
    if (!Number.isFinite(time) || !Number.isFinite(value)) return;
    const seconds = time / 1000;
    let at = this.times.length;
    while (at > 0 && this.times[at - 1]! > seconds) at -= 1;
    for (let same = at - 1; same >= 0 && this.times[same] === seconds; same--) {
      if (this.values[same] === value) return;
    }
    this.times.splice(at, 0, seconds);
    this.values.splice(at, 0, value);
    if (this.times.length > this.capacity) {
      this.times.shift();
      this.values.shift();
    }
  }

  /**
   * Takes stored history in place of what is here, and keeps those of `live` that it does not hold yet:
   * the points that arrived while the history was on its way.
   */
  restore(history: Point[], live: Point[]): void {
    const kept = history
      .slice(-this.capacity)
      .map(({ time, value }) => ({ time, value: numberOf(value) }))
      .filter(({ time, value }) => Number.isFinite(time) && Number.isFinite(value));
    this.times = kept.map((point) => point.time / 1000);
    this.values = kept.map((point) => point.value);
    const end = this.last?.time ?? -Infinity;
    const stored = new Set(kept.filter((point) => point.time === end).map((point) => point.value));
    for (const point of live) {
      if (point.time > end || (point.time === end && !stored.has(numberOf(point.value)))) this.push(point);
    }
  }

  /** The indices of the points in `span`, the second one exclusive. */
  within([from, until]: Span): [number, number] {
    return [firstAtOrAfter(this.times, from), firstAtOrAfter(this.times, until)];
  }
}

/** The index of the first of the rising `times` that is not before `time`. */
function firstAtOrAfter(times: readonly number[], time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Lowest and highest of the values. */
export function extent(values: readonly number[]): [number, number] | undefined {
  if (values.length === 0) return undefined;
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

/**
 * As many of the points from `start` to `end` as a line `columns` wide can show: of each column the first, the
 * lowest, the highest and the last, so that no peak is lost.
 */
export function decimate(
  series: Series,
  [start, end]: [number, number],
  columns: number,
): [number[], number[]] {
  const { times, values } = series;
  if (end - start <= columns * 4) return [times.slice(start, end), values.slice(start, end)];
  const first = times[start]!;
  const width = (times[end - 1]! - first) / columns || 1;
  const kept: [number[], number[]] = [[], []];
  let at = start;
  while (at < end) {
    const column = Math.floor((times[at]! - first) / width);
    let [low, high, last] = [at, at, at];
    while (last + 1 < end && Math.floor((times[last + 1]! - first) / width) === column) {
      last += 1;
      if (values[last]! < values[low]!) low = last;
      if (values[last]! > values[high]!) high = last;
    }
    for (const index of [...new Set([at, low, high, last])].sort((a, b) => a - b)) {
      kept[0].push(times[index]!);
      kept[1].push(values[index]!);
    }
    at = last + 1;
  }
  return kept;
}

/** The shortest span, in seconds, that the time axis of the points covers: its marks are whole seconds then. */
const SHORTEST_SPAN_S = 20;

/** A span at least `shortest` seconds long, about the same middle. */
export function widened([from, until]: Span, shortest: number): Span {
  const missing = Math.max(0, shortest - (until - from));
  return [from - missing / 2, until + missing / 2];
}

/** The time axis: all of the rising `times`, and never so short that its marks look alike. */
export function timeRange(times: ArrayLike<number>): Span {
  const first = times[0] ?? Date.now() / 1000;
  return widened([first, times[times.length - 1] ?? first], SHORTEST_SPAN_S);
}

/** The value axis: the data with a margin, and never so narrow that noise looks like an event. */
export function valueRange(low: number, high: number): [number, number] {
  const margin = Math.max((high - low) * 0.15, Math.abs(high) * 0.001, 0.05);
  return [low - margin, high + margin];
}

/**
 * Where a line must break because the device was silent: spans in which far more time passed than usually does. Of
 * few points their own habit is not known: then that of the device counts, `usual` in seconds.
 */
export function silences(times: readonly number[], usual?: number): Span[] {
  const step = usualStep(times) ?? usual;
  if (step === undefined) return [];
  const limit = Math.max(step * 5, 1);
  const found: Span[] = [];
  for (let index = 0; index + 1 < times.length; index++) {
    if (times[index + 1]! - times[index]! > limit) found.push([times[index]!, times[index + 1]!]);
  }
  return found;
}

import type { Point } from "./api";

/** The points of one chart, oldest first and never more than `capacity`: the oldest go first. */
export class Series {
  /** Seconds since 1970, as uPlot wants them. */
  times: number[] = [];
  values: number[] = [];

  constructor(readonly capacity: number) {}

  get length(): number {
    return this.times.length;
  }

  get last(): Point | undefined {
    const index = this.times.length - 1;
    return index < 0 ? undefined : { time: this.times[index]! * 1000, value: this.values[index]! };
  }

  /** Adds a point at its place in time. Two points may share a millisecond. */
  push({ time, value }: Point): void {
    if (!Number.isFinite(time) || !Number.isFinite(value)) return;
    const seconds = time / 1000;
    let at = this.times.length;
    while (at > 0 && this.times[at - 1]! > seconds) at -= 1;
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
    this.times = [];
    this.values = [];
    for (const point of history) this.push(point);
    const end = this.last?.time ?? -Infinity;
    const stored = new Set(history.filter((point) => point.time === end).map((point) => point.value));
    for (const point of live) {
      if (point.time > end || (point.time === end && !stored.has(point.value))) this.push(point);
    }
  }

  /** Lowest and highest value. */
  extent(): [number, number] | undefined {
    if (this.values.length === 0) return undefined;
    let [low, high] = [Infinity, -Infinity];
    for (const value of this.values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return [low, high];
  }
}

/** The value axis: the data with a margin, and never so narrow that noise looks like an event. */
export function valueRange(low: number, high: number): [number, number] {
  const margin = Math.max((high - low) * 0.15, Math.abs(high) * 0.001, 0.05);
  return [low - margin, high + margin];
}

/**
 * Where a line must break because the device was silent: pairs of indices between which far more time
 * passed than usually does.
 */
export function silences(times: ArrayLike<number>): [number, number][] {
  if (times.length < 4) return [];
  const steps = Array.from({ length: times.length - 1 }, (_, index) => times[index + 1]! - times[index]!);
  const usual = [...steps].sort((a, b) => a - b)[Math.floor(steps.length / 2)]!;
  const limit = Math.max(usual * 5, 1);
  const found: [number, number][] = [];
  steps.forEach((step, index) => {
    if (step > limit) found.push([index, index + 1]);
  });
  return found;
}

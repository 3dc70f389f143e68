import type { Point } from "./api";
import type { Span } from "./series";

/** The newest texts of one stream, newest first and never more than `capacity`. */
export class Texts {
  private points: Point[] = [];

  constructor(readonly capacity: number) {}

  /** When the first of them was measured, in seconds since 1970. */
  get first(): number | undefined {
    const oldest = this.points.at(-1);
    return oldest && oldest.time / 1000;
  }

  /** All of them, oldest first. */
  all(): Point[] {
    return [...this.points].reverse();
  }

  /** Adds a text at its place in time. One of the same moment that is here already is the same. */
  push(point: Point): void {
    if (typeof point.value !== "string" || !Number.isFinite(point.time)) return;
    let at = 0;
    while (at < this.points.length && this.points[at]!.time > point.time) at += 1;
    for (let same = at; this.points[same]?.time === point.time; same += 1) {
      if (this.points[same]!.value === point.value) return;
    }
    this.points.splice(at, 0, { time: point.time, value: point.value });
    if (this.points.length > this.capacity) this.points.pop();
  }

  /** Takes stored history in place of what is here, and what arrived while it was on its way. */
  restore(history: Point[], live: Point[]): void {
    this.points = history
      .filter(({ value }) => typeof value === "string")
      .slice(-this.capacity)
      .reverse();
    for (const point of live) this.push(point);
  }

  /** Those that were measured in `span`, newest first. */
  within(span: Span | undefined): Point[] {
    if (!span) return this.points;
    const [from, until] = span.map((seconds) => seconds * 1000) as Span;
    return this.points.filter(({ time }) => time >= from && time < until);
  }
}

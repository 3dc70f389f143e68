import { call, LONGEST_PAGE, part, resource, type Point, type Resource, type Stream } from "./api";
import type { Range } from "./ranges";
import { numberOf } from "./value";

/**
 * What the readings of one stretch of time amount to, if they are no texts; `time` is when it begins, in milliseconds since 1970. True
 * counts as 1 and false as 0.
 */
export interface Window {
  time: number;
  count: number;
  min: number;
  max: number;
  first: number | boolean;
  last: number | boolean;
}

const HOUR_MS = 3_600_000;
/** Up to so long all readings are fetched: then there are few, or a person wants to see each. */
const ALL_READINGS_MS = 7 * 24 * HOUR_MS;
/** About as many windows as a chart has columns. */
const WINDOWS = 1_500;

/** How long windows are that a span of so many milliseconds is drawn from: whole hours; of a short one nothing. */
export function windowLength(span: number): number | undefined {
  if (span <= ALL_READINGS_MS) return undefined;
  return Math.ceil(span / HOUR_MS / WINDOWS) * HOUR_MS;
}

/** Points that draw what the windows amount to up to `now`: of each the lowest and the highest, so that no peak is lost. */
export function outline(windows: readonly Window[], length: number, now: number): Point[] {
  return windows.flatMap(({ time, count, min, max, first, last }) => {
    const at = (share: number) => Math.min(time + share * length, Math.max(time, now));
    if (count === 1 || min === max) return [{ time, value: first }];
    const [before, after] = numberOf(first) <= numberOf(last) ? [min, max] : [max, min];
    return [
      { time: at(0.25), value: before },
      { time: at(0.75), value: after },
    ];
  });
}

function fetchWindows(
  [user, id, stream]: [string, Resource["id"], Stream["id"]],
  query: { every: string; from: number; limit: number },
): Promise<Window[]> {
  const { every, from, limit } = query;
  const path = `${resource(user, id)}/streams/${part(stream)}/data`;
  return call<Window[]>(`${path}?aggregate=all&every=${every}&from=${Math.floor(from)}&limit=${limit}`);
}

/** What a long range is drawn from; nothing of a short one, whose readings are fetched themselves. */
export async function longHistory(
  of: [string, Resource["id"], Stream["id"]],
  range: Range,
  now: number,
): Promise<Point[] | undefined> {
  let span = (range.seconds ?? 0) * 1000;
  if (range.seconds === undefined) {
    const [first] = await fetchWindows(of, { every: "1h", from: 0, limit: 1 });
    span = now - (first?.time ?? now);
  }
  const length = windowLength(span);
  if (length === undefined) return undefined;
  const every = `${length / HOUR_MS}h`;
  return outline(await fetchWindows(of, { every, from: now - span, limit: LONGEST_PAGE }), length, now);
}

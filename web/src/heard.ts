import type { Latest } from "./api";
import { html, setText } from "./dom";
import { formatDate, formatDuration, formatWhen } from "./format";
import { DAY_MS } from "./time";

/** So many of its usual intervals without a reading, and a device is silent. */
const SILENT_AFTER_INTERVALS = 3;
/** A device that reports more often than this is late for a while before it is silent. */
const SHORTEST_SILENCE_S = 60;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Clocks that differ by less agree. */
const CLOCKS_AGREE_MS = 5 * MINUTE_MS;

/** What is known of a reading that is ahead. Whose clock was wrong is not. */
const AHEAD = "ahead of this cloud's clock";

/** Whether a time is of the future, however much the clocks of this browser and the cloud differ. */
export function isFuture(time: number, now: number): boolean {
  return time > now + DAY_MS;
}

/** Whether the time of this is ahead of the cloud's clock: of what that was when it arrived, or of what it is now. */
export function isAhead({ time, arrived }: Latest): boolean {
  return time > arrived + CLOCKS_AGREE_MS || isFuture(time, Date.now());
}

/** What is said of the latest reading below its chart, if it is ahead. */
export function aheadWords(latest: Latest): string {
  if (!isAhead(latest)) return "";
  return `The latest reading says that it was measured at ${formatDate(latest.time)}, ${AHEAD}.`;
}

/** Whether this was measured so long before it arrived that it is not what is now. */
function isLate({ time, arrived }: Latest): boolean {
  return time < arrived - HOUR_MS;
}

/** What stands beside the latest value in a list: when it was measured, if that is not when it arrived. */
export function asideWords(latest: Latest): string {
  if (isAhead(latest)) return `of ${formatWhen(latest.time)}, ${AHEAD}`;
  return isLate(latest) ? `of ${formatWhen(latest.time)}` : "";
}

/**
 * What stands beside the latest value of a chart that shows what is `from` a time on: when it was measured, if that is
 * before, or if it arrived late. Of a reading that is ahead, `aheadWords` tell.
 */
export function measuredWords(latest: Latest, from: number): string {
  if (isAhead(latest)) return "";
  return isLate(latest) || latest.time < from ? formatWhen(latest.time) : "";
}

/** Whether this is told in place of the other one: it is not older by arrival, nor by time if both came at once. */
export function isLater(one: Latest, other: Latest): boolean {
  return one.arrived === other.arrived ? one.time >= other.time : one.arrived > other.arrived;
}

/** For how many seconds without a reading a device that usually reports each `interval` seconds is not silent yet. */
export function silentAfter(interval: number): number {
  return Math.max(SHORTEST_SILENCE_S, SILENT_AFTER_INTERVALS * interval);
}

/** When a device was heard, by the cloud's clock. */
export class Heard {
  readonly root = html("p", { class: "heard" }, "Loading");
  private last: number | null | undefined;
  private interval: number | undefined;

  /** Readings arrived then; `null` says that there never were any. */
  at(arrived: number | null): void {
    this.last = arrived === null ? (this.last ?? null) : Math.max(this.last ?? -Infinity, arrived);
    this.tick();
  }

  /** The device usually reports so often, in seconds. If that is not known, no silence is too long. */
  usually(interval: number | undefined): void {
    this.interval = interval;
    this.tick();
  }

  tick(): void {
    if (this.last === undefined) return;
    const { words, silent } = heardWords(this.last, this.interval, Date.now());
    this.root.classList.toggle("silent", silent);
    setText(this.root, words);
  }
}

/** What is said of a device that was heard at `last`, if ever, and usually reports each `interval` seconds. */
export function heardWords(
  last: number | null,
  interval: number | undefined,
  now: number,
): { words: string; silent: boolean } {
  if (last === null) return { words: "No reading yet", silent: false };
  if (isFuture(last, now)) return { words: `Last reading in the future: ${formatDate(last)}`, silent: true };
  const age = Math.max(0, (now - last) / 1000);
  const silent = interval !== undefined && age > silentAfter(interval);
  if (silent) return { words: `Silent for ${formatDuration(age)}`, silent };
  return { words: `Last reading ${age < 1.5 ? "now" : `${formatDuration(age)} ago`}`, silent };
}

import type { Resource } from "./api";
import { html, setText } from "./dom";
import { formatCount, shown } from "./format";
import { isFuture } from "./heard";
import { deviceLink, LINKS } from "./route";

const HOUR_MS = 3_600_000;
/** Devices that are named of those that were never heard. */
const MOST_NAMES = 8;

export interface Counts {
  devices: number;
  hour: number;
  longer: number;
  never: number;
  future: number;
}

/** What is said of the devices in each state. */
export const STATE_WORDS = {
  hour: "Reported in the last hour",
  longer: "Silent for over an hour",
  never: "No reading yet",
  future: "Last reading in the future",
} as const;

export type State = "hour" | "longer" | "never" | "future";

/** Whether a device was heard within the last hour, longer ago, never, or at a time that is still to come. */
export function stateOf({ heard }: Resource, now: number): State {
  if (heard === null) return "never";
  if (isFuture(heard, now)) return "future";
  return heard > now - HOUR_MS ? "hour" : "longer";
}

/** How many devices were heard within the last hour, longer ago, never, and at a time that is still to come. */
export function counts(resources: readonly Resource[], now: number): Counts {
  const sum = { devices: resources.length, hour: 0, longer: 0, never: 0, future: 0 };
  for (const resource of resources) sum[stateOf(resource, now)] += 1;
  return sum;
}

/** All devices in a few numbers, and the names of those that were never heard. */
export class Fleet {
  readonly root = html("div", { class: "fleet", hidden: true });
  private readonly numbers = html("dl");
  private readonly never = html("p", { class: "hint" });

  constructor() {
    this.root.append(this.numbers, this.never);
  }

  update(resources: readonly Resource[]): void {
    this.root.hidden = resources.length === 0;
    const sum = counts(resources, Date.now());
    const all: [string, number][] = [
      ["Devices", sum.devices],
      [STATE_WORDS.hour, sum.hour],
      [STATE_WORDS.longer, sum.longer],
      [STATE_WORDS.never, sum.never],
    ];
    if (sum.future > 0) all.push([STATE_WORDS.future, sum.future]);
    this.numbers.replaceChildren(
      ...all.map(([name, count]) =>
        html("div", {}, html("dt", {}, name), html("dd", {}, formatCount(count))),
      ),
    );
    this.name(resources.filter(({ heard }) => heard === null));
  }

  private name(never: readonly Resource[]): void {
    this.never.hidden = never.length === 0;
    if (never.length === 0) {
      setText(this.never, "");
      return;
    }
    const named = never.slice(0, MOST_NAMES);
    const names = named.flatMap(({ id, label }, index) => [
      index === 0 ? "No reading yet: " : ", ",
      html("a", { href: deviceLink(id) }, shown(label)),
    ]);
    const more = never.length - named.length;
    const rest = more > 0 ? [" and ", html("a", { href: LINKS.devices }, `${formatCount(more)} more`)] : [];
    this.never.replaceChildren(...names, ...rest);
  }
}

import { ApiError } from "./api";
import { html, setText } from "./dom";
import {
  STATE_WORDS,
  fleetApi,
  type Counts,
  type Fleet as Devices,
  type FleetDevice,
  type Group,
} from "./fleet-api";
import { formatCount, formatDuration, shown } from "./format";
import type { Desk } from "./page";
import { deviceLink, devicesLink } from "./route";

/** Silent devices that are named. */
const MOST_SILENT = 8;
/** Tags and folders that are named, those with most that is wrong first. */
const MOST_GROUPS = 8;

/** All devices in a few numbers, and those that need somebody: the longest silent first. */
export class Fleet {
  readonly root = html("div", { class: "fleet", hidden: true });
  private readonly numbers = html("dl");
  private readonly groups = html("p", { class: "hint groups" });
  private readonly silent = html("tbody");
  private readonly table = html(
    "table",
    { class: "list silent-devices" },
    html("caption", {}, "Silent for longest"),
    this.silent,
  );
  private looking = false;

  constructor(private readonly desk: Desk) {
    this.root.append(this.numbers, this.groups, this.table);
  }

  /** Asks the cloud how the devices are. */
  async look(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    try {
      const page = { order: "silence", limit: MOST_SILENT } as const;
      this.show(await fleetApi(this.desk.user.username).look({ state: "silent" }, page));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.desk.fail(error);
    } finally {
      this.looking = false;
    }
  }

  private show({ summary, folders, found, devices }: Devices): void {
    this.root.hidden = summary.devices === 0;
    this.numbers.replaceChildren(
      ...figures(summary).map(([name, count, query]) =>
        html(
          "div",
          {},
          html("dt", {}, name),
          html("dd", {}, html("a", { href: devicesLink(query) }, formatCount(count))),
        ),
      ),
    );
    const wrong = worst(summary.tags, folders);
    this.groups.hidden = wrong.length === 0;
    this.groups.replaceChildren(
      ...wrong.flatMap(({ name, query, words }, index) => [
        index === 0 ? "" : " · ",
        html("a", { href: devicesLink(query) }, shown(name)),
        ` ${words}`,
      ]),
    );
    this.table.hidden = found === 0;
    this.silent.replaceChildren(...devices.map((device) => silentRow(device, Date.now())));
    setText(
      this.table.querySelector("caption")!,
      found > devices.length
        ? `Silent for longest: ${devices.length} of ${formatCount(found)}`
        : "Silent for longest",
    );
  }
}

/** What is counted, how many, and which devices these are. */
export function figures(counts: Counts): [name: string, count: number, query: Record<string, string>][] {
  const all: [string, number, Record<string, string>][] = [
    ["Devices", counts.devices, {}],
    [STATE_WORDS.reporting, counts.reporting, { state: "reporting" }],
    [STATE_WORDS.silent, counts.silent, { state: "silent", order: "silence" }],
    [STATE_WORDS.unheard, counts.unheard, { state: "unheard" }],
    ["With alerts", counts.with_alerts, { with_alerts: "true" }],
  ];
  return all;
}

/** Tags and folders some of whose devices are silent or have alerts, those with most of them first. */
export function worst(
  tags: readonly Group[],
  folders: readonly Group[],
): { name: string; query: Record<string, string>; words: string }[] {
  const bad = ({ silent, with_alerts }: Group) => silent + with_alerts;
  const groups = [
    ...tags.map((group) => ({ group, query: { tags: group.name } as Record<string, string> })),
    ...folders.map((group) => ({ group, query: { folder: group.name } as Record<string, string> })),
  ].filter(({ group }) => bad(group) > 0);
  groups.sort((a, b) => bad(b.group) - bad(a.group));
  return groups.slice(0, MOST_GROUPS).map(({ group, query }) => {
    const parts = [];
    if (group.silent > 0) parts.push(`${formatCount(group.silent)} of ${formatCount(group.devices)} silent`);
    if (group.with_alerts > 0) parts.push(`${formatCount(group.with_alerts)} with alerts`);
    return { name: "folder" in query ? `${group.name}/` : group.name, query, words: parts.join(", ") };
  });
}

function silentRow({ id, label, heard, folder, tags }: FleetDevice, now: number): HTMLElement {
  const silence = formatDuration(Math.max(0, (now - (heard ?? now)) / 1000));
  return html(
    "tr",
    {},
    html("th", { scope: "row" }, html("a", { href: deviceLink(id) }, shown(label))),
    html("td", { class: "heard" }, html("span", { class: "silent" }, `Silent for ${silence}`)),
    html("td", {}, shown([folder, ...tags].filter(Boolean).join(", "))),
  );
}

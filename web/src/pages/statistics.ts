import { arrange, html } from "../dom";
import { formatBytes, formatCount, formatDate, formatDuration } from "../format";
import type { Desk } from "../page";
import { Panel, PanelPage } from "../panel";
import { LINKS } from "../route";
import { statistics, type RefusalCount, type Statistics } from "../statistics-api";

/** The figures are asked for anew so often, in seconds. */
const AGAIN_S = 30;

/** How the cloud is doing, for administrators. */
export class StatisticsPage extends PanelPage {
  constructor(desk: Desk) {
    super("Statistics", AGAIN_S, new StatisticsPanel(desk));
  }
}

class StatisticsPanel extends Panel {
  private readonly groups = new Map<string, HTMLElement>();
  private readonly refusals = html("tbody");
  private readonly table: HTMLElement;
  private readonly nobody = html("p", { class: "note" }, "Nobody was refused since the start.");

  constructor(desk: Desk) {
    super(desk, "statistics", "Statistics");
    this.tools.append(html("a", { class: "secondary", href: LINKS.users }, "Users"));
    const column = (name: string) => html("th", { scope: "col" }, name);
    this.table = html(
      "table",
      { class: "list records refusals" },
      html("thead", {}, html("tr", {}, ...["Refused because", "By", "How often"].map(column))),
      this.refusals,
    );
  }

  protected override async fill(): Promise<void> {
    const told = await statistics();
    const groups = figures(told).map(([name, facts]) => {
      const known = this.groups.get(name) ?? html("dl", { class: "facts" });
      this.groups.set(name, known);
      known.replaceChildren(
        ...facts.map(([what, words]) => html("div", {}, html("dt", {}, what), html("dd", {}, words))),
      );
      return [html("h3", {}, name), known];
    });
    const { refusals } = told.since_start;
    this.table.hidden = refusals.length === 0;
    this.nobody.hidden = refusals.length > 0;
    this.refusals.replaceChildren(...ordered(refusals).map(row));
    arrange(this.body, [
      ...groups.flat(),
      html("h3", {}, "Refusals since the start"),
      this.table,
      this.nobody,
    ]);
  }
}

function row({ scheme, reason, count }: RefusalCount): HTMLElement {
  const cell = (name: string, text: string) => html("td", { "data-name": name }, text);
  return html(
    "tr",
    {},
    html("th", { scope: "row" }, reason.replaceAll("_", " ")),
    cell("By", scheme),
    cell("How often", formatCount(count)),
  );
}

function counted(count: number, what: string): string {
  return `${formatCount(count)} ${what}${count === 1 ? "" : "s"}`;
}

/** The most frequent first. */
export function ordered(refusals: readonly RefusalCount[]): RefusalCount[] {
  return [...refusals].sort((one, other) => other.count - one.count);
}

type Facts = [what: string, words: string][];

/** The figures in words, in their groups, each of which says where they come from. */
export function figures({ time, counts, since_start, files, backups }: Statistics): [string, Facts][] {
  const { users, points } = counts;
  const moment = (ms: number | null, none: string) => (ms === null ? none : formatDate(ms));
  return [
    [
      "What there is",
      [
        [
          "Users",
          `${formatCount(users.all)}: ${counted(users.administrators, "administrator")}, ${counted(users.members, "member")}, ${counted(users.viewers, "viewer")}; ${formatCount(users.disabled)} disabled`,
        ],
        ["Devices", formatCount(counts.devices)],
        ["Streams", formatCount(counts.streams)],
        ["Readings ever stored", formatCount(points.ever)],
        ["of the last 24 hours", formatCount(points.last_day)],
        ["of the last hour", formatCount(points.last_hour)],
      ],
    ],
    [
      "Since the start",
      [
        [
          "Started",
          `${formatDate(since_start.started)}, ${formatDuration((time - since_start.started) / 1000)} ago`,
        ],
        ["Sessions open", formatCount(since_start.sessions)],
        ["Live feeds", formatCount(since_start.live_feeds)],
        ["Requests", formatCount(since_start.requests)],
        [
          "Handshakes",
          `${formatCount(since_start.handshakes)}, ${formatCount(since_start.failed_handshakes)} failed`,
        ],
        [
          "Faults",
          since_start.faults === 0 ? "none" : `${formatCount(since_start.faults)}: the log says why`,
        ],
      ],
    ],
    [
      "On the disk",
      [
        ["Database", formatBytes(files.database)],
        ["still to be written into it", formatBytes(files.database_log)],
        ["Record", formatBytes(files.record)],
        ["Other files", formatBytes(files.other)],
        ["Last backup", moment(backups.last, "never")],
        ["Backups by itself", backups.count === null ? "none are taken" : formatCount(backups.count)],
        ...(backups.oldest === null ? [] : ([["the oldest of", formatDate(backups.oldest)]] as Facts)),
      ],
    ],
  ];
}

import { call, resource as resourcePath, type Resource } from "./api";
import { html, setText } from "./dom";
import { formatCount, formatDate, shown } from "./format";
import type { Desk } from "./page";
import { button, Panel } from "./panel";

/** Something that happened to a device, once or several times. Times are milliseconds since 1970. */
export interface LogLine {
  kind: string;
  detail: string;
  /** Whether whoever did it has not proved that they may. */
  stranger: boolean;
  first: number;
  last: number;
  count: number;
}

/** Lines shown at first, and more with each step. */
const STEP = 10;

/** What happened to a device: what was refused, what failed, and who changed what. */
export class DeviceLogPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly empty = html("p", { class: "note" });
  private readonly table: HTMLElement;
  private readonly more = button("", () => this.showMore(), "secondary more");
  private lines: LogLine[] = [];
  private most = STEP;

  constructor(
    desk: Desk,
    private readonly device: Resource,
  ) {
    super(
      desk,
      "device-log",
      "What happened",
      "The newest 100 things, and 20 that strangers did: anybody can have done those, who knows the device's name.",
    );
    const column = (name: string) => html("th", { scope: "col" }, name);
    this.table = html(
      "table",
      { class: "list records device-log-lines" },
      html("thead", {}, html("tr", {}, ...["What", "More", "Last", "How often"].map(column))),
      this.rows,
    );
    this.tools.append(button("Refresh", () => void this.load(), "secondary", "Refresh what happened"));
    this.body.append(this.empty, this.table, this.more);
  }

  protected override async fill(): Promise<void> {
    this.lines = await call<LogLine[]>(`${resourcePath(this.desk.user.username, this.device.id)}/log`);
    this.show();
  }

  private showMore(): void {
    this.most += STEP;
    this.show();
  }

  private show(): void {
    this.table.hidden = this.lines.length === 0;
    setText(this.empty, this.lines.length === 0 ? "Nothing that would have to be told." : "");
    this.rows.replaceChildren(...this.lines.slice(0, this.most).map(row));
    this.more.hidden = this.lines.length <= this.most;
    setText(this.more, `Show ${formatCount(Math.min(STEP, this.lines.length - this.most))} more`);
  }
}

function row(line: LogLine): HTMLElement {
  const cell = (name: string, ...content: (Node | string)[]) => html("td", { "data-name": name }, ...content);
  const { last, detail } = line;
  return html(
    "tr",
    { class: line.stranger ? "stranger" : undefined },
    html("th", { scope: "row" }, whatWords(line)),
    cell("More", shown(detail)),
    cell("Last", html("time", { datetime: new Date(last).toISOString() }, formatDate(last))),
    cell("How often", oftenWords(line)),
  );
}

const KINDS: Record<string, string> = {
  post_refused: "Post refused",
  left_out: "Readings left out",
  poll_failed: "Poll failed",
  command_done: "Command done",
  command_refused: "Command refused",
  command_unanswered: "Command not answered",
  handshake_failed: "Handshake failed",
  refused: "Refused",
};

/** What happened, and whether a stranger did it. */
export function whatWords({ kind, stranger }: LogLine): string {
  const words = KINDS[kind] ?? kind.replaceAll("_", " ");
  const what = words.charAt(0).toUpperCase() + words.slice(1);
  return stranger ? `${what} (a stranger)` : what;
}

/** How often, and since when if that is more than once. */
export function oftenWords({ count, first }: LogLine): string {
  return count === 1 ? "once" : `${formatCount(count)} times since ${formatDate(first)}`;
}

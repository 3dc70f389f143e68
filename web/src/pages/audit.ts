import { api, ApiError, type AuditLine } from "../api";
import { html, setText } from "../dom";
import { formatCount, formatDate } from "../format";
import type { Desk, Page } from "../page";

const STEP = 100;
/** The cloud gives no more at once. */
const MOST = 1_000;

const EVERY = "Every reason";

/** Who was refused, where and why; for administrators. */
export class AuditPage implements Page {
  readonly root: HTMLElement;
  readonly title = "Audit";
  private readonly count = html("p", { class: "count", role: "status" }, "Loading.");
  private readonly reason = html("select", { id: "audit-reason" }, html("option", { value: "" }, EVERY));
  private readonly body = html("tbody");
  private readonly table: HTMLElement;
  private readonly more = html(
    "button",
    { type: "button", class: "secondary more", hidden: true },
    "Load more",
  );
  private lines: AuditLine[] = [];
  private limit = STEP;
  private stopped = false;

  constructor(private readonly desk: Desk) {
    const again = html("button", { type: "button", class: "secondary" }, "Refresh");
    const column = (name: string) => html("th", { scope: "col" }, name);
    this.table = html(
      "table",
      { class: "list audit", hidden: true },
      html("thead", {}, html("tr", {}, ...["Time", "Reason", "Door", "From", "Who", "What"].map(column))),
      this.body,
    );
    this.root = html(
      "section",
      { class: "panel", "aria-labelledby": "audit-heading" },
      html(
        "header",
        { class: "panel-head" },
        html("h2", { id: "audit-heading" }, "Refusals"),
        this.count,
        html("label", { for: "audit-reason", class: "spoken" }, "Reason"),
        this.reason,
        again,
      ),
      this.table,
      this.more,
    );
    this.reason.addEventListener("change", () => this.show());
    again.addEventListener("click", () => void this.load());
    this.more.addEventListener("click", () => {
      this.limit = Math.min(MOST, this.limit + STEP);
      void this.load();
    });
    void this.load();
  }

  stop(): void {
    this.stopped = true;
  }

  private async load(): Promise<void> {
    try {
      this.lines = await api.audit(this.limit);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (!this.stopped)
        setText(this.count, `The record could not be loaded. ${error.message} Use Refresh to try again.`);
      this.desk.fail(error);
      return;
    }
    if (!this.stopped) this.show();
  }

  private show(): void {
    const chosen = this.reason.value;
    const reasons = reasonsOf(this.lines);
    if (chosen !== "" && !reasons.includes(chosen)) reasons.push(chosen);
    this.reason.replaceChildren(
      html("option", { value: "" }, EVERY),
      ...reasons.map((reason) => html("option", { value: reason }, words(reason))),
    );
    this.reason.value = chosen;
    const shown = this.lines.filter((line) => chosen === "" || line.reason === chosen);
    this.body.replaceChildren(...shown.map(row));
    this.table.hidden = shown.length === 0;
    setText(
      this.count,
      shown.length === 0 ? "Nobody was refused." : `The newest ${formatCount(shown.length)}, newest first`,
    );
    this.more.hidden = this.lines.length < this.limit || this.limit >= MOST;
  }
}

function row(line: AuditLine): HTMLElement {
  const when = html("time", { datetime: new Date(line.time).toISOString() }, formatDate(line.time));
  if (line.lost !== undefined) {
    const lost = `${formatCount(line.lost)} more refusals came too fast to be written down.`;
    return html("tr", {}, html("td", {}, when), html("td", { colspan: 5 }, lost));
  }
  const cell = (name: string, text: string | undefined) =>
    html("td", { "data-name": name, class: text ? undefined : "nothing" }, text ?? "");
  return html(
    "tr",
    {},
    html("td", {}, when),
    html("td", {}, html("strong", {}, words(line.reason ?? ""))),
    cell("Door", line.door),
    cell("From", line.from),
    cell("Who", line.who),
    cell("What", line.what),
  );
}

/** The reasons that occur, each once, in alphabetical order. */
export function reasonsOf(lines: readonly AuditLine[]): string[] {
  return [...new Set(lines.flatMap((line) => line.reason ?? []))].sort();
}

/** A reason is one word with underscores. */
function words(reason: string): string {
  return reason.replaceAll("_", " ").replace("anothers", "another user's");
}

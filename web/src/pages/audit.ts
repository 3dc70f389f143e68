import { api, ApiError, type AuditLine } from "../api";
import { html, setText } from "../dom";
import { formatCount, formatDate } from "../format";
import type { Desk, Page } from "../page";

const STEP = 100;

const EVERY = "Every event";

/** Who was refused, where and why, and who did what; for administrators. */
export class AuditPage implements Page {
  readonly root: HTMLElement;
  readonly title = "Audit";
  private readonly count = html("p", { class: "count", role: "status" }, "Loading.");
  private readonly reason = html("select", { id: "audit-reason" }, html("option", { value: "" }, EVERY));
  private readonly record = html(
    "select",
    { id: "audit-record" },
    html("option", { value: "false" }, "Refusals and actions"),
    html("option", { value: "true" }, "Actions alone, further back"),
  );
  private readonly search = html("input", {
    type: "search",
    id: "audit-search",
    placeholder: "From, who or what",
    autocomplete: "off",
    spellcheck: "false",
  });
  private readonly download = html("a", { class: "secondary", download: "audit.jsonl" }, "Download");
  private readonly body = html("tbody");
  private readonly table: HTMLElement;
  private readonly more = html(
    "button",
    { type: "button", class: "secondary more", hidden: true },
    "Load more",
  );
  private lines: AuditLine[] = [];
  /** The last page was a whole one. */
  private hasMore = false;
  private stopped = false;
  /** Grows with each page that is asked for: of two, the one asked for last counts. */
  private turn = 0;

  constructor(private readonly desk: Desk) {
    const again = html("button", { type: "button", class: "secondary" }, "Refresh");
    const column = (name: string) => html("th", { scope: "col" }, name);
    this.table = html(
      "table",
      { class: "list audit", hidden: true },
      html("thead", {}, html("tr", {}, ...["Time", "Event", "Scheme", "From", "Who", "What"].map(column))),
      this.body,
    );
    this.root = html(
      "section",
      { class: "panel", "aria-labelledby": "audit-heading" },
      html(
        "header",
        { class: "panel-head" },
        html("h2", { id: "audit-heading" }, "Refusals and actions"),
        this.count,
        html(
          "div",
          { class: "tools" },
          html("label", { for: "audit-record", class: "spoken" }, "Record"),
          this.record,
          html("label", { for: "audit-reason", class: "spoken" }, "Events"),
          this.reason,
          html("label", { for: "audit-search", class: "spoken" }, "Search in what is loaded"),
          this.search,
        ),
        again,
        this.download,
      ),
      this.table,
      this.more,
    );
    this.record.addEventListener("change", () => {
      this.reason.value = "";
      void this.load();
    });
    this.reason.addEventListener("change", () => this.show());
    this.search.addEventListener("input", () => this.show());
    again.addEventListener("click", () => void this.load());
    this.more.addEventListener("click", () => void this.load(this.lines.at(-1)?.id));
    void this.load();
  }

  stop(): void {
    this.stopped = true;
  }

  /** The newest lines, or further ones before the line with this id. */
  private async load(before?: number): Promise<void> {
    const turn = ++this.turn;
    const actions = this.record.value === "true";
    this.download.href = api.auditUrl(actions);
    try {
      const page = await api.audit(STEP, actions, before);
      if (turn !== this.turn) return;
      this.lines = before === undefined ? page : [...this.lines, ...page];
      this.hasMore = page.length === STEP;
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
    const events = eventsOf(this.lines);
    if (chosen !== "" && !events.includes(chosen)) events.push(chosen);
    this.reason.replaceChildren(
      html("option", { value: "" }, EVERY),
      ...events.map((event) => html("option", { value: event }, words(event))),
    );
    this.reason.value = chosen;
    const shown = matchingLines(this.lines, this.search.value).filter(
      (line) => chosen === "" || eventOf(line) === chosen,
    );
    this.body.replaceChildren(...shown.map(row));
    this.table.hidden = shown.length === 0;
    setText(
      this.count,
      this.lines.length === 0
        ? "Nothing is recorded."
        : shown.length === this.lines.length
          ? `The newest ${formatCount(shown.length)}, newest first`
          : `${formatCount(shown.length)} of the newest ${formatCount(this.lines.length)}`,
    );
    this.more.hidden = !this.hasMore;
  }
}

function row(line: AuditLine): HTMLElement {
  const when = html("time", { datetime: new Date(line.time).toISOString() }, formatDate(line.time));
  if (line.lost !== undefined) {
    const lost = `${formatCount(line.lost)} more came too fast to be written down.`;
    return html("tr", {}, html("td", {}, when), html("td", { colspan: 5 }, lost));
  }
  const cell = (name: string, text: string | undefined) =>
    html("td", { "data-name": name, class: text ? undefined : "nothing" }, text ?? "");
  return html(
    "tr",
    {},
    html("td", {}, when),
    html(
      "td",
      { class: line.reason === undefined ? undefined : "refused" },
      html("strong", {}, words(eventOf(line) ?? "")),
    ),
    cell("Scheme", line.scheme),
    cell("From", line.from),
    cell("Who", line.who),
    cell("What", line.what),
  );
}

/** What happened, in one word with underscores. */
function eventOf({ reason, action }: AuditLine): string | undefined {
  return reason ?? action;
}

/** The lines in which the address, the name or the path contains `text`. */
export function matchingLines(lines: readonly AuditLine[], text: string): AuditLine[] {
  const word = text.trim().toLowerCase();
  const says = ({ from, who, what }: AuditLine) => `${from ?? ""} ${who ?? ""} ${what ?? ""}`.toLowerCase();
  return lines.filter((line) => says(line).includes(word));
}

/** The events that occur, each once, in alphabetical order. */
export function eventsOf(lines: readonly AuditLine[]): string[] {
  return [...new Set(lines.flatMap((line) => eventOf(line) ?? []))].sort();
}

function words(event: string): string {
  return event.replaceAll("_", " ").replace("anothers", "another user's");
}

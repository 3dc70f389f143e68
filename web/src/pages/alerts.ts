import { alertApi, MOST_ALERTS, type Alert, type AlertApi, type AlertState } from "../alert-api";
import { alertPages, moment, severityBadge } from "../alerts/parts";
import { byUrgency, exactly, measured } from "../alerts/words";
import { ApiError, type Resource } from "../api";
import { html, setText } from "../dom";
import { choice } from "../field";
import { formatCount, formatDuration, shown } from "../format";
import type { Desk, Page } from "../page";
import { button, Panel, record, table } from "../panel";
import { deviceLink, LINKS } from "../route";

/** Alerts of the history that are asked for at a time. */
const STEP = 100;
/** How long an alert has been open is said anew so often, in seconds. */
const AGE_S = 10;

/** What is wrong now, and what was. */
export class AlertsPage implements Page {
  readonly title = "Alerts";
  readonly root: HTMLElement;
  private readonly open: OpenPanel;
  private readonly history: HistoryPanel;
  private ticks = 0;

  constructor(desk: Desk) {
    const api = alertApi(desk.user.username);
    this.history = new HistoryPanel(desk, api);
    this.open = new OpenPanel(desk, api, () => void this.history.again());
    this.root = html("div", { class: "account" }, alertPages("alerts"), this.open.root, this.history.root);
    void this.open.load();
    void this.history.load();
  }

  devices(resources: Resource[]): void {
    const links = new Map(resources.map(({ id, label }) => [label, deviceLink(id)]));
    this.open.link(links);
    this.history.link(links);
  }

  /** Those that somebody has acknowledged may be over, too. */
  alerts(): void {
    void this.open.load();
  }

  tick(): void {
    this.ticks += 1;
    if (this.ticks % AGE_S === 0) this.open.age();
  }

  stop(): void {
    this.open.stop();
    this.history.stop();
  }
}

/** A device by its name, as a link if it is there. */
function device(label: string, links: ReadonlyMap<string, string>): HTMLElement | string {
  const href = links.get(label);
  return href === undefined ? shown(label) : html("a", { href }, shown(label));
}

/** Alerts that are not over: those that nobody has acknowledged, and those that somebody sees to. */
class OpenPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly count = html("p", { class: "count", role: "status" });
  private readonly table = table("open", ["Alert", "Device", "Measured", "Since", "Acknowledged"], this.rows);
  private readonly none = html(
    "p",
    { class: "note" },
    "Nothing is wrong. What is watched, ",
    html("a", { href: LINKS.rules }, "rules"),
    " say.",
  );
  private readonly problem = html("p", { class: "problem", role: "alert" });
  private ages: [HTMLElement, number][] = [];
  private alerts: Alert[] = [];
  private known: string | undefined;
  private links: ReadonlyMap<string, string> = new Map();

  constructor(
    desk: Desk,
    private readonly api: AlertApi,
    /** Alerts have come, gone or been acknowledged since they were shown last. */
    private readonly changed: () => void,
  ) {
    super(desk, "open-alerts", "Open alerts");
    this.body.append(this.count, this.problem, this.none, this.table);
  }

  link(links: ReadonlyMap<string, string>): void {
    this.links = links;
    this.show();
  }

  age(): void {
    for (const [element, since] of this.ages) setText(element, ageWords(since));
  }

  protected override async fill(): Promise<void> {
    const [open, seen] = await Promise.all([
      this.api.alerts(MOST_ALERTS, "open"),
      this.api.alerts(MOST_ALERTS, "acknowledged"),
    ]);
    // One that was acknowledged between the two answers is in both.
    const both = new Map([...open, ...seen].map((alert) => [alert.id, alert]));
    this.alerts = byUrgency([...both.values()]);
    const known = JSON.stringify(this.alerts);
    // Rows that stay as they are keep the focus.
    if (known !== this.known) {
      this.show();
      if (this.known !== undefined) this.changed();
    }
    this.known = known;
    this.desk.countAlerts(this.alerts.filter(({ state }) => state === "open").length);
  }

  private show(): void {
    const focused = document.activeElement?.getAttribute("aria-label");
    const open = this.alerts.filter(({ state }) => state === "open").length;
    const seen = this.alerts.length - open;
    setText(
      this.count,
      this.alerts.length === 0 ? "" : `${formatCount(open)} open, ${formatCount(seen)} acknowledged`,
    );
    this.none.hidden = this.alerts.length > 0;
    this.table.hidden = this.alerts.length === 0;
    this.ages = [];
    this.rows.replaceChildren(...this.alerts.map((alert) => this.row(alert)));
    for (const button of this.rows.querySelectorAll("button")) {
      if (focused && button.getAttribute("aria-label") === focused) button.focus();
    }
  }

  private row(alert: Alert): HTMLElement {
    const name = shown(alert.label);
    const age = html("small", {}, ageWords(alert.opened));
    this.ages.push([age, alert.opened]);
    const seen: (Node | string)[] =
      alert.acknowledged === null
        ? ["not yet"]
        : [`by ${shown(alert.acknowledged_by ?? "")}, `, moment(alert.acknowledged)];
    const row = record(
      html("span", {}, severityBadge(alert.severity), " ", name),
      [
        ["Device", device(alert.resource, this.links)],
        ["Measured", shown(measured(alert))],
        ["Since", moment(alert.opened), " ", age],
        ["Acknowledged", ...seen],
      ],
      alert.state === "open" && this.desk.mayChange
        ? [button("Acknowledge", () => void this.acknowledge(alert), "quiet", `Acknowledge ${name}`)]
        : [],
    );
    row.classList.toggle("seen", alert.state !== "open");
    return row;
  }

  private async acknowledge(alert: Alert): Promise<void> {
    setText(this.problem, "");
    try {
      await this.api.acknowledge(alert.id);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setText(this.problem, error.words);
      this.desk.fail(error);
    }
    await this.load();
  }
}

function ageWords(since: number): string {
  return `(${formatDuration((Date.now() - since) / 1000)})`;
}

const STATES: readonly (readonly [AlertState | "", string])[] = [
  ["", "All"],
  ["open", "Open"],
  ["acknowledged", "Acknowledged"],
  ["cleared", "Cleared"],
];

/** The alerts in which the rule, the device or the stream contains `text`, and which matter as much as `severity` says. */
export function matchingAlerts(alerts: readonly Alert[], text: string, severity: string): Alert[] {
  const word = text.trim().toLowerCase();
  const says = ({ label, resource, stream }: Alert) => `${label} ${resource} ${stream ?? ""}`.toLowerCase();
  return alerts.filter(
    (alert) => (severity === "" || alert.severity === severity) && says(alert).includes(word),
  );
}

/** All alerts, the newest first. */
class HistoryPanel extends Panel {
  private readonly state = choice("alert-state", STATES);
  private readonly severity = choice("alert-severity", [
    ["", "All severities"],
    ["critical", "Critical"],
    ["warning", "Warning"],
    ["information", "Information"],
  ]);
  private readonly search = html("input", {
    type: "search",
    id: "alert-search",
    placeholder: "Rule, device or stream",
    autocomplete: "off",
  });
  private readonly count = html("p", { class: "count", role: "status" });
  private readonly rows = html("tbody");
  private readonly table = html(
    "table",
    { class: "list records history" },
    html(
      "thead",
      {},
      html(
        "tr",
        {},
        ...["Alert", "Device", "Measured", "Opened", "Acknowledged", "Cleared"].map((name) =>
          html("th", { scope: "col" }, name),
        ),
      ),
    ),
    this.rows,
  );
  private readonly more = button("Load more", () => void this.loadMore(), "secondary more");
  private alerts: Alert[] = [];
  private hasMore = false;
  private links: ReadonlyMap<string, string> = new Map();
  /** Grows with each page that is asked for: of two, the one asked for last counts. */
  private turn = 0;

  constructor(
    desk: Desk,
    private readonly api: AlertApi,
  ) {
    super(desk, "alert-history", "History");
    const label = (control: HTMLElement, words: string) =>
      html("label", { for: control.id, class: "spoken" }, words);
    this.tools.append(
      label(this.state, "State"),
      this.state,
      label(this.severity, "Severity"),
      this.severity,
      label(this.search, "Search in what is loaded"),
      this.search,
    );
    this.body.append(this.count, this.table, this.more);
    this.state.addEventListener("change", () => void this.load());
    this.severity.addEventListener("change", () => this.show());
    this.search.addEventListener("input", () => this.show());
  }

  link(links: ReadonlyMap<string, string>): void {
    this.links = links;
    this.show();
  }

  /** Something has changed: the newest are asked for again, unless a person reads on behind them. */
  async again(): Promise<void> {
    if (this.alerts.length <= STEP) await this.load();
  }

  protected override async fill(): Promise<void> {
    await this.ask();
  }

  private async loadMore(): Promise<void> {
    this.more.disabled = true;
    try {
      await this.ask(this.alerts.at(-1)?.id);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setText(this.count, `More could not be loaded. ${error.words}`);
      this.desk.fail(error);
    } finally {
      this.more.disabled = false;
    }
  }

  private async ask(before?: number): Promise<void> {
    const turn = ++this.turn;
    const state = STATES.find(([value]) => value === this.state.value)?.[0] || undefined;
    const page = await this.api.alerts(STEP, state, before);
    if (turn !== this.turn) return;
    this.alerts = before === undefined ? page : [...this.alerts, ...page];
    this.hasMore = page.length === STEP;
    this.show();
  }

  private show(): void {
    const found = matchingAlerts(this.alerts, this.search.value, this.severity.value);
    const all = formatCount(this.alerts.length);
    setText(
      this.count,
      this.alerts.length === 0
        ? "No alert yet."
        : found.length === this.alerts.length
          ? `The newest ${all}`
          : `${formatCount(found.length)} of the newest ${all}`,
    );
    this.table.hidden = found.length === 0;
    this.more.hidden = !this.hasMore;
    this.rows.replaceChildren(...found.map((alert) => this.row(alert)));
  }

  private row(alert: Alert): HTMLElement {
    const cell = (name: string, ...content: (Node | string)[]) =>
      html("td", { "data-name": name }, ...content);
    const cleared: (Node | string)[] = alert.cleared === null ? [] : [moment(alert.cleared)];
    if (alert.cleared_value !== null) cleared.push(` at ${exactly(alert.cleared_value, alert.unit)}`);
    const seen: (Node | string)[] =
      alert.acknowledged === null
        ? []
        : [moment(alert.acknowledged), ` by ${shown(alert.acknowledged_by ?? "")}`];
    return html(
      "tr",
      {},
      html("th", { scope: "row" }, severityBadge(alert.severity), " ", shown(alert.label)),
      cell("Device", device(alert.resource, this.links)),
      cell("Measured", shown(measured(alert))),
      cell("Opened", moment(alert.opened)),
      cell("Acknowledged", ...seen),
      cell("Cleared", ...cleared),
    );
  }
}

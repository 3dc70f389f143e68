import { AddDevice } from "../add-device";
import type { ApiError, LivePoint, Resource } from "../api";
import { DeviceRow } from "../device-row";
import { arrange, html, setText, tryAgain } from "../dom";
import { STATE_WORDS, stateOf } from "../fleet";
import { formatCount } from "../format";
import { inOrder } from "../network";
import type { Desk, Page } from "../page";

/** Rows shown at first, and more with each step. */
const STEP = 100;
/** All devices of a user, found by name; here new ones come in. */
export class DevicesPage implements Page {
  readonly root: HTMLElement;
  readonly title = "Devices";
  private readonly search = html("input", {
    type: "search",
    id: "device-search",
    placeholder: "Name, identity or mode",
    autocomplete: "off",
    spellcheck: "false",
  });
  private readonly count = html("p", { class: "count", role: "status" }, "Loading your devices.");
  private readonly body = html("tbody");
  private readonly table: HTMLElement;
  private readonly more = html("button", { type: "button", class: "secondary more", hidden: true });
  private readonly rows = new Map<string, DeviceRow>();
  private readonly inView: IntersectionObserver;
  /** None before the list is there. */
  private all: Resource[] | undefined;
  private readonly order = html(
    "select",
    { id: "device-order" },
    html("option", { value: "name" }, "By name"),
    html("option", { value: "silent" }, "Longest silent first"),
    html("option", { value: "heard" }, "Latest reading first"),
  );
  private readonly state = html(
    "select",
    { id: "device-state" },
    html("option", { value: "" }, "All devices"),
    ...Object.entries(STATE_WORDS).map(([value, words]) => html("option", { value }, words)),
  );
  private readonly note = html("div", { class: "note", role: "status", hidden: true });
  private readonly tools: HTMLElement;
  private most = STEP;
  private adding: AddDevice | undefined;

  constructor(private readonly desk: Desk) {
    const add = html("button", { type: "button", class: "primary", hidden: !desk.mayChange }, "Add a device");
    const column = (name: string) => html("th", { scope: "col" }, name);
    this.table = html(
      "table",
      { class: "list devices", hidden: true },
      html(
        "thead",
        {},
        html("tr", {}, column("Device"), column("Security"), column("Latest"), column("Last reading")),
      ),
      this.body,
    );
    this.tools = html(
      "div",
      { class: "tools", hidden: true },
      html("label", { for: "device-state", class: "spoken" }, "State"),
      this.state,
      html("label", { for: "device-order", class: "spoken" }, "Order"),
      this.order,
      html("label", { for: "device-search", class: "spoken" }, "Search"),
      this.search,
    );
    this.root = html(
      "section",
      { class: "panel", "aria-labelledby": "devices-heading" },
      html(
        "header",
        { class: "panel-head" },
        html("h2", { id: "devices-heading" }, "Devices"),
        this.count,
        this.tools,
        add,
      ),
      this.note,
      this.table,
      this.more,
    );
    this.inView = new IntersectionObserver((entries) => this.look(entries), { rootMargin: "200px" });
    for (const control of [this.search, this.order, this.state]) {
      control.addEventListener("input", () => {
        this.most = STEP;
        this.arrange();
      });
    }
    this.more.addEventListener("click", () => {
      this.most += STEP;
      this.arrange();
    });
    add.addEventListener("click", () => this.add());
  }

  devices(resources: Resource[]): void {
    this.all = inOrder(resources);
    for (const resource of resources) this.rows.get(String(resource.id))?.again(resource);
    this.arrange();
  }

  noDevices(error: ApiError): void {
    setText(this.count, "");
    this.note.hidden = false;
    this.note.replaceChildren(
      `Your devices could not be loaded. ${error.words} `,
      tryAgain(() => void this.desk.refresh()),
    );
  }

  point(point: LivePoint): void {
    this.rows.get(String(point.resource))?.add(point);
    void this.adding?.point(point);
  }

  reopened(): void {
    for (const row of this.rows.values()) row.forget();
    this.arrange();
  }

  tick(): void {
    for (const row of this.rows.values()) row.tick();
  }

  stop(): void {
    this.inView.disconnect();
  }

  /** What there is to do while there are no devices. */
  private invitation(): HTMLElement[] {
    const command = (line: string) => html("code", {}, line);
    return [
      html(
        "p",
        {},
        "Add your first device here: it gets a name and a key, and the page shows the line that posts a reading.",
      ),
      html("p", {}, "At the cloud's own machine: ", command("sixlock keys psk --resource NAME")),
      html("p", {}, "Many at once, from a file: ", command("sixlock keys import FILE.csv")),
    ];
  }

  private look(entries: IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      for (const row of this.rows.values()) if (row.root === target) void row.look();
    }
  }

  private add(): void {
    this.adding = new AddDevice(this.desk);
  }

  /** The devices that are searched for, in the state that is chosen. */
  private chosen(all: Resource[]): Resource[] {
    const state = this.state.value;
    const now = Date.now();
    return matching(all, this.search.value).filter(
      (resource) => state === "" || stateOf(resource, now) === state,
    );
  }

  private arrange(): void {
    const { all } = this;
    if (!all) return;
    const found = ordered(this.chosen(all), this.order.value);
    const shown = found.slice(0, this.most);
    const wanted = new Set(shown.map((resource) => String(resource.id)));
    for (const [id, row] of this.rows) {
      if (wanted.has(id)) continue;
      this.inView.unobserve(row.root);
      this.rows.delete(id);
    }
    const rows = shown.map((resource) => {
      const id = String(resource.id);
      const row = this.rows.get(id) ?? new DeviceRow(this.desk, resource);
      this.rows.set(id, row);
      return row;
    });
    arrange(
      this.body,
      rows.map((row) => row.root),
    );
    for (const row of rows) {
      // Observed anew, so that a row that is to be read again is looked at again.
      this.inView.unobserve(row.root);
      this.inView.observe(row.root);
    }
    this.table.hidden = shown.length === 0;
    this.tools.hidden = all.length === 0;
    this.note.hidden = all.length > 0;
    if (all.length === 0) this.note.replaceChildren(...this.invitation());
    const count = formatCount(all.length);
    setText(
      this.count,
      all.length === 0
        ? "None yet"
        : found.length === all.length
          ? count
          : `${formatCount(found.length)} of ${count}`,
    );
    this.more.hidden = found.length <= shown.length;
    setText(this.more, `Show ${formatCount(Math.min(STEP, found.length - shown.length))} more`);
  }
}

/** In the order that was chosen; what was never heard comes last of those last heard, first of those unheard. */
export function ordered(resources: Resource[], order: string): Resource[] {
  if (order === "name") return resources;
  const sign = order === "heard" ? -1 : 1;
  const heard = (resource: Resource) => resource.heard ?? 0;
  return [...resources].sort((a, b) => sign * (heard(a) - heard(b)));
}

/** The resources whose name, identity or mode contain every word of `text`. */
export function matching(resources: Resource[], text: string): Resource[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return resources;
  return resources.filter(({ label, identity, mode }) => {
    const known = `${label} ${identity ?? ""} ${mode}`.toLowerCase();
    return words.every((word) => known.includes(word));
  });
}

import { AddDevice } from "../add-device";
import { api, type LivePoint, type Resource, type Stream } from "../api";
import { arrange, html, setText } from "../dom";
import { formatCount, formatValue, unitSymbol } from "../format";
import { Heard } from "../heard";
import { ModeBadge } from "../mode-badge";
import { inOrder } from "../network";
import type { Desk, Page } from "../page";
import { deviceLink } from "../route";

/** Rows shown at first, and more with each step. */
const STEP = 100;
/** Quantities whose latest values a row shows. */
const MOST_VALUES = 4;

/** One line of the list: who it is, how it is protected, and what it said last. */
class Row {
  readonly root: HTMLTableRowElement;
  private readonly heard = new Heard();
  private readonly values = html("td", { class: "latest" });
  private readonly badge = new ModeBadge();
  private readonly outputs = new Map<string, { output: HTMLElement; stream: Stream }>();
  private state: "unread" | "reading" | "read" = "unread";

  constructor(
    private readonly desk: Desk,
    readonly resource: Resource,
  ) {
    this.badge.update(resource.mode);
    this.root = html(
      "tr",
      {},
      html("th", { scope: "row" }, html("a", { href: deviceLink(resource.id) }, resource.label)),
      html("td", {}, this.badge.root),
      this.values,
      html("td", {}, this.heard.root),
    );
  }

  /** Fetches what the device said last, once it is looked at. */
  async look(): Promise<void> {
    if (this.state !== "unread") return;
    this.state = "reading";
    const { username } = this.desk.user;
    try {
      const streams = (await api.streams(username, this.resource.id)).slice(0, MOST_VALUES);
      const latest = await Promise.all(
        streams.map((stream) => api.data(username, this.resource.id, stream.id, { limit: 1 })),
      );
      this.outputs.clear();
      this.values.replaceChildren();
      streams.forEach((stream, index) => {
        const output = html("span", { class: "value" });
        this.outputs.set(String(stream.id), { output, stream });
        this.values.append(output);
        const point = latest[index]![0];
        if (point) this.say(String(stream.id), point.time, point.value);
      });
      this.heard.settled();
      this.state = "read";
    } catch (error) {
      this.state = "unread";
      this.desk.fail(error);
    }
  }

  add(point: LivePoint): void {
    if (this.outputs.has(String(point.stream))) {
      this.say(String(point.stream), point.time, point.value);
    } else if (this.state === "read" && this.outputs.size < MOST_VALUES) {
      this.state = "unread";
      void this.look();
    } else {
      this.heard.at(point.time);
    }
  }

  again(): void {
    if (this.state === "read") this.state = "unread";
  }

  tick(): void {
    this.heard.tick();
  }

  private say(id: string, time: number, value: number): void {
    const { output, stream } = this.outputs.get(id)!;
    output.title = stream.label;
    output.replaceChildren(
      html("span", { class: "spoken" }, `${stream.label} `),
      `${formatValue(value)} ${unitSymbol(stream.unit)}`.trim(),
    );
    this.heard.at(time);
  }
}

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
  private readonly rows = new Map<string, Row>();
  private readonly inView: IntersectionObserver;
  private all: Resource[] = [];
  private most = STEP;
  private adding: AddDevice | undefined;

  constructor(private readonly desk: Desk) {
    const add = html("button", { type: "button", class: "primary" }, "Add a device");
    const column = (name: string) => html("th", { scope: "col" }, name);
    this.table = html(
      "table",
      { class: "list devices", hidden: true },
      html(
        "thead",
        {},
        html("tr", {}, column("Device"), column("Security"), column("Latest"), column("Heard")),
      ),
      this.body,
    );
    this.root = html(
      "section",
      { class: "panel", "aria-labelledby": "devices-heading" },
      html(
        "header",
        { class: "panel-head" },
        html("h2", { id: "devices-heading" }, "Devices"),
        this.count,
        html("label", { for: "device-search", class: "spoken" }, "Search"),
        this.search,
        add,
      ),
      this.table,
      this.more,
    );
    this.inView = new IntersectionObserver((entries) => this.look(entries), { rootMargin: "200px" });
    this.search.addEventListener("input", () => {
      this.most = STEP;
      this.arrange();
    });
    this.more.addEventListener("click", () => {
      this.most += STEP;
      this.arrange();
    });
    add.addEventListener("click", () => {
      this.adding = new AddDevice(this.desk);
    });
  }

  devices(resources: Resource[]): void {
    this.all = inOrder(resources);
    this.arrange();
  }

  point(point: LivePoint): void {
    this.rows.get(String(point.resource))?.add(point);
    void this.adding?.point(point);
  }

  reopened(): void {
    for (const row of this.rows.values()) row.again();
    this.arrange();
  }

  tick(): void {
    for (const row of this.rows.values()) row.tick();
  }

  stop(): void {
    this.inView.disconnect();
  }

  private look(entries: IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      for (const row of this.rows.values()) if (row.root === target) void row.look();
    }
  }

  private arrange(): void {
    const found = matching(this.all, this.search.value);
    const shown = found.slice(0, this.most);
    const wanted = new Set(shown.map((resource) => String(resource.id)));
    for (const [id, row] of this.rows) {
      if (wanted.has(id)) continue;
      this.inView.unobserve(row.root);
      this.rows.delete(id);
    }
    const rows = shown.map((resource) => {
      const id = String(resource.id);
      const row = this.rows.get(id) ?? new Row(this.desk, resource);
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
    const all = formatCount(this.all.length);
    setText(
      this.count,
      this.all.length === 0
        ? "None yet"
        : found.length === this.all.length
          ? all
          : `${formatCount(found.length)} of ${all}`,
    );
    this.more.hidden = found.length <= shown.length;
    setText(this.more, `Show ${formatCount(Math.min(STEP, found.length - shown.length))} more`);
  }
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

import { AddDevice } from "../add-device";
import { ApiError, type LivePoint } from "../api";
import { DeviceRow } from "../device-row";
import { Bulk } from "../devices/bulk";
import { Filters } from "../devices/filters";
import { FolderTree } from "../devices/folder-tree";
import { arrange, html, setText, tryAgain } from "../dom";
import { fleetApi, type Fleet, type FleetDevice } from "../fleet-api";
import { formatCount } from "../format";
import type { Desk, Page } from "../page";
import { LINKS } from "../route";

/** Rows shown at first, and more with each step. */
const STEP = 100;
/** The most rows that the cloud is asked for at a time. */
const MOST_AT_ONCE = 1_000;
/** The list is asked for again so often, in seconds. */
const AGAIN_S = 30;

/** A user's devices, as they are looked for, a page at a time; here new ones come in, and many are changed at once. */
export class DevicesPage implements Page {
  readonly root: HTMLElement;
  readonly title = "Devices";
  private readonly count = html("p", { class: "count", role: "status" }, "Loading your devices.");
  private readonly body = html("tbody");
  private readonly table: HTMLElement;
  private readonly more = html("button", { type: "button", class: "secondary more", hidden: true });
  private readonly rows = new Map<string, DeviceRow>();
  private readonly inView: IntersectionObserver;
  private readonly note = html("div", { class: "note", role: "status", hidden: true });
  private readonly filters: Filters;
  private readonly folders: FolderTree;
  private readonly bulk: Bulk;
  /** Those that are shown. */
  private shown: FleetDevice[] = [];
  private most = STEP;
  private adding: AddDevice | undefined;
  /** Grows with each time that the cloud is asked: what was asked for before is not wanted any more. */
  private asked = 0;
  private hasList = false;
  private ticks = 0;
  private stopped = false;

  constructor(private readonly desk: Desk) {
    const add = html("button", { type: "button", class: "primary", hidden: !desk.mayChange }, "Add a device");
    const column = (name: string) => html("th", { scope: "col" }, name);
    this.filters = new Filters(() => this.look());
    this.folders = new FolderTree(desk, (folder) => {
      this.filters.folder = folder;
    });
    this.bulk = new Bulk(
      desk,
      () => void this.desk.refresh(),
      () => this.markPicked(),
    );
    this.table = html(
      "table",
      { class: "list devices", hidden: true },
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          ...(desk.mayChange
            ? [html("td", { class: "pick" }, html("span", { class: "spoken" }, "Chosen"))]
            : []),
          column("Device"),
          column("Security"),
          column("Latest"),
          column("Last reading"),
          column("Folder and tags"),
        ),
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
        this.filters.root,
        html("a", { class: "secondary", href: LINKS.map }, "Map"),
        html("a", { class: "secondary", href: LINKS.profiles }, "Profiles"),
        add,
      ),
      this.folders.root,
      this.bulk.root,
      this.note,
      this.table,
      this.more,
    );
    this.inView = new IntersectionObserver((entries) => this.inSight(entries), { rootMargin: "200px" });
    this.more.addEventListener("click", () => {
      this.most += STEP;
      void this.ask();
    });
    add.addEventListener("click", () => {
      this.adding = new AddDevice(this.desk);
    });
    void this.ask();
  }

  /** A device has come, gone or changed. */
  devices(): void {
    this.folders.forget();
    if (this.hasList) void this.ask();
  }

  point(point: LivePoint): void {
    this.rows.get(String(point.resource))?.add(point);
    void this.adding?.point(point);
  }

  reopened(): void {
    for (const row of this.rows.values()) row.forget();
    void this.ask();
  }

  tick(): void {
    for (const row of this.rows.values()) row.tick();
    this.ticks += 1;
    if (this.ticks % AGAIN_S === 0 && !document.hidden) void this.ask();
  }

  stop(): void {
    this.stopped = true;
    this.inView.disconnect();
    this.filters.stop();
  }

  /** Something else is looked for: from its beginning. */
  private look(): void {
    this.most = STEP;
    this.bulk.forget();
    void this.ask();
  }

  /** Asks the cloud for what is looked for, and shows it. */
  private async ask(): Promise<void> {
    this.asked += 1;
    const { asked, most } = this;
    const { selection, chosenOrder: order } = this.filters;
    const api = fleetApi(this.desk.user.username);
    try {
      const devices: FleetDevice[] = [];
      let fleet: Fleet;
      do {
        const limit = Math.min(MOST_AT_ONCE, most - devices.length);
        fleet = await api.look(selection, { order, offset: devices.length, limit });
        devices.push(...fleet.devices);
      } while (devices.length < most && fleet.devices.length === MOST_AT_ONCE);
      const top = this.filters.folder === "" ? fleet : await api.look({}, { limit: 1 });
      if (asked !== this.asked || this.stopped) return;
      this.hasList = true;
      this.shown = devices;
      this.filters.offer(fleet.summary.tags);
      this.folders.show(top.folders, this.filters.folder, fleet.folders);
      this.bulk.show(selection, fleet.found, devices);
      this.arrange(fleet);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (asked === this.asked && !this.stopped) this.failed(error);
    }
  }

  private failed(error: ApiError): void {
    // What is looked for is refused in the words of the cloud; what was shown before is not it.
    if (!this.hasList || error.status === 400) {
      setText(this.count, "");
      this.table.hidden = this.more.hidden = true;
      this.note.hidden = false;
      this.note.replaceChildren(
        `Your devices could not be loaded. ${error.words} `,
        tryAgain(() => void this.ask()),
      );
    }
    this.desk.fail(error);
  }

  private inSight(entries: IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      for (const row of this.rows.values()) if (row.root === target) void row.look();
    }
  }

  private markPicked(): void {
    for (const { id } of this.shown) {
      const row = this.rows.get(String(id));
      if (row) row.isPicked = this.bulk.isPicked(id);
    }
  }

  private arrange({ summary, found }: Fleet): void {
    const { shown } = this;
    const wanted = new Set(shown.map(({ id }) => String(id)));
    for (const [id, row] of this.rows) {
      if (wanted.has(id)) continue;
      this.inView.unobserve(row.root);
      this.rows.delete(id);
    }
    const pick = this.desk.mayChange
      ? (id: FleetDevice["id"], picked: boolean) => this.bulk.pick(id, picked)
      : undefined;
    const rows = shown.map((device) => {
      const id = String(device.id);
      const row = this.rows.get(id) ?? new DeviceRow(this.desk, device, pick);
      this.rows.set(id, row);
      row.again(device);
      return row;
    });
    this.markPicked();
    arrange(
      this.body,
      rows.map((row) => row.root),
    );
    for (const row of rows) {
      // Observed anew, so that a row that is to be read again is looked at again.
      this.inView.unobserve(row.root);
      this.inView.observe(row.root);
    }
    const all = summary.devices;
    this.table.hidden = shown.length === 0;
    this.filters.root.hidden = all === 0;
    this.note.hidden = all > 0;
    if (all === 0) this.note.replaceChildren(...invitation());
    setText(this.count, countWords(all, found, this.filters.isNarrow));
    this.more.hidden = found <= shown.length;
    setText(this.more, `Show ${formatCount(Math.min(STEP, found - shown.length))} more`);
  }
}

/** How many devices are found, of how many. */
export function countWords(all: number, found: number, isNarrow: boolean): string {
  if (all === 0) return "None yet";
  return isNarrow ? `${formatCount(found)} of ${formatCount(all)}` : formatCount(all);
}

/** What there is to do while there are no devices. */
function invitation(): HTMLElement[] {
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

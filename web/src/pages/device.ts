import { ApiAddresses } from "../api-addresses";
import {
  api,
  ApiError,
  LONGEST_PAGE,
  LONGEST_PAGE_OF_TEXTS,
  type LivePoint,
  type Network,
  type Point,
  type Resource,
  type Stream,
} from "../api";
import { CertificateEnd } from "../certificate";
import { CommandsPanel } from "../commands/panel";
import { DeviceLogPanel } from "../device-log";
import { deviceActions } from "../device-actions";
import { csv, download, fileName } from "../csv";
import { html, setText, tryAgain } from "../dom";
import { Figures } from "../figures";
import { formatCount, formatMoment, shown } from "../format";
import { isGiven, ownerOf, type GivenDevice } from "../group-api";
import { Heard } from "../heard";
import { history, MOST_POINTS } from "../history";
import { ModeBadge } from "../mode-badge";
import { nodeOfLabel } from "../network";
import type { Desk, Page } from "../page";
import { RANGES, reaching, spanOf, type Range } from "../ranges";
import { LINKS } from "../route";
import type { Span } from "../series";
import { Streams } from "../streams";
import { MOST_TEXTS } from "../text-table";
import { DAY_MS } from "../time";
import { longHistory } from "../windows";

/** Charts move with the clock so often, in seconds. */
const MOVE_S = 5;

/** One device: what it measured, over any time, and what its security does and costs. */
export class DevicePage implements Page {
  readonly root = html("section", { class: "panel device", "aria-labelledby": "device-heading" });
  readonly title = "Device";
  private readonly heading = html("h2", { id: "device-heading" }, "Device");
  private readonly badge = new ModeBadge();
  private readonly heard = new Heard();
  private readonly certificate = new CertificateEnd();
  private readonly identity = html("p", { class: "identity" });
  private readonly description = html("p", { class: "description" });
  private readonly figures = new Figures();
  private readonly note = html("p", { class: "note", role: "status" }, "Loading the device.");
  private readonly loading = html("p", { class: "loading", role: "status" });
  private readonly ranges: HTMLElement;
  private readonly whole = html("button", { type: "button", class: "secondary", hidden: true }, "Zoom out");
  private readonly buttons = new Map<Range, HTMLButtonElement>();
  private range: Range = RANGES[0]!;
  /** A range was chosen, by the person or by what there is to see. */
  private chosen = false;
  private zoomed: Span | undefined;
  private resource: Resource | undefined;
  private givenDevices: GivenDevice[] = [];
  private streams: Streams | undefined;
  private addresses: ApiAddresses | undefined;
  private commands: CommandsPanel | undefined;
  private log: DeviceLogPanel | undefined;
  private latest: Network | undefined;
  private ticks = 0;
  /** Grows with each choice of a range: what was being fetched for the one before is not wanted any more. */
  private choice = 0;

  constructor(
    private readonly desk: Desk,
    private readonly id: string,
  ) {
    this.ranges = html("div", { class: "ranges", role: "group", "aria-label": "Time shown" });
    for (const range of RANGES) {
      const button = html("button", { type: "button" }, range.name);
      button.addEventListener("click", () => this.choose(range));
      this.buttons.set(range, button);
      this.ranges.append(button);
    }
    this.whole.addEventListener("click", () => this.zoom(undefined));
    this.root.append(
      html("a", { class: "back", href: LINKS.devices }, "All devices"),
      html(
        "header",
        { class: "panel-head" },
        html(
          "div",
          { class: "who" },
          this.heading,
          this.description,
          this.identity,
          this.certificate.root,
          this.heard.root,
        ),
        this.badge.root,
      ),
      this.figures.root,
      this.note,
    );
    this.press();
  }

  given(devices: GivenDevice[]): void {
    this.givenDevices = devices;
  }

  devices(resources: Resource[]): void {
    const all = [...resources, ...this.givenDevices];
    const resource = all.find((known) => String(known.id) === this.id);
    if (!resource) {
      this.streams?.stop();
      this.commands?.stop();
      this.log?.stop();
      this.streams = this.commands = this.log = undefined;
      this.resource = undefined;
      this.root.replaceChildren(
        html("a", { class: "back", href: LINKS.devices }, "All devices"),
        html("p", { class: "note" }, "There is no such device, or no longer."),
      );
      return;
    }
    this.showIdentity(resource);
    setText(this.description, shown(resource.description));
    // The list is fetched anew when a key was replaced, too.
    this.certificate.forget();
    void this.certificate.of(this.ownerOf(resource), resource).catch((error) => this.desk.fail(error));
    this.heard.at(resource.heard);
    if (this.resource) {
      this.resource = resource;
      return;
    }
    this.resource = resource;
    document.title = `${shown(resource.label)} · Sixlock`;
    setText(this.heading, shown(resource.label));
    this.badge.update(resource.mode);
    this.streams = new Streams(this.ownerOf(resource), resource.id, {
      chart: {
        syncKey: `device-${resource.id}`,
        capacity: MOST_POINTS,
        height: 190,
        heading: "h3",
        span: () => this.span(),
        spanWords: () => this.spanWords(),
        zoom: (span) => this.zoom(span),
      },
      tools: (stream) => [this.csvButton(resource, stream)],
      history: (stream) => this.history(resource, stream),
      future: (stream) => this.future(resource, stream),
      known: (streams) => {
        this.begin(streams);
        this.addresses?.know(streams);
      },
      heard: (arrived) => this.heard.at(arrived),
      usually: (interval) => this.heard.usually(interval),
      loaded: () => {
        setText(this.loading, "");
        this.streams?.draw();
      },
      failed: (error) => this.desk.fail(error),
    });
    // What is set of a device of somebody else is set by way of commands alone here.
    this.badge.root.after(
      isGiven(resource)
        ? html("p", { class: "tag" }, `of ${shown(resource.owner)}`)
        : deviceActions(this.desk, () => this.resource ?? resource),
    );
    this.note.replaceWith(
      html("div", { class: "range-bar" }, this.ranges, this.whole, this.loading),
      this.streams.root,
      this.streams.note,
    );
    this.addresses = new ApiAddresses(this.ownerOf(resource), resource.id);
    this.commands = new CommandsPanel(this.desk, resource);
    this.root.append(this.addresses.root, this.commands.root);
    void this.commands.load();
    // What was refused, and who changed what, is its owner's to read.
    if (!isGiven(resource)) {
      this.log = new DeviceLogPanel(this.desk, resource);
      this.root.append(this.log.root);
      void this.log.load();
    }
    this.streams.show(true);
    this.showFigures();
  }

  noDevices(error: ApiError): void {
    if (this.resource) return;
    this.note.replaceChildren(
      `The device could not be loaded. ${error.words} `,
      tryAgain(() => void this.desk.refresh()),
    );
  }

  network(network: Network): void {
    this.latest = network;
    this.showFigures();
  }

  point(point: LivePoint): void {
    if (String(point.resource) === this.id) this.streams?.add(point);
  }

  reopened(): void {
    this.streams?.reload();
    void this.commands?.load();
    void this.log?.load();
  }

  tick(): void {
    this.heard.tick();
    this.ticks += 1;
    if (this.ticks % MOVE_S === 0 && !this.zoomed) this.streams?.draw();
  }

  recolour(): void {
    this.streams?.recolour();
  }

  stop(): void {
    this.choice += 1;
    this.streams?.stop();
    this.commands?.stop();
    this.log?.stop();
  }

  /** The span of time that all charts show. */
  private span(): Span {
    if (this.zoomed) return this.zoomed;
    const first = this.streams?.charts.reduce(
      (earliest, { first }) => Math.min(earliest, first ?? Infinity),
      Infinity,
    );
    return spanOf(this.range, Number.isFinite(first) ? first : undefined, Date.now() / 1000);
  }

  /** Which span it is, in words. */
  private spanWords(): string {
    if (this.zoomed) return "in this span";
    return this.range.seconds === undefined ? "" : `in these ${this.range.name}`;
  }

  /** At first, the shortest range is shown in which there is something to see. */
  private begin(streams: Stream[]): void {
    if (this.chosen) return;
    const times = streams.flatMap(({ latest }) => latest?.time ?? []);
    if (times.length === 0) return;
    this.chosen = true;
    this.range = reaching(Math.max(...times), Date.now());
    this.press();
  }

  private choose(range: Range): void {
    this.chosen = true;
    this.range = range;
    this.choice += 1;
    this.zoom(undefined);
    this.streams?.reload();
  }

  private zoom(span: Span | undefined): void {
    this.zoomed = span;
    this.whole.hidden = span === undefined;
    setText(
      this.whole,
      span ? `Zoom out of ${formatMoment(span[0], 1)} to ${formatMoment(span[1], 1)}` : "Zoom out",
    );
    this.press();
    this.streams?.draw();
  }

  private press(): void {
    for (const [range, button] of this.buttons) {
      button.setAttribute("aria-pressed", String(range === this.range));
    }
  }

  private async history(resource: Resource, stream: Stream): Promise<Point[]> {
    const { choice } = this;
    const now = Date.now();
    const owner = this.ownerOf(resource);
    // Of texts only the newest are read.
    if (stream.value_type === "text") {
      return api.data(owner, resource.id, stream.id, { limit: MOST_TEXTS });
    }
    const long = await longHistory([owner, resource.id, stream.id], this.range, now);
    if (long) return long;
    const from = this.range.seconds === undefined ? -Infinity : now - this.range.seconds * 1000;
    return this.fetch(resource, stream, from, (count) => {
      setText(this.loading, `Loading, ${formatCount(count)} readings`);
      return choice === this.choice;
    });
  }

  /** The cloud takes no reading that is more than a day ahead, but may have some of before it refused them. */
  private async future(resource: Resource, stream: Stream): Promise<Point | undefined> {
    const page = { from: Date.now() + DAY_MS, until: Number.MAX_SAFE_INTEGER, limit: 1 };
    return (await api.data(this.ownerOf(resource), resource.id, stream.id, page))[0];
  }

  private fetch(
    resource: Resource,
    stream: Stream,
    from: number,
    progress: (count: number) => boolean,
  ): Promise<Point[]> {
    const page = (page: Parameters<typeof api.data>[3]) =>
      api.data(this.ownerOf(resource), resource.id, stream.id, page);
    const longest = stream.value_type === "text" ? LONGEST_PAGE_OF_TEXTS : LONGEST_PAGE;
    return history(page, from, MOST_POINTS, progress, longest);
  }

  /** Takes along what the charts show. */
  private csvButton(resource: Resource, stream: Stream): HTMLElement {
    const button = html(
      "button",
      { type: "button", class: "quiet", "aria-label": `Download ${shown(stream.label)} as CSV` },
      "CSV",
    );
    button.addEventListener("click", async () => {
      button.disabled = true;
      const [from, until] = this.span().map((seconds) => seconds * 1000) as Span;
      try {
        const points = await this.fetch(resource, stream, from, () => true);
        const shown = points.filter((point) => !this.zoomed || point.time <= until);
        download(fileName(resource, stream), csv(shown));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        setText(this.loading, error.words);
        this.desk.fail(error);
      } finally {
        button.disabled = false;
      }
    });
    return button;
  }

  private ownerOf(resource: Resource): string {
    return ownerOf(resource, this.desk.user.username);
  }

  private showIdentity({ identity, label }: Resource): void {
    if (identity === null) setText(this.identity, "No key: it cannot report");
    else if (identity === label) setText(this.identity, "");
    else
      this.identity.replaceChildren(
        "Identity ",
        html("span", { title: identity }, abbreviated(shown(identity))),
      );
  }

  private showFigures(): void {
    if (!this.resource) return;
    const id = isGiven(this.resource) ? undefined : nodeOfLabel(this.resource.label);
    const node = this.latest?.nodes.find((node) => node.id === id);
    this.figures.update(node);
    this.badge.update(node?.security ?? this.resource.mode);
  }
}

/** The digest of a public key is known by its ends. */
function abbreviated(identity: string): string {
  return /^[0-9a-f]{64}$/.test(identity) ? `${identity.slice(0, 8)}…${identity.slice(-8)}` : identity;
}

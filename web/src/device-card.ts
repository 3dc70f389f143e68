import {
  api,
  ApiError,
  type LivePoint,
  type NetworkNode,
  type Point,
  type Resource,
  type Stream,
} from "./api";
import { Chart, POINTS_PER_CHART } from "./chart";
import { html, setText } from "./dom";
import { formatBytes, formatCount, formatDuration } from "./format";
import { ModeBadge } from "./mode-badge";
import { nodeOfLabel } from "./network";
import { ShareBar } from "./share-bar";

const SILENT_AFTER_S = 60;
const RETRY_MS = 5_000;

interface Line {
  chart: Chart;
  /** Points that came while the history was being fetched; none is being fetched: undefined. */
  waiting: Point[] | undefined;
}

/** One device: how it is protected, what that costs, and a live chart for each quantity it reports. */
export class DeviceCard {
  readonly root: HTMLElement;
  readonly node: number | undefined;
  private readonly badge = new ModeBadge();
  private readonly heard = html("p", { class: "heard" });
  private readonly figures = html("div", { class: "figures", hidden: true });
  private readonly numbers: Record<"hops" | "handshakes" | "retransmissions" | "bytes", HTMLElement>;
  private readonly share = new ShareBar();
  private readonly charts = html("div", { class: "charts" });
  private readonly note = html("p", { class: "note" }, "Loading readings.");
  private readonly lines = new Map<string, Line>();
  private streamsLoading = false;
  private stale = true;
  private visible = false;
  private retry: number | undefined;
  private loaded = false;
  private lastHeard = -Infinity;

  constructor(
    private readonly user: string,
    readonly resource: Resource,
    private readonly failed: (error: ApiError) => void,
  ) {
    this.node = nodeOfLabel(resource.label);
    this.numbers = {
      hops: html("dd"),
      handshakes: html("dd"),
      retransmissions: html("dd"),
      bytes: html("dd"),
    };
    const row = (name: string, value: HTMLElement, title: string) =>
      html("div", { title }, html("dt", {}, name), value);
    this.figures.append(
      html(
        "dl",
        {},
        row("Hops", this.numbers.hops, "Radio hops to the border router"),
        row("Handshakes", this.numbers.handshakes, "Secure sessions this device has opened"),
        row("Retransmissions", this.numbers.retransmissions, "Messages and frames sent again"),
        row("On the air", this.numbers.bytes, "Bytes on the air, forwarders included"),
      ),
      this.share.root,
    );
    const heading = `device-${resource.id}-name`;
    this.root = html(
      "article",
      { class: "card pending", id: DeviceCard.fragment(resource), "aria-labelledby": heading, tabindex: -1 },
      html(
        "header",
        { class: "card-head" },
        html("div", {}, html("h3", { id: heading }, resource.label), this.heard),
        this.badge.root,
      ),
      this.figures,
      this.charts,
      this.note,
    );
    this.badge.update(resource.mode);
    this.tick();
  }

  static fragment(resource: Resource): string {
    return `device-${resource.id}`;
  }

  /** A card out of view keeps its points but neither fetches nor draws. */
  setVisible(visible: boolean): void {
    this.visible = visible;
    for (const { chart } of this.lines.values()) chart.show(visible);
    if (visible && this.stale) void this.load();
  }

  /** What is shown may have holes: fetch it again, when it is looked at. */
  reload(): void {
    this.stale = true;
    if (this.visible) void this.load();
  }

  add(point: LivePoint): void {
    this.hear(point.time);
    const line = this.lines.get(String(point.stream));
    if (!line) {
      // A quantity not seen before; its history holds this point.
      this.reload();
      return;
    }
    line.waiting?.push(point);
    line.chart.series.push(point);
    line.chart.draw();
  }

  /** Figures of the network; a device outside of it has none. */
  update(node: NetworkNode | undefined): void {
    this.figures.hidden = node === undefined;
    if (!node) {
      this.badge.update(this.resource.mode);
      return;
    }
    this.badge.update(node.security);
    setText(this.numbers.hops, formatCount(node.hops));
    setText(this.numbers.handshakes, formatCount(node.handshakes));
    setText(this.numbers.retransmissions, formatCount(node.retransmissions));
    setText(this.numbers.bytes, formatBytes(node.bytes));
    this.share.update(node);
  }

  recolour(): void {
    for (const { chart } of this.lines.values()) chart.recolour();
  }

  /** Says again how long ago the device was heard. */
  tick(): void {
    if (this.lastHeard === -Infinity) {
      setText(this.heard, this.loaded ? "No reading yet" : "Loading");
      return;
    }
    const age = Math.max(0, (Date.now() - this.lastHeard) / 1000);
    const silent = age > SILENT_AFTER_S;
    this.heard.classList.toggle("silent", silent);
    setText(
      this.heard,
      silent
        ? `Silent for ${formatDuration(age)}`
        : `Last reading ${age < 1.5 ? "now" : `${formatDuration(age)} ago`}`,
    );
  }

  destroy(): void {
    window.clearTimeout(this.retry);
    for (const { chart } of this.lines.values()) chart.destroy();
    this.root.remove();
  }

  private hear(time: number): void {
    this.lastHeard = Math.max(this.lastHeard, time);
    this.tick();
  }

  private async load(): Promise<void> {
    if (this.streamsLoading) return;
    this.streamsLoading = true;
    this.stale = false;
    window.clearTimeout(this.retry);
    this.retry = undefined;
    try {
      const streams = await api.streams(this.user, this.resource.id);
      this.arrange(streams);
      await Promise.all(streams.map((stream) => this.restore(stream)));
      this.loaded = true;
      this.root.classList.remove("pending");
      this.tick();
      this.note.hidden = this.lines.size > 0;
      setText(this.note, "Waiting for the first reading.");
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.note.hidden = false;
      setText(this.note, `The readings could not be loaded: ${error.message} Trying again in a few seconds.`);
      this.retry = window.setTimeout(() => this.reload(), RETRY_MS);
      this.failed(error);
    } finally {
      this.streamsLoading = false;
      // Asked for again meanwhile: a new quantity, or a new connection.
      if (this.stale && this.visible && this.retry === undefined) void this.load();
    }
  }

  /** One chart a stream, in the server's order. */
  private arrange(streams: Stream[]): void {
    const wanted = new Set(streams.map((stream) => String(stream.id)));
    for (const [id, { chart }] of this.lines) {
      if (wanted.has(id)) continue;
      chart.destroy();
      this.lines.delete(id);
    }
    for (const stream of streams) {
      if (this.lines.has(String(stream.id))) continue;
      const chart = new Chart(stream, DeviceCard.fragment(this.resource));
      this.lines.set(String(stream.id), { chart, waiting: undefined });
      this.charts.append(chart.root);
      chart.show(this.visible);
    }
  }

  private async restore(stream: Stream): Promise<void> {
    const line = this.lines.get(String(stream.id));
    if (!line) return;
    line.waiting = [];
    try {
      const history = await api.data(this.user, this.resource.id, stream.id, POINTS_PER_CHART);
      line.chart.series.restore(history, line.waiting);
      const last = line.chart.series.last;
      if (last) this.hear(last.time);
      line.chart.draw();
    } finally {
      line.waiting = undefined;
    }
  }
}

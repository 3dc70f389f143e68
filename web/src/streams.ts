import { api, ApiError, type LivePoint, type Point, type Resource, type Stream } from "./api";
import { Chart, type ChartOptions } from "./chart";
import { html, setText, tryAgain } from "./dom";
import type { StreamView } from "./stream-view";
import { TextTable } from "./text-table";
import { usualInterval } from "./usual";

const RETRY_MS = 5_000;

interface Line {
  chart: StreamView;
  /** Points that came while the history was being fetched; none is being fetched: undefined. */
  waiting: Point[] | undefined;
}

export interface StreamsOptions {
  chart: ChartOptions;
  /** What stands beside the name of a chart. */
  tools?: (stream: Stream) => HTMLElement[];
  history: (stream: Stream) => Promise<Point[]>;
  /** A stored point of the future, if it is to be looked for. */
  future?: (stream: Stream) => Promise<Point | undefined>;
  /** The streams are known; their points are fetched next. */
  known?: (streams: Stream[]) => void;
  /** Readings arrived then. */
  heard: (arrived: number) => void;
  /** The device's usual time between readings in seconds, if it has sent enough to show one. */
  usually: (interval: number | undefined) => void;
  /** All stored points are here. */
  loaded: () => void;
  failed: (error: ApiError) => void;
}

/** A chart, or of texts a table. */
export function viewOf(stream: Stream, options: ChartOptions, ...tools: HTMLElement[]): StreamView {
  const View = stream.value_type === "text" ? TextTable : Chart;
  return new View(stream, options, ...tools);
}

/** The charts of one device: stored points and those that come, without a hole or a double. */
export class Streams {
  readonly root = html("div", { class: "charts" });
  readonly note = html("p", { class: "note", role: "status" }, "Loading readings.");
  private readonly lines = new Map<string, Line>();
  private loading = false;
  private stale = true;
  private visible = false;
  private stopped = false;
  private retry: number | undefined;

  constructor(
    private readonly user: string,
    private readonly resource: Resource["id"],
    private readonly options: StreamsOptions,
  ) {}

  get charts(): StreamView[] {
    return [...this.lines.values()].map((line) => line.chart);
  }

  /** Out of view they keep their points but neither fetch nor draw. */
  show(visible: boolean): void {
    this.visible = visible;
    for (const chart of this.charts) chart.show(visible);
    if (visible && this.stale) void this.load();
  }

  /** What is shown may have holes: fetch it again, when it is looked at. */
  reload(): void {
    this.stale = true;
    for (const chart of this.charts) chart.settle(false);
    if (this.visible) void this.load();
  }

  draw(): void {
    for (const chart of this.charts) chart.draw();
  }

  add(point: LivePoint): void {
    this.options.heard(point.arrived);
    const line = this.lines.get(String(point.stream));
    if (!line) {
      // A quantity not seen before; its history holds this point.
      this.reload();
      return;
    }
    line.waiting?.push(point);
    line.chart.push(point);
    line.chart.tell(point);
  }

  recolour(): void {
    for (const chart of this.charts) chart.recolour();
  }

  stop(): void {
    this.stopped = true;
    window.clearTimeout(this.retry);
    for (const chart of this.charts) chart.destroy();
  }

  private async load(): Promise<void> {
    if (this.loading || this.stopped) return;
    this.loading = true;
    this.stale = false;
    window.clearTimeout(this.retry);
    this.retry = undefined;
    try {
      const streams = await api.streams(this.user, this.resource);
      if (this.stopped) return;
      this.options.known?.(streams);
      this.arrange(streams);
      const [interval] = await Promise.all([
        usualInterval(this.user, this.resource, streams),
        ...streams.map((stream) => this.restore(stream)),
      ]);
      if (this.stopped) return;
      for (const chart of this.charts) chart.usually(interval);
      this.options.usually(interval);
      this.note.hidden = this.lines.size > 0;
      setText(this.note, "No reading yet. The first one appears here by itself.");
      this.options.loaded();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (this.stopped) return;
      this.note.hidden = false;
      this.note.replaceChildren(
        `The readings could not be loaded. ${error.message} They are asked for again every few seconds. `,
        tryAgain(() => this.reload()),
      );
      this.retry = window.setTimeout(() => this.reload(), RETRY_MS);
      this.options.failed(error);
    } finally {
      this.loading = false;
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
      const known = this.lines.get(String(stream.id));
      known?.chart.tell(stream.latest);
      if (known) continue;
      const tools = this.options.tools?.(stream) ?? [];
      const chart = viewOf(stream, this.options.chart, ...tools);
      this.lines.set(String(stream.id), { chart, waiting: undefined });
      this.root.append(chart.root);
      chart.show(this.visible);
    }
  }

  private async restore(stream: Stream): Promise<void> {
    const line = this.lines.get(String(stream.id));
    if (!line) return;
    line.waiting = [];
    try {
      const [history, future] = await Promise.all([
        this.options.history(stream),
        this.options.future?.(stream),
      ]);
      if (this.stopped) return;
      line.chart.foresee(future);
      line.chart.restore(history, line.waiting);
      line.chart.settle(true);
    } finally {
      line.waiting = undefined;
    }
  }
}

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Latest, Point, Stream, Value } from "./api";
import { html, setText } from "./dom";
import {
  formatCount,
  formatDate,
  formatDuration,
  formatMoment,
  formatTick,
  formatValue,
  formatWhen,
  shown,
  unitSymbol,
} from "./format";
import { aheadWords, isLater, measuredWords } from "./heard";
import type { StreamView } from "./stream-view";
import { decimate, extent, Series, silences, timeRange, valueRange, widened, type Span } from "./series";

/** The shortest span that is zoomed into, in seconds. */
const SHORTEST_ZOOM_S = 1;
/** False and true, with a margin. */
const BOOLEAN_RANGE: [number, number] = [-0.15, 1.15];
const HUES = 6;
const KNOWN_HUES: Record<string, number> = { temperature: 1, humidity: 2, light: 3 };

/** The same quantity has the same colour on every card. */
function hueOf(label: string): number {
  const known = KNOWN_HUES[label];
  if (known) return known;
  let sum = 0;
  for (const character of label) sum = (sum * 31 + character.codePointAt(0)!) % 997;
  return (sum % HUES) + 1;
}

function style(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export interface ChartOptions {
  /** Charts with the same key show the same moment under the pointer. */
  syncKey: string;
  /** How many points it holds. */
  capacity: number;
  height: number;
  /** Its heading stands one below that of the device. */
  heading: "h3" | "h4";
  /** The span of time that is shown; without it, that of the points. */
  span?: () => Span;
  /** Names that span: "in these 15 min". */
  spanWords?: () => string;
  /** A person has dragged over this span. */
  zoom?: (span: Span) => void;
}

/** One quantity of one device: its name, its latest value and its line over time; that of truth values goes in steps. */
export class Chart implements StreamView {
  readonly root: HTMLElement;
  readonly series: Series;
  private readonly value = html("output", { class: "chart-value" });
  private readonly when = html("span", { class: "chart-when" });
  private readonly canvas = html("div", { class: "chart-canvas", role: "img" });
  private readonly empty = html("p", { class: "chart-empty", hidden: true });
  private readonly ahead = html("p", { class: "chart-ahead", hidden: true });
  /** The reading that arrived last, whether or not it is in the span that is shown. */
  private latest: Latest | null;
  /** The device's usual time between readings, in seconds. */
  private usual: number | undefined;
  /** A stored reading of the future. */
  private future: Point | undefined;
  /** The stored points are here. */
  private settled = false;
  private readonly unit: string;
  private readonly isBoolean: boolean;
  private readonly hue: number;
  private plot: uPlot | undefined;
  private frame: number | undefined;
  private visible = false;
  private readonly resize = new ResizeObserver(() => this.draw());

  constructor(
    readonly stream: Stream,
    private readonly chosen: ChartOptions,
    ...tools: HTMLElement[]
  ) {
    this.series = new Series(chosen.capacity);
    this.latest = stream.latest;
    this.unit = unitSymbol(stream.unit);
    this.isBoolean = stream.value_type === "boolean";
    this.hue = hueOf(stream.label);
    this.value.setAttribute("aria-live", "off");
    this.root = html(
      "div",
      { class: `chart hue-${this.hue}`, role: "group", "aria-label": shown(stream.label) },
      html(
        "header",
        { class: "chart-head" },
        html(chosen.heading, {}, shown(stream.label)),
        ...tools,
        html("span", { class: "chart-now" }, this.when, this.value),
      ),
      this.canvas,
      this.empty,
      this.ahead,
    );
    this.canvas.style.height = `${chosen.height}px`;
    this.resize.observe(this.canvas);
    this.describe();
  }

  get first(): number | undefined {
    return this.series.times[0];
  }

  points(): Point[] {
    const { times, values } = this.series;
    return times.map((seconds, at) => ({
      time: Math.round(seconds * 1000),
      value: this.valueOf(values[at]!),
    }));
  }

  push(point: Point): void {
    this.series.push(point);
  }

  restore(history: Point[], live: Point[]): void {
    this.series.restore(history, live);
  }

  /** The reading that arrived last, and of those that came at once the one measured last. */
  tell(latest: Latest | null): void {
    if (!latest || !this.latest || isLater(latest, this.latest)) this.latest = latest;
    this.draw();
  }

  /** The device's usual time between readings, in seconds. */
  usually(interval: number | undefined): void {
    this.usual = interval;
    this.draw();
  }

  /** A stored reading is dated in the future. */
  foresee(point: Point | undefined): void {
    this.future = point;
    this.draw();
  }

  /** Whether the stored points are here: only then may it be said that there are none. */
  settle(settled: boolean): void {
    this.settled = settled;
    this.draw();
  }

  /** Off-screen charts take points but do not draw. */
  show(visible: boolean): void {
    this.visible = visible;
    if (visible) this.draw();
  }

  /** Draws at the next frame, once, however many points came. A hidden tab has no frames. */
  draw(): void {
    if (!this.visible || this.frame !== undefined) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = undefined;
      this.render();
    });
  }

  /** Draws again with the colours of the scheme that has just been chosen. */
  recolour(): void {
    this.plot?.redraw(false, true);
  }

  destroy(): void {
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
    this.resize.disconnect();
    this.plot?.destroy();
    this.root.remove();
  }

  private render(): void {
    const [start, end] = this.within();
    const empty = this.settled && start === end;
    this.canvas.hidden = empty;
    this.empty.hidden = !empty;
    if (empty) setText(this.empty, this.emptyWords());
    this.warn();
    if (empty) {
      this.describe();
      return;
    }
    const width = this.canvas.clientWidth;
    if (width === 0) return;
    const { height } = this.chosen;
    const data = decimate(this.series, this.indices(), width);
    if (!this.plot && this.series.length > 0) {
      this.plot = new uPlot(this.options(width), data, this.canvas);
    } else if (this.plot) {
      if (this.plot.width !== width) this.plot.setSize({ width, height });
      this.plot.setData(data);
    }
    this.describe();
  }

  /** Why there is no line, and when there was a reading. */
  private emptyWords(): string {
    const where = this.chosen.spanWords?.() ?? "";
    if (!this.latest) return "No reading yet";
    return `No readings ${where}. The latest: ${formatWhen(this.latest.time)}`.replace(" .", ".");
  }

  /** What is of the future is not in the span that is shown, and must not look like what is of now. */
  private warn(): void {
    const words = this.warning();
    this.ahead.hidden = words === "";
    setText(this.ahead, words);
  }

  private warning(): string {
    const ahead = this.latest ? aheadWords(this.latest) : "";
    if (ahead !== "" || !this.future) return ahead;
    return `A reading is stored that is dated ${formatDate(this.future.time)}, in the future. It is not shown.`;
  }

  /** The indices of the points that are shown. */
  private within(): [number, number] {
    const span = this.chosen.span?.();
    return span ? this.series.within(span) : [0, this.series.length];
  }

  /** The points that are shown, and one more at each side: a line comes from somewhere. */
  private indices(): [number, number] {
    const [start, end] = this.within();
    return [Math.max(0, start - 1), Math.min(this.series.length, end + 1)];
  }

  private options(width: number): uPlot.Options {
    const line = () => style(`--hue-${this.hue}`);
    const axis: uPlot.Axis = {
      stroke: () => style("--muted"),
      font: `11px ${style("--sans") || "sans-serif"}`,
      ticks: { show: false },
      border: { show: false },
    };
    return {
      width,
      height: this.chosen.height,
      padding: [6, 26, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: this.chosen.zoom !== undefined, y: false, setScale: false },
        points: { size: 7, width: 0, fill: line },
        sync: { key: this.chosen.syncKey },
      },
      scales: {
        x: {
          // The points, not the limits that come with the call: of one point, uPlot makes them 86,400,000 s apart.
          range: ({ data }) => this.chosen.span?.() ?? timeRange(data[0]),
        },
        y: { range: (_, min, max) => (this.isBoolean ? BOOLEAN_RANGE : valueRange(min, max)) },
      },
      axes: [
        {
          ...axis,
          size: 20,
          gap: 4,
          space: this.chosen.zoom ? 92 : 74,
          grid: { show: false },
          values: (_, splits, _axis, _space, step) => splits.map((at) => formatMoment(at, step)),
        },
        {
          ...axis,
          size: (_, ticks) => Math.max(44, 13 + 7 * Math.max(...(ticks ?? []).map((tick) => tick.length))),
          gap: 6,
          space: 26,
          grid: { stroke: () => style("--grid"), width: 1 },
          ...(this.isBoolean ? { splits: () => [0, 1] } : {}),
          values: (_, splits) =>
            splits.map((value) => (this.isBoolean ? formatValue(value === 1) : formatTick(value))),
        },
      ],
      series: [
        {},
        {
          stroke: line,
          fill: () => `${line()}1c`,
          width: 1.75,
          ...(this.isBoolean ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
          points: { show: this.fewPoints, size: 5, fill: line, width: 0 },
          gaps: (plot) =>
            silences(this.series.times, this.usual).map(
              (span) => span.map((at) => Math.round(plot.valToPos(at, "x", true))) as Span,
            ),
        },
      ],
      hooks: {
        setCursor: [(plot) => this.point(plot.cursor.idx ?? null)],
        setSelect: [(plot) => this.select(plot)],
      },
    };
  }

  /** A line needs neighbours: as long as there are few points, they are drawn as dots. */
  private readonly fewPoints = (plot: uPlot): boolean => plot.data[0].length < 24;

  private select(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 4) return;
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.chosen.zoom?.(
      widened([plot.posToVal(left, "x"), plot.posToVal(left + width, "x")], SHORTEST_ZOOM_S),
    );
  }

  /** The value under the pointer, or the latest. */
  private point(index: number | null): void {
    const pointed = index === null ? undefined : (this.plot?.data[1]?.[index] ?? undefined);
    const value = pointed === undefined ? this.latest?.value : this.valueOf(pointed);
    setText(this.value, value === undefined ? "–" : `${formatValue(value)} ${this.unit}`.trim());
    setText(this.when, pointed === undefined ? this.age() : formatMoment(this.plot!.data[0][index!]!, 1));
  }

  /** The value that a number stands for. */
  private valueOf(number: number): Value {
    return this.isBoolean ? number !== 0 : number;
  }

  /** When the latest value was measured, if the chart does not say so. */
  private age(): string {
    const from = (this.chosen.span?.()[0] ?? -Infinity) * 1000;
    return this.latest ? measuredWords(this.latest, from) : "";
  }

  /** The words for those who do not see the line. */
  private describe(): void {
    this.point(this.plot?.cursor.idx ?? null);
    const label = shown(this.stream.label);
    const { times, values } = this.series;
    const [start, end] = this.within();
    const range = extent(values.slice(start, end));
    if (!range) {
      this.canvas.setAttribute("aria-label", `${label}: no readings`);
      return;
    }
    const count = end - start;
    this.canvas.setAttribute(
      "aria-label",
      `${label}, ${formatCount(count)} ${count === 1 ? "reading" : "readings"} ` +
        `over ${formatDuration(times[end - 1]! - times[start]!)}: ` +
        (this.isBoolean ? "" : `lowest ${formatValue(range[0])}, highest ${formatValue(range[1])}, `) +
        `latest ${formatValue(this.valueOf(values[end - 1]!))} ${this.unit}`.trim(),
    );
  }
}

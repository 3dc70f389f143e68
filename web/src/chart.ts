import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Stream } from "./api";
import { html, setText } from "./dom";
import { formatClock, formatCount, formatDuration, formatTick, formatValue, unitSymbol } from "./format";
import { Series, silences, valueRange } from "./series";

/** How many points a chart holds: 25 minutes of a reading every five seconds. */
export const POINTS_PER_CHART = 300;

const HEIGHT = 96;
const HUES = 6;
const KNOWN_HUES: Record<string, number> = { temperature: 1, humidity: 2, light: 3 };

/** The same quantity has the same colour on every card. */
export function hueOf(label: string): number {
  const known = KNOWN_HUES[label];
  if (known) return known;
  let sum = 0;
  for (const character of label) sum = (sum * 31 + character.codePointAt(0)!) % 997;
  return (sum % HUES) + 1;
}

function style(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** One quantity of one device: its name, its latest value and its line over time. */
export class Chart {
  readonly root: HTMLElement;
  readonly series = new Series(POINTS_PER_CHART);
  private readonly value = html("output", { class: "chart-value" });
  private readonly when = html("span", { class: "chart-when" });
  private readonly canvas = html("div", { class: "chart-canvas", role: "img" });
  private readonly unit: string;
  private readonly hue: number;
  private plot: uPlot | undefined;
  private frame: number | undefined;
  private shown = false;
  private readonly resize = new ResizeObserver(() => this.draw());

  constructor(
    private readonly stream: Stream,
    /** Charts with the same key show the same moment under the pointer. */
    private readonly syncKey: string,
  ) {
    this.unit = unitSymbol(stream.unit);
    this.hue = hueOf(stream.label);
    this.value.setAttribute("aria-live", "off");
    this.root = html(
      "section",
      { class: `chart hue-${this.hue}`, "aria-label": stream.label },
      html(
        "header",
        { class: "chart-head" },
        html("h4", {}, stream.label),
        html("span", { class: "chart-now" }, this.when, this.value),
      ),
      this.canvas,
    );
    this.resize.observe(this.canvas);
    this.describe();
  }

  /** Off-screen charts take points but do not draw. */
  show(shown: boolean): void {
    this.shown = shown;
    if (shown) this.draw();
  }

  /** Draws at the next frame, once, however many points came. A hidden tab has no frames. */
  draw(): void {
    if (!this.shown || this.frame !== undefined) return;
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
    this.describe();
    const width = this.canvas.clientWidth;
    if (width === 0 || this.series.length === 0) return;
    const data: uPlot.AlignedData = [this.series.times, this.series.values];
    if (!this.plot) {
      this.plot = new uPlot(this.options(width), data, this.canvas);
    } else {
      if (this.plot.width !== width) this.plot.setSize({ width, height: HEIGHT });
      this.plot.setData(data);
    }
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
      height: HEIGHT,
      padding: [6, 26, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: false, y: false },
        points: { size: 7, width: 0, fill: line },
        sync: { key: this.syncKey },
      },
      scales: {
        x: { range: (_, min, max) => (min === max ? [min - 30, max + 30] : [min, max]) },
        y: { range: (_, min, max) => valueRange(min, max) },
      },
      axes: [
        {
          ...axis,
          size: 20,
          gap: 4,
          space: 74,
          grid: { show: false },
          values: (_, splits, _axis, _space, step) => splits.map((at) => formatClock(at, step < 60)),
        },
        {
          ...axis,
          size: (_, ticks) => Math.max(44, 13 + 7 * Math.max(...(ticks ?? []).map((tick) => tick.length))),
          gap: 6,
          space: 26,
          grid: { stroke: () => style("--grid"), width: 1 },
          values: (_, splits) => splits.map(formatTick),
        },
      ],
      series: [
        {},
        {
          stroke: line,
          fill: () => `${line()}1c`,
          width: 1.75,
          points: { show: this.fewPoints, size: 5, fill: line, width: 0 },
          gaps: (plot) => {
            const times = plot.data[0];
            return silences(times).map(
              ([from, to]) =>
                [
                  Math.round(plot.valToPos(times[from]!, "x", true)),
                  Math.round(plot.valToPos(times[to]!, "x", true)),
                ] as [number, number],
            );
          },
        },
      ],
      hooks: { setCursor: [(plot) => this.point(plot.cursor.idx ?? null)] },
    };
  }

  /** A line needs neighbours: as long as there are few points, they are drawn as dots. */
  private readonly fewPoints = (): boolean => this.series.length < 24;

  /** The value under the pointer, or the latest. */
  private point(index: number | null): void {
    const pointed = index === null ? undefined : this.series.values[index];
    const value = pointed ?? this.series.last?.value;
    setText(this.value, value === undefined ? "–" : `${formatValue(value)} ${this.unit}`.trim());
    setText(
      this.when,
      pointed === undefined || index === null ? "" : formatClock(this.series.times[index]!, true),
    );
  }

  /** The words for those who do not see the line. */
  private describe(): void {
    this.point(this.plot?.cursor.idx ?? null);
    const extent = this.series.extent();
    const { label } = this.stream;
    const count = this.series.length;
    if (!extent || !this.series.last) {
      this.canvas.setAttribute("aria-label", `${label}: no readings yet`);
      return;
    }
    const span = formatDuration(this.series.last.time / 1000 - this.series.times[0]!);
    this.canvas.setAttribute(
      "aria-label",
      `${label}, ${formatCount(count)} ${count === 1 ? "reading" : "readings"} over ${span}: lowest ${formatValue(extent[0])}, highest ${formatValue(extent[1])}, ` +
        `latest ${formatValue(this.series.last.value)} ${this.unit}`.trim(),
    );
  }
}

import type { Latest, Point, Stream } from "./api";
import type { ChartOptions } from "./chart";
import { html, setText } from "./dom";
import { formatCount, formatDate, formatMoment, formatValue, formatWhen, shown } from "./format";
import { aheadWords, isLater, measuredWords } from "./heard";
import type { StreamView } from "./stream-view";
import { Texts } from "./texts";

/** The most texts that are listed. */
const ROWS = 50;
/** The most texts that are held: what a person reads, not what a line is drawn of. */
export const MOST_TEXTS = 500;

/** The texts of one stream: the latest, and below it the last ones with their times. */
export class TextTable implements StreamView {
  readonly root: HTMLElement;
  private readonly texts: Texts;
  private readonly value = html("output", { class: "chart-value", "aria-live": "off" });
  private readonly when = html("span", { class: "chart-when" });
  private readonly rows = html("tbody");
  private readonly list: HTMLElement;
  private readonly more = html("p", { class: "chart-empty", hidden: true });
  private readonly ahead = html("p", { class: "chart-ahead", hidden: true });
  private latest: Latest | null;
  private future: Point | undefined;
  private settled = false;
  private frame: number | undefined;
  private visible = false;

  constructor(
    readonly stream: Stream,
    private readonly chosen: ChartOptions,
    ...tools: HTMLElement[]
  ) {
    this.texts = new Texts(Math.min(chosen.capacity, MOST_TEXTS));
    this.latest = stream.latest;
    const label = shown(stream.label);
    this.list = html(
      "div",
      { class: "texts", role: "region", tabindex: 0, "aria-label": `${label}, the last texts` },
      html(
        "table",
        {},
        html("thead", { class: "spoken" }, html("tr", {}, html("th", {}, "Time"), html("th", {}, "Text"))),
        this.rows,
      ),
    );
    this.list.style.maxHeight = `${chosen.height}px`;
    this.root = html(
      "div",
      { class: "chart text-table", role: "group", "aria-label": label },
      html(
        "header",
        { class: "chart-head" },
        html(chosen.heading, {}, label),
        ...tools,
        html("span", { class: "chart-now" }, this.when, this.value),
      ),
      this.list,
      this.more,
      this.ahead,
    );
    this.render();
  }

  get first(): number | undefined {
    return this.texts.first;
  }

  points(): Point[] {
    return this.texts.all();
  }

  push(point: Point): void {
    this.texts.push(point);
    this.draw();
  }

  restore(history: Point[], live: Point[]): void {
    this.texts.restore(history, live);
    this.draw();
  }

  tell(latest: Latest | null): void {
    if (!latest || !this.latest || isLater(latest, this.latest)) this.latest = latest;
    this.draw();
  }

  /** A list has no gaps. */
  usually(): void {}

  foresee(point: Point | undefined): void {
    this.future = point;
    this.draw();
  }

  settle(settled: boolean): void {
    this.settled = settled;
    this.draw();
  }

  show(visible: boolean): void {
    this.visible = visible;
    if (visible) this.draw();
  }

  draw(): void {
    if (!this.visible || this.frame !== undefined) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = undefined;
      this.render();
    });
  }

  /** Its colours are those of the page. */
  recolour(): void {}

  destroy(): void {
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
    this.root.remove();
  }

  private render(): void {
    const span = this.chosen.span?.();
    const { latest } = this;
    setText(this.value, latest ? formatValue(latest.value) : "–");
    setText(this.when, latest ? measuredWords(latest, (span?.[0] ?? -Infinity) * 1000) : "");
    const texts = this.texts.within(span);
    this.list.hidden = texts.length === 0;
    this.rows.replaceChildren(
      ...texts
        .slice(0, ROWS)
        .map(({ time, value }) =>
          html(
            "tr",
            {},
            html("td", { title: formatDate(time) }, formatMoment(time / 1000, 1)),
            html("td", {}, formatValue(value)),
          ),
        ),
    );
    const words = this.words(texts.length);
    this.more.hidden = words === "";
    setText(this.more, words);
    const warning = this.warning();
    this.ahead.hidden = warning === "";
    setText(this.ahead, warning);
  }

  private words(count: number): string {
    if (count >= MOST_TEXTS) return `The newest ${ROWS} of ${formatCount(count)} or more`;
    if (count > ROWS) return `The newest ${ROWS} of ${formatCount(count)}`;
    if (count > 0 || !this.settled) return "";
    if (!this.latest) return "No reading yet";
    const where = this.chosen.spanWords?.() ?? "";
    return `No readings ${where}. The latest: ${formatWhen(this.latest.time)}`.replace(" .", ".");
  }

  private warning(): string {
    const ahead = this.latest ? aheadWords(this.latest) : "";
    if (ahead !== "" || !this.future) return ahead;
    return `A reading is stored that is dated ${formatDate(this.future.time)}, in the future. It is not shown.`;
  }
}

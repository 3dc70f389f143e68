import { ApiError, type LivePoint, type Point } from "../api";
import { csv, download, fileName } from "../csv";
import { html, setText, tryAgain } from "../dom";
import { Feed } from "../feed";
import { formatCount, formatMoment, shown, unitSymbol } from "../format";
import { history, MOST_POINTS } from "../history";
import type { Desk, Page } from "../page";
import { button } from "../panel";
import { RANGES, reaching, spanOf, type Range } from "../ranges";
import { LINKS } from "../route";
import type { Span } from "../series";
import { sharedApi, type SharedStreamWithPoint } from "../shared-api";
import { sharedSource } from "../shared-feed";
import type { StreamView } from "../stream-view";
import { viewOf } from "../streams";
import { MOST_TEXTS } from "../text-table";

/** The chart moves with the clock so often, in seconds. */
const MOVE_S = 5;

/** A stream that is shared: what it is, its chart, and what comes. For people who are signed in, without a token, and for others. */
export class SharedStreamPage implements Page {
  readonly title = "Stream";
  readonly root = html("section", { class: "panel device shared", "aria-labelledby": "stream-heading" });
  private readonly heading = html("h2", { id: "stream-heading" }, "Stream");
  private readonly of = html("p", { class: "identity" });
  private readonly description = html("p", { class: "description" });
  private readonly note = html("p", { class: "note", role: "status" }, "Loading the stream.");
  private readonly loading = html("p", { class: "loading", role: "status" });
  private readonly problem = html("p", { class: "problem", role: "alert" });
  private readonly actions = html("div", { class: "actions" });
  private readonly body = html("div");
  private readonly ranges = html("div", { class: "ranges", role: "group", "aria-label": "Time shown" });
  private readonly whole = button("Zoom out", () => this.zoom(undefined));
  private readonly buttons = new Map<Range, HTMLButtonElement>();
  private range: Range = RANGES[0]!;
  private zoomed: Span | undefined;
  private chart: StreamView | undefined;
  private feed: Feed | undefined;
  /** Points that came while the history was being fetched; none is being fetched: undefined. */
  private waiting: Point[] | undefined;
  /** Grows with each choice of a range: what was being fetched for the one before is not wanted any more. */
  private choice = 0;
  private ticks = 0;
  private isText = false;
  private stopped = false;

  constructor(
    private readonly id: string,
    private readonly token: string | undefined,
    /** Of whoever is signed in. */
    private readonly desk?: Desk,
  ) {
    for (const range of RANGES) {
      const choose = button(range.name, () => this.choose(range), "");
      this.buttons.set(range, choose);
      this.ranges.append(choose);
    }
    this.whole.hidden = true;
    this.root.append(
      html("a", { class: "back", href: LINKS.public }, "Public streams"),
      html(
        "header",
        { class: "panel-head" },
        html("div", { class: "who" }, this.heading, this.description, this.of),
        this.actions,
      ),
      this.note,
      this.body,
    );
    void this.load();
  }

  tick(): void {
    this.ticks += 1;
    if (this.ticks % MOVE_S === 0 && !this.zoomed) this.chart?.draw();
  }

  recolour(): void {
    this.chart?.recolour();
  }

  stop(): void {
    this.stopped = true;
    this.choice += 1;
    this.feed?.stop();
    this.chart?.destroy();
  }

  private async load(): Promise<void> {
    try {
      const stream = await sharedApi.show(this.id, this.token);
      if (this.stopped) return;
      this.show(stream);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (this.stopped) return;
      if (error.status === 404) this.gone();
      else {
        this.note.hidden = false;
        this.note.replaceChildren(
          `The stream could not be loaded. ${error.words} `,
          tryAgain(() => void this.load()),
        );
      }
    }
  }

  /** Nobody is told whether the stream is private or not there. */
  private gone(): void {
    this.stop();
    const words =
      this.token === undefined
        ? "There is no such stream, or it is not public."
        : "This link leads nowhere, or no longer: its owner may have revoked it, or its time is over.";
    this.note.hidden = false;
    setText(this.note, words);
    this.body.replaceChildren();
    this.actions.replaceChildren();
  }

  private show(stream: SharedStreamWithPoint): void {
    const name = shown(stream.label);
    document.title = `${name} · Sixlock`;
    setText(this.heading, name);
    setText(this.description, shown(stream.description));
    setText(this.of, `${shown(stream.device)}, of the user ${shown(stream.owner)}`);
    this.note.hidden = true;
    this.isText = stream.value_type === "text";
    if (stream.latest) this.range = reaching(stream.latest.time, Date.now());
    const latest = stream.latest && { ...stream.latest, arrived: stream.latest.time };
    this.chart = viewOf(
      { ...stream, latest },
      {
        syncKey: `stream-${stream.id}`,
        capacity: MOST_POINTS,
        height: 260,
        heading: "h3",
        span: () => this.span(),
        spanWords: () => this.spanWords(),
        zoom: (span) => this.zoom(span),
      },
      this.csvButton(stream),
    );
    this.body.replaceChildren(
      html("div", { class: "range-bar" }, this.ranges, this.whole, this.loading),
      html("div", { class: "charts" }, this.chart.root),
      this.problem,
      ...this.address(),
    );
    if (this.desk && this.token === undefined) this.offerToFollow(this.desk);
    this.chart.show(true);
    this.press();
    const source = sharedSource(this.id, this.token);
    this.feed = new Feed(
      {
        opened: () => void this.restore(),
        point: (point) => this.add(point),
        alive: () => setText(this.problem, ""),
        interrupted: (why) => this.interrupted(why),
        signedOut: () => this.gone(),
      },
      undefined,
      source,
    );
  }

  /** For programs: where the points are. */
  private address(): HTMLElement[] {
    if (this.token !== undefined) return [];
    const path = `${window.location.origin}/api/v1/shared/streams/${this.id}/data`;
    return [html("p", { class: "hint" }, "For programs: ", html("code", {}, path))];
  }

  private interrupted(why: ApiError | undefined): void {
    if (why?.status === 404) this.gone();
    else if (why?.status === 429 || why?.status === 503) setText(this.problem, `No live feed: ${why.words}`);
    // A feed ends when its stream is private again: then the next answer says so.
    else setText(this.problem, "The live feed is interrupted. It reconnects by itself.");
  }

  private add(point: LivePoint): void {
    this.waiting?.push(point);
    this.chart?.push(point);
    this.chart?.tell(point);
  }

  private span(): Span {
    if (this.zoomed) return this.zoomed;
    return spanOf(this.range, this.chart?.first, Date.now() / 1000);
  }

  private spanWords(): string {
    if (this.zoomed) return "in this span";
    return this.range.seconds === undefined ? "" : `in these ${this.range.name}`;
  }

  private choose(range: Range): void {
    this.range = range;
    this.zoom(undefined);
    void this.restore();
  }

  private zoom(span: Span | undefined): void {
    this.zoomed = span;
    this.whole.hidden = span === undefined;
    if (span) setText(this.whole, `Zoom out of ${formatMoment(span[0], 1)} to ${formatMoment(span[1], 1)}`);
    this.press();
    this.chart?.draw();
  }

  private press(): void {
    for (const [range, button] of this.buttons) {
      button.setAttribute("aria-pressed", String(range === this.range));
    }
  }

  /** Stored points, and those that come meanwhile. */
  private async restore(): Promise<void> {
    this.choice += 1;
    const { choice } = this;
    this.chart?.settle(false);
    const waiting: Point[] = [];
    this.waiting = waiting;
    try {
      const points = await this.fetch((count) => {
        setText(this.loading, `Loading, ${formatCount(count)} readings`);
        return choice === this.choice;
      });
      if (choice !== this.choice) return;
      this.chart?.restore(points, waiting);
      this.chart?.settle(true);
      setText(this.loading, "");
      this.waiting = undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (choice !== this.choice) return;
      setText(this.loading, "");
      if (error.status === 404) this.gone();
      else setText(this.problem, `The readings could not be loaded. ${error.words}`);
    }
  }

  private fetch(progress: (count: number) => boolean): Promise<Point[]> {
    const from = this.range.seconds === undefined ? -Infinity : Date.now() - this.range.seconds * 1000;
    const most = this.isText ? MOST_TEXTS : MOST_POINTS;
    return history((page) => sharedApi.data(this.id, page, this.token), from, most, progress);
  }

  /** Takes along what the chart shows. */
  private csvButton(stream: SharedStreamWithPoint): HTMLElement {
    return button(
      "CSV",
      () => {
        const [from, until] = this.span().map((seconds) => seconds * 1000) as Span;
        const chosen = this.chart!.points().filter(({ time }) => time >= from && time <= until);
        download(fileName({ label: stream.device }, stream), csv(chosen));
      },
      "quiet",
      `Download ${shown(stream.label)} as CSV${stream.unit ? `, in ${unitSymbol(stream.unit)}` : ""}`,
    );
  }

  private offerToFollow(desk: Desk): void {
    const { username } = desk.user;
    const show = (follows: boolean) => {
      const change = button(follows ? "Unfollow" : "Follow", () => void act(), "secondary");
      const act = async () => {
        change.disabled = true;
        try {
          if (follows) await sharedApi.unfollow(username, this.id);
          else await sharedApi.follow(username, this.id);
          show(!follows);
        } catch (error) {
          change.disabled = false;
          desk.fail(error);
          if (error instanceof ApiError) setText(this.problem, error.words);
        }
      };
      this.actions.replaceChildren(change);
    };
    sharedApi
      .followed(username)
      .then((followed) => show(followed.some(({ id }) => String(id) === this.id)))
      .catch((error) => desk.fail(error));
  }
}

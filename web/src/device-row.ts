import { api, ApiError, type Latest, type LivePoint, type Resource, type Stream } from "./api";
import { CertificateEnd } from "./certificate";
import { html, tryAgain } from "./dom";
import { formatDate, formatValue, shown, unitSymbol } from "./format";
import { asideWords, Heard, isAhead, isLater } from "./heard";
import { ModeBadge } from "./mode-badge";
import type { Desk } from "./page";
import { deviceLink } from "./route";
import { usualInterval } from "./usual";

/** Quantities whose latest values a row shows. */
const MOST_VALUES = 4;

/** One line of the list: its name, how it is protected, and what it said last. */
export class DeviceRow {
  readonly root: HTMLTableRowElement;
  private readonly heard = new Heard();
  private readonly values = html("td", { class: "latest" });
  private readonly badge = new ModeBadge();
  private readonly certificate = new CertificateEnd();
  private readonly outputs = new Map<
    string,
    { output: HTMLElement; stream: Stream; latest: Latest | null }
  >();
  private state: "unread" | "reading" | "read" = "unread";

  constructor(
    private readonly desk: Desk,
    private resource: Resource,
  ) {
    this.badge.update(resource.mode);
    this.root = html(
      "tr",
      {},
      html("th", { scope: "row" }, html("a", { href: deviceLink(resource.id) }, shown(resource.label))),
      html("td", {}, this.badge.root, this.certificate.root),
      this.values,
      html("td", {}, this.heard.root),
    );
    this.heard.at(resource.heard);
  }

  /** What the list says of it now. */
  again(resource: Resource): void {
    this.resource = resource;
    this.heard.at(resource.heard);
  }

  /** What it said last has to be fetched anew. */
  forget(): void {
    this.certificate.forget();
    if (this.state === "read") this.state = "unread";
  }

  /** Fetches what the device said last, once it is looked at. */
  async look(): Promise<void> {
    if (this.state !== "unread") return;
    this.state = "reading";
    const { username } = this.desk.user;
    try {
      const streams = await api.streams(username, this.resource.id);
      this.outputs.clear();
      this.values.replaceChildren();
      for (const stream of streams.slice(0, MOST_VALUES)) {
        const output = html("span", { class: "value" });
        this.outputs.set(String(stream.id), { output, stream, latest: null });
        this.values.append(output);
        if (stream.latest) this.say(String(stream.id), stream.latest);
      }
      await this.certificate.of(username, this.resource);
      this.heard.usually(await usualInterval(username, this.resource.id, streams));
      this.state = "read";
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.state = "unread";
      if (this.outputs.size === 0) {
        this.values.replaceChildren(
          "Could not be loaded. ",
          tryAgain(() => void this.look()),
        );
      }
      this.desk.fail(error);
    }
  }

  add(point: LivePoint): void {
    this.heard.at(point.arrived);
    if (this.outputs.has(String(point.stream))) {
      this.say(String(point.stream), point);
    } else if (this.state === "read" && this.outputs.size < MOST_VALUES) {
      this.state = "unread";
      void this.look();
    }
  }

  tick(): void {
    this.heard.tick();
  }

  private say(id: string, latest: Latest): void {
    const known = this.outputs.get(id)!;
    if (known.latest && !isLater(latest, known.latest)) return;
    known.latest = latest;
    this.heard.at(latest.arrived);
    const { output, stream } = known;
    const label = shown(stream.label);
    const aside = asideWords(latest);
    output.title = `${label}, measured at ${formatDate(latest.time)}`;
    output.classList.toggle("ahead", isAhead(latest));
    output.replaceChildren(
      html("span", { class: "spoken" }, `${label} `),
      `${formatValue(latest.value)} ${unitSymbol(stream.unit)}`.trim(),
      ...(aside ? [html("small", {}, ` ${aside}`)] : []),
    );
  }
}

import { api, ApiError, type Latest, type LivePoint, type Stream } from "./api";
import { CertificateEnd } from "./certificate";
import { html, tryAgain } from "./dom";
import type { FleetDevice } from "./fleet-api";
import { formatDate, formatValue, shown, unitSymbol } from "./format";
import { asideWords, Heard, isAhead, isLater } from "./heard";
import { ModeBadge } from "./mode-badge";
import type { Desk } from "./page";
import { deviceLink, devicesLink, LINKS } from "./route";
import { usualInterval } from "./usual";

/** Quantities whose latest values a row shows. */
const MOST_VALUES = 4;

/** One line of the list: its name, by what it is found, how it is protected, and what it said last. */
export class DeviceRow {
  readonly root: HTMLTableRowElement;
  private readonly heard = new Heard();
  private readonly values = html("td", { class: "latest" });
  private readonly order = html("td", { class: "order" });
  private readonly picked = html("input", { type: "checkbox" });
  private readonly badge = new ModeBadge();
  private readonly certificate = new CertificateEnd();
  private readonly outputs = new Map<
    string,
    { output: HTMLElement; stream: Stream; latest: Latest | null }
  >();
  private state: "unread" | "reading" | "read" = "unread";

  /** `pick` is told when a person chooses it, or not any more; without it, it cannot be chosen. */
  constructor(
    private readonly desk: Desk,
    private resource: FleetDevice,
    pick: ((id: FleetDevice["id"], picked: boolean) => void) | undefined,
  ) {
    this.badge.update(resource.mode);
    this.picked.setAttribute("aria-label", `Choose ${shown(resource.label)}`);
    this.picked.addEventListener("input", () => pick?.(resource.id, this.picked.checked));
    this.root = html(
      "tr",
      {},
      ...(pick ? [html("td", { class: "pick" }, this.picked)] : []),
      html("th", { scope: "row" }, html("a", { href: deviceLink(resource.id) }, shown(resource.label))),
      html("td", { class: "mode" }, this.badge.root, this.certificate.root),
      this.values,
      html("td", { class: "last" }, this.heard.root),
      this.order,
    );
    this.again(resource);
  }

  /** What the list says of it now. */
  again(resource: FleetDevice): void {
    this.resource = resource;
    this.heard.at(resource.heard);
    this.order.replaceChildren(...found(resource));
  }

  set isPicked(picked: boolean) {
    this.picked.checked = picked;
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

/** The alerts, the folder and the tags of a device, each leading to those that have the same. */
function found({ alerts, folder, tags, polls_paused }: FleetDevice): HTMLElement[] {
  const link = (query: Record<string, string>, words: string, kind: string) =>
    html("a", { href: devicesLink(query), class: kind }, shown(words));
  return [
    ...(alerts > 0
      ? [html("a", { href: LINKS.alerts, class: "tag alert" }, alerts === 1 ? "1 alert" : `${alerts} alerts`)]
      : []),
    ...(polls_paused === true ? [html("span", { class: "tag" }, "polling paused")] : []),
    ...(folder === "" ? [] : [link({ folder }, `${folder}/`, "tag folder")]),
    ...tags.map((tag) => link({ tags: tag }, tag, "tag")),
  ];
}

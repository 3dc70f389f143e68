import { ApiError } from "../api";
import { html, setText, svg, tryAgain } from "../dom";
import { fleetApi, STATE_WORDS, type Placed } from "../fleet-api";
import { formatCount, shown } from "../format";
import { around, clusters, moved, worstOf, zoomed, WORLD, type View } from "../map/clusters";
import { coastlines, pathOf, type Topology } from "../map/topology";
import type { Desk, Page } from "../page";
import { button } from "../panel";
import { deviceLink, LINKS } from "../route";

/** Where devices are is asked anew so often, in seconds. */
const AGAIN_S = 60;
/** A view that is narrower, in degrees, has finer coasts. */
const FINE = 60;
/** Devices of one place that are named. */
const MOST_NAMES = 20;
const ZOOM = 2;

/** The devices that have a place, on a map of the world's coasts. Its data come with it, not before. */
export class MapPage implements Page {
  readonly title = "Map";
  readonly root: HTMLElement;
  private readonly count = html("p", { class: "count", role: "status" }, "Loading your devices.");
  private readonly note = html("p", { class: "note", role: "status", hidden: true });
  private readonly land = svg("path", { class: "land" });
  private readonly marks = svg("g");
  private readonly map = svg(
    "svg",
    { class: "world", role: "group", "aria-label": "Map of devices", preserveAspectRatio: "xMidYMid meet" },
    this.land,
    this.marks,
  );
  private readonly here = html("div", { class: "here", role: "status" });
  private devicesThere: Placed[] = [];
  private view: View = WORLD;
  private hasView = false;
  /** Which coasts are drawn. */
  private drawn: "coarse" | "fine" | undefined;
  private ticks = 0;
  private stopped = false;

  constructor(private readonly desk: Desk) {
    const to = (view: () => View) => () => this.show(view());
    this.root = html(
      "section",
      { class: "panel map", "aria-labelledby": "map-heading" },
      html(
        "header",
        { class: "panel-head" },
        html("h2", { id: "map-heading" }, "Map"),
        this.count,
        html(
          "div",
          { class: "tools" },
          button(
            "+",
            to(() => zoomed(this.view, 1 / ZOOM)),
            "secondary",
            "Nearer",
          ),
          button(
            "−",
            to(() => zoomed(this.view, ZOOM)),
            "secondary",
            "Farther",
          ),
          button(
            "←",
            to(() => moved(this.view, -0.25, 0)),
            "secondary",
            "West",
          ),
          button(
            "→",
            to(() => moved(this.view, 0.25, 0)),
            "secondary",
            "East",
          ),
          button(
            "↑",
            to(() => moved(this.view, 0, -0.25)),
            "secondary",
            "North",
          ),
          button(
            "↓",
            to(() => moved(this.view, 0, 0.25)),
            "secondary",
            "South",
          ),
          button(
            "All devices",
            to(() => around(this.devicesThere)),
          ),
        ),
      ),
      this.note,
      this.map,
      this.here,
    );
    void this.look();
  }

  tick(): void {
    this.ticks += 1;
    if (this.ticks % AGAIN_S === 0 && !document.hidden) void this.look();
  }

  stop(): void {
    this.stopped = true;
  }

  private async look(): Promise<void> {
    try {
      this.devicesThere = await fleetApi(this.desk.user.username).places();
      if (this.stopped) return;
      const { length } = this.devicesThere;
      setText(
        this.count,
        length === 1 ? "1 device has a place" : `${formatCount(length)} devices have a place`,
      );
      this.note.hidden = length > 0;
      if (length === 0)
        this.note.replaceChildren(
          "No device has a place yet. Its settings give it one. ",
          html("a", { href: LINKS.devices }, "Devices"),
        );
      this.show(this.hasView ? this.view : around(this.devicesThere));
      this.hasView = true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.desk.fail(error);
      if (this.hasView || this.stopped) return;
      setText(this.count, "");
      this.note.hidden = false;
      this.note.replaceChildren(
        `Your devices could not be loaded. ${error.words} `,
        tryAgain(() => void this.look()),
      );
    }
  }

  private show(view: View): void {
    this.view = view;
    const { west, north, width } = view;
    this.map.setAttribute("viewBox", `${west} ${-north} ${width} ${width / 2}`);
    this.marks.replaceChildren(
      ...clusters(this.devicesThere, view).map(({ latitude, longitude, devices }) => {
        const radius = width * Math.min(0.006 + 0.002 * Math.log2(devices.length), 0.016);
        const mark = svg(
          "circle",
          {
            cx: longitude,
            cy: -latitude,
            r: radius,
            class: `place ${worstOf(devices)}`,
            role: "button",
            tabindex: 0,
            "aria-label": markWords(devices),
          },
          svg("title", {}, markWords(devices)),
        );
        const open = () => this.tell(devices);
        mark.addEventListener("click", open);
        mark.addEventListener("keydown", (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          open();
        });
        return mark;
      }),
    );
    void this.draw(width < FINE ? "fine" : "coarse");
  }

  /** Draws the coasts, which are fetched when they are needed first. */
  private async draw(which: "coarse" | "fine"): Promise<void> {
    if (this.drawn === which) return;
    this.drawn = which;
    const data =
      which === "fine" ? import("world-atlas/land-50m.json") : import("world-atlas/land-110m.json");
    try {
      const topology = (await data).default as unknown as Topology;
      if (!this.stopped && this.drawn === which) this.land.setAttribute("d", pathOf(coastlines(topology)));
    } catch {
      // The devices are in their places without coasts, too; the next view tries again.
      this.drawn = undefined;
    }
  }

  /** Says which devices are at a place. */
  private tell(devices: readonly Placed[]): void {
    const named = devices.slice(0, MOST_NAMES);
    const rest = devices.length - named.length;
    this.here.replaceChildren(
      html(
        "ul",
        {},
        ...named.map(({ id, label, state, alerts }) =>
          html(
            "li",
            {},
            html("a", { href: deviceLink(id) }, shown(label)),
            ` ${STATE_WORDS[state].toLowerCase()}${alerts > 0 ? ", with alerts" : ""}`,
          ),
        ),
      ),
      ...(rest > 0
        ? [html("p", { class: "hint" }, `and ${formatCount(rest)} more; come nearer to see them`)]
        : []),
    );
  }
}

/** What is said of the devices at a place. */
export function markWords(devices: readonly Placed[]): string {
  const [first] = devices;
  const how = worstOf(devices);
  const state = how === "alert" ? "with alerts" : STATE_WORDS[how].toLowerCase();
  if (devices.length === 1) return `${shown(first!.label)}, ${state}`;
  return `${formatCount(devices.length)} devices, the worst ${state}`;
}

import { api, type ApiError, type LivePoint, type NetworkNode, type Resource } from "./api";
import { html } from "./dom";
import { Figures } from "./figures";
import { shown } from "./format";
import { isGiven, ownerOf } from "./group-api";
import { Heard } from "./heard";
import { ModeBadge } from "./mode-badge";
import { nodeOfLabel } from "./network";
import { deviceLink } from "./route";
import { Streams } from "./streams";

/** How many points a chart of the overview holds: 25 minutes of a reading every five seconds. */
const POINTS_PER_CHART = 300;

/** One device: how it is protected, what that costs, and a live chart for each quantity it reports. */
export class DeviceCard {
  readonly root: HTMLElement;
  readonly node: number | undefined;
  private readonly badge = new ModeBadge();
  private readonly heard = new Heard();
  private readonly figures = new Figures();
  private readonly streams: Streams;

  constructor(
    user: string,
    private known: Resource,
    failed: (error: ApiError) => void,
  ) {
    const resource = known;
    const owner = ownerOf(resource, user);
    // The network is of one's own devices.
    this.node = isGiven(resource) ? undefined : nodeOfLabel(resource.label);
    this.streams = new Streams(owner, resource.id, {
      chart: { syncKey: `card-${resource.id}`, capacity: POINTS_PER_CHART, height: 96, heading: "h4" },
      history: (stream) => api.data(owner, resource.id, stream.id, { limit: POINTS_PER_CHART }),
      heard: (arrived) => this.heard.at(arrived),
      usually: (interval) => this.heard.usually(interval),
      loaded: () => this.root.classList.remove("pending"),
      failed,
    });
    const heading = `device-${resource.id}-name`;
    this.root = html(
      "article",
      { class: "card pending", "aria-labelledby": heading },
      html(
        "header",
        { class: "card-head" },
        html(
          "div",
          {},
          html("h3", { id: heading }, html("a", { href: deviceLink(resource.id) }, shown(resource.label))),
          ...(isGiven(resource) ? [html("p", { class: "tag" }, `of ${shown(resource.owner)}`)] : []),
          this.heard.root,
        ),
        this.badge.root,
      ),
      this.figures.root,
      this.streams.root,
      this.streams.note,
    );
    this.badge.update(resource.mode);
    this.heard.at(resource.heard);
  }

  get resource(): Resource {
    return this.known;
  }

  /** What the list says of it now. */
  again(resource: Resource): void {
    this.known = resource;
    this.heard.at(resource.heard);
  }

  setVisible(visible: boolean): void {
    this.streams.show(visible);
  }

  reload(): void {
    this.streams.reload();
  }

  add(point: LivePoint): void {
    this.streams.add(point);
  }

  /** Figures of the network; a device outside of it has none. */
  update(node: NetworkNode | undefined): void {
    this.figures.update(node);
    this.badge.update(node?.security ?? this.resource.mode);
  }

  recolour(): void {
    this.streams.recolour();
  }

  tick(): void {
    this.heard.tick();
  }

  destroy(): void {
    this.streams.stop();
    this.root.remove();
  }
}

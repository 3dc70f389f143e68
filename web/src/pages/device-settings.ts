import type { ApiError, Resource } from "../api";
import { deviceApi } from "../device-api";
import { html, tryAgain } from "../dom";
import { shown } from "../format";
import { inOrder } from "../network";
import type { Desk, Page } from "../page";
import { deviceLink, LINKS } from "../route";
import { About } from "../settings/about";
import { ComputedPanel } from "../settings/computed";
import { GroupsPanel } from "../settings/groups";
import { ParsersPanel } from "../settings/parsers";
import { PollerPanel } from "../settings/poller";
import { RetentionPanel } from "../settings/retention";
import { StreamsPanel } from "../settings/streams";

/** Back-filling is looked at so often, and polling less often, in seconds. */
const BACKFILL_S = 2;
const POLLER_S = 5;

interface Parts {
  about: About;
  streams: StreamsPanel;
  retention: RetentionPanel;
  computed: ComputedPanel;
  poller: PollerPanel;
  parsers: ParsersPanel;
  groups: GroupsPanel;
}

/** What can be set of one device: its name, its streams, and how its readings are had and read. */
export class DeviceSettingsPage implements Page {
  readonly title = "Device settings";
  readonly root = html("div", { class: "settings" });
  private readonly heading = html("h2", { class: "settings-heading" }, "Settings");
  private readonly note = html("p", { class: "note", role: "status" }, "Loading the device.");
  private all: Resource[] = [];
  private parts: Parts | undefined;
  private ticks = 0;

  constructor(
    private readonly desk: Desk,
    private readonly id: string,
  ) {
    const back = html("a", { class: "back", href: deviceLink(id) }, "Readings");
    this.root.append(back, this.heading, this.note);
  }

  devices(resources: Resource[]): void {
    this.all = inOrder(resources);
    const resource = resources.find((known) => String(known.id) === this.id);
    if (!resource) {
      this.stop();
      this.root.replaceChildren(
        html("a", { class: "back", href: LINKS.devices }, "All devices"),
        html("p", { class: "note" }, "There is no such device, or no longer."),
      );
      return;
    }
    this.heading.textContent = `Settings of ${shown(resource.label)}`;
    document.title = `${this.heading.textContent} · Sixlock`;
    if (this.parts) return;
    const { desk } = this;
    const api = deviceApi(desk.user.username, resource.id);
    const computed: ComputedPanel = new ComputedPanel(
      desk,
      api,
      resource,
      () => this.all,
      () => {
        void streams.load();
        void retention.load();
      },
    );
    const retention = new RetentionPanel(desk, resource);
    const streams: StreamsPanel = new StreamsPanel(desk, api, resource, () => {
      void computed.load();
      void retention.load();
    });
    this.parts = {
      about: new About(desk, api, resource),
      streams,
      retention,
      computed,
      poller: new PollerPanel(desk, api, resource.id),
      parsers: new ParsersPanel(desk, api),
      groups: new GroupsPanel(desk, { device: resource.id }),
    };
    const { about, poller, parsers, groups } = this.parts;
    this.note.remove();
    for (const part of [about, streams, retention, computed, poller, parsers, groups])
      this.root.append(part.root);
    for (const panel of [streams, retention, computed, poller, parsers, groups]) void panel.load();
  }

  noDevices(error: ApiError): void {
    if (this.parts) return;
    this.note.replaceChildren(
      `The device could not be loaded. ${error.words} `,
      tryAgain(() => void this.desk.refresh()),
    );
  }

  /** What was missed may be a new stream, or one that was deleted elsewhere. */
  reopened(): void {
    void this.parts?.streams.load();
    void this.parts?.retention.load();
    void this.parts?.computed.load();
  }

  tick(): void {
    this.ticks += 1;
    if (this.ticks % BACKFILL_S === 0) this.parts?.computed.again();
    if (this.ticks % POLLER_S === 0) this.parts?.poller.again();
  }

  stop(): void {
    for (const part of Object.values(this.parts ?? {})) part.stop();
  }
}

import type { ApiError, LivePoint, Network, Resource } from "../api";
import { DeviceCard } from "../device-card";
import { arrange, html, setText, tryAgain } from "../dom";
import { Fleet } from "../fleet";
import { formatCount } from "../format";
import { isGiven, type GivenDevice } from "../group-api";
import { inOrder, nodeOfLabel } from "../network";
import { NetworkMap } from "../network-map";
import type { Desk, Page } from "../page";
import { deviceLink, LINKS } from "../route";
import { Summary } from "../summary";

/** More devices than these are looked up in the list. */
const MOST_CARDS = 60;
/** How the devices are is asked so often, in seconds. */
const COUNT_S = 30;

/** The network as a whole, the devices in numbers, and a card for each one that was heard. */
export class OverviewPage implements Page {
  readonly root: HTMLElement;
  readonly title = "Overview";
  private readonly grid = html("div", { class: "grid" });
  private readonly empty = html("p", { class: "note", role: "status" }, "Loading your devices.");
  private readonly more = html("a", { class: "more", href: LINKS.devices, hidden: true });
  private readonly cards = new Map<string, DeviceCard>();
  private readonly map = new NetworkMap({ link: (node) => this.linkOf(node) });
  private readonly summary = new Summary(this.map);
  private readonly inView: IntersectionObserver;
  private readonly fleet: Fleet;
  private latest: Network | undefined;
  private all: Resource[] = [];
  private givenDevices: GivenDevice[] = [];
  /** The devices that have no card because they were never heard. */
  private unheard = new Set<string>();
  private ticks = 0;

  constructor(private readonly desk: Desk) {
    this.fleet = new Fleet(desk);
    this.root = html(
      "div",
      {},
      this.summary.root,
      html(
        "section",
        { "aria-labelledby": "devices-heading" },
        html("h2", { id: "devices-heading", class: "devices-heading" }, "Devices"),
        this.fleet.root,
        this.empty,
        this.grid,
        this.more,
      ),
    );
    this.inView = new IntersectionObserver((entries) => this.look(entries), { rootMargin: "200px" });
    // The numbers do not wait for the list.
    void this.fleet.look();
  }

  given(devices: GivenDevice[]): void {
    this.givenDevices = devices;
  }

  devices(resources: Resource[]): void {
    // One's own first.
    this.all = [...inOrder(resources), ...inOrder(this.givenDevices)];
    this.arrange();
  }

  noDevices(error: ApiError): void {
    this.empty.replaceChildren(
      `Your devices could not be loaded. ${error.words} `,
      tryAgain(() => void this.desk.refresh()),
    );
  }

  network(network: Network): void {
    this.latest = network;
    this.summary.root.hidden = false;
    this.summary.update(network);
    this.map.update(network.nodes);
    this.figures();
  }

  noNetwork(why: string, absent: boolean): void {
    this.summary.root.hidden = absent;
    this.summary.fail(why);
  }

  point(point: LivePoint): void {
    const id = String(point.resource);
    if (this.unheard.has(id)) this.arrange();
    const card = this.cards.get(id);
    card?.add(point);
    if (card?.node !== undefined) this.map.flash(card.node);
  }

  reopened(): void {
    for (const card of this.cards.values()) card.reload();
  }

  tick(): void {
    this.ticks += 1;
    if (this.ticks % COUNT_S === 0 && !document.hidden) void this.fleet.look();
    for (const card of this.cards.values()) card.tick();
  }

  recolour(): void {
    for (const card of this.cards.values()) card.recolour();
  }

  stop(): void {
    this.inView.disconnect();
    this.map.stop();
    for (const card of this.cards.values()) card.destroy();
  }

  /** A card for each device that was ever heard. */
  private arrange(): void {
    const heard = this.all.filter((resource) => resource.heard !== null);
    this.unheard = new Set(this.all.filter(({ heard }) => heard === null).map(({ id }) => String(id)));
    const shown = heard.slice(0, MOST_CARDS);
    const wanted = new Set(shown.map((resource) => String(resource.id)));
    for (const [id, card] of this.cards) {
      if (wanted.has(id)) continue;
      this.inView.unobserve(card.root);
      card.destroy();
      this.cards.delete(id);
    }
    const cards = shown.map((resource) => this.cardOf(resource));
    arrange(
      this.grid,
      cards.map((card) => card.root),
    );
    void this.fleet.look();
    this.empty.hidden = this.all.length > 0;
    this.empty.replaceChildren(
      "No devices yet. ",
      html("a", { href: LINKS.devices }, "Add one"),
      ", or start a simulated network with “sixlock up”.",
    );
    this.more.hidden = heard.length <= shown.length;
    setText(this.more, `All ${formatCount(this.all.length)} devices`);
    this.figures();
    if (this.latest) this.map.update(this.latest.nodes);
  }

  private cardOf(resource: Resource): DeviceCard {
    const known = this.cards.get(String(resource.id));
    if (known) {
      known.again(resource);
      return known;
    }
    const card = new DeviceCard(this.desk.user.username, resource, (error) => this.desk.fail(error));
    this.cards.set(String(resource.id), card);
    this.inView.observe(card.root);
    return card;
  }

  private linkOf(node: number): string | undefined {
    const found = this.all.find((device) => !isGiven(device) && nodeOfLabel(device.label) === node);
    return found && deviceLink(found.id);
  }

  private look(entries: IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      for (const card of this.cards.values()) if (card.root === target) card.setVisible(isIntersecting);
    }
  }

  private figures(): void {
    const nodes = new Map(this.latest?.nodes.map((node) => [node.id, node]));
    for (const card of this.cards.values()) {
      card.update(card.node === undefined ? undefined : nodes.get(card.node));
    }
  }
}

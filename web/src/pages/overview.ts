import type { LivePoint, Network, Resource } from "../api";
import { DeviceCard } from "../device-card";
import { arrange, html, setText } from "../dom";
import { formatCount } from "../format";
import { inOrder } from "../network";
import { NetworkMap } from "../network-map";
import type { Desk, Page } from "../page";
import { deviceLink, LINKS } from "../route";
import { Summary } from "../summary";

/** More devices than these are looked up in the list. */
const MOST_CARDS = 60;

/** The network as a whole, and a card for each device. */
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
  private latest: Network | undefined;

  constructor(private readonly desk: Desk) {
    this.root = html(
      "div",
      {},
      this.summary.root,
      html(
        "section",
        { "aria-labelledby": "devices-heading" },
        html("h2", { id: "devices-heading", class: "devices-heading" }, "Devices"),
        this.empty,
        this.grid,
        this.more,
      ),
    );
    this.inView = new IntersectionObserver((entries) => this.look(entries), { rootMargin: "200px" });
  }

  devices(resources: Resource[]): void {
    const shown = inOrder(resources).slice(0, MOST_CARDS);
    const wanted = new Set(shown.map((resource) => String(resource.id)));
    for (const [id, card] of this.cards) {
      if (wanted.has(id)) continue;
      this.inView.unobserve(card.root);
      card.destroy();
      this.cards.delete(id);
    }
    const cards = shown.map((resource) => {
      const known = this.cards.get(String(resource.id));
      if (known) return known;
      const card = new DeviceCard(this.desk.user.username, resource, (error) => this.desk.fail(error));
      this.cards.set(String(resource.id), card);
      this.inView.observe(card.root);
      return card;
    });
    arrange(
      this.grid,
      cards.map((card) => card.root),
    );
    this.empty.hidden = cards.length > 0;
    this.empty.replaceChildren(
      "No devices yet. ",
      html("a", { href: LINKS.devices }, "Add one"),
      ", or start a network with “sixlock up”.",
    );
    this.more.hidden = resources.length <= shown.length;
    setText(this.more, `All ${formatCount(resources.length)} devices`);
    this.figures();
    if (this.latest) this.map.update(this.latest.nodes);
  }

  network(network: Network): void {
    this.latest = network;
    this.summary.update(network);
    this.map.update(network.nodes);
    this.figures();
  }

  noNetwork(why: string): void {
    this.summary.fail(why);
  }

  point(point: LivePoint): void {
    const card = this.cards.get(String(point.resource));
    card?.add(point);
    if (card?.node !== undefined) this.map.flash(card.node);
  }

  reopened(): void {
    for (const card of this.cards.values()) card.reload();
  }

  tick(): void {
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

  private linkOf(node: number): string | undefined {
    for (const card of this.cards.values()) if (card.node === node) return deviceLink(card.resource.id);
    return undefined;
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

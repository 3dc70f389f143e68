import { api, ApiError, type LivePoint, type Network, type Resource } from "./api";
import { DeviceCard } from "./device-card";
import { html, mark, setText } from "./dom";
import { Live, type LiveState } from "./live";
import { NetworkMap } from "./network-map";
import { NetworkPoll } from "./network";
import { Summary } from "./summary";

const STATE_WORDS: Record<LiveState, string> = {
  connecting: "Connecting",
  live: "Live",
  reconnecting: "Reconnecting",
};
const ENDED = "Your session has ended. Sign in again to go on.";
const ASLEEP_MS = 30_000;
const RETRY_MS = 5_000;

/** The overview of one user's devices. */
export class Dashboard {
  readonly root: HTMLElement;
  private readonly connection = html("p", { class: "connection", role: "status" });
  private readonly signOut = html("button", { type: "button", class: "quiet" }, "Sign out");
  private readonly banner = html("p", { class: "banner", role: "status", hidden: true });
  private readonly grid = html("div", { class: "grid" });
  private readonly empty = html("p", { class: "note" }, "Loading your devices.");
  private readonly cards = new Map<string, DeviceCard>();
  private readonly map = new NetworkMap(
    (node) => this.cardOf(node)?.root.id && `#${this.cardOf(node)!.root.id}`,
  );
  private readonly summary = new Summary(this.map);
  private readonly live: Live;
  private readonly poll: NetworkPoll;
  private readonly inView: IntersectionObserver;
  private readonly ticker: number;
  private readonly listeners = new AbortController();
  private network: Network | undefined;
  private refreshing = false;
  private again = false;
  private retry: number | undefined;
  private hiddenAt = 0;
  private askedForStranger = -Infinity;

  constructor(
    private readonly user: string,
    private readonly signedOut: (why: string) => void,
  ) {
    this.root = html(
      "div",
      { class: "page" },
      html(
        "header",
        { class: "top" },
        html("div", { class: "brand" }, mark(), html("h1", {}, "Sixlock")),
        html("p", { class: "user" }, user),
        this.signOut,
        this.connection,
      ),
      this.banner,
      html(
        "main",
        {},
        this.summary.root,
        html(
          "section",
          { "aria-labelledby": "devices-heading" },
          html("h2", { id: "devices-heading", class: "devices-heading" }, "Devices"),
          this.empty,
          this.grid,
        ),
      ),
    );
    this.inView = new IntersectionObserver((entries) => this.look(entries), { rootMargin: "200px" });
    this.live = new Live({
      opened: () => void this.refresh(true),
      point: (point) => this.add(point),
      state: (state) => this.showState(state),
      signedOut: () => this.leave(ENDED),
    });
    this.poll = new NetworkPoll(
      (network) => this.showNetwork(network),
      (error) => this.summary.fail(error),
    );
    this.ticker = window.setInterval(() => this.cards.forEach((card) => card.tick()), 1_000);

    const { signal } = this.listeners;
    this.signOut.addEventListener("click", () => void this.endSession(), { signal });
    document.addEventListener("visibilitychange", () => this.wake(), { signal });
    window.addEventListener("pageshow", (event) => event.persisted && this.live.restart(), { signal });
    window.addEventListener("online", () => this.live.restart(), { signal });
    matchMedia("(prefers-color-scheme: dark)").addEventListener(
      "change",
      () => this.cards.forEach((card) => card.recolour()),
      { signal },
    );
  }

  stop(): void {
    this.live.stop();
    this.poll.stop();
    this.listeners.abort();
    this.inView.disconnect();
    window.clearInterval(this.ticker);
    window.clearTimeout(this.retry);
    this.cards.forEach((card) => card.destroy());
  }

  private leave(why: string): void {
    this.stop();
    this.signedOut(why);
  }

  private async endSession(): Promise<void> {
    try {
      await api.logout();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (!error.signedOut) {
        this.say(`You are still signed in: ${error.message} Try again.`);
        return;
      }
    }
    this.leave("You are signed out.");
  }

  /** A tab that slept missed points, and its connection may be dead without knowing. */
  private wake(): void {
    if (document.hidden) {
      this.hiddenAt = Date.now();
      return;
    }
    this.poll.now();
    if (Date.now() - this.hiddenAt > ASLEEP_MS) this.live.restart();
  }

  private cardOf(node: number): DeviceCard | undefined {
    for (const card of this.cards.values()) if (card.node === node) return card;
    return undefined;
  }

  private look(entries: IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      for (const card of this.cards.values()) if (card.root === target) card.setVisible(isIntersecting);
    }
  }

  private add(point: LivePoint): void {
    const card = this.cards.get(String(point.resource));
    if (!card) {
      this.meet();
      return;
    }
    card.add(point);
    if (card.node !== undefined) this.map.flash(card.node);
  }

  /** A reading of a device that is not on the page: it is new, or not ours to see. */
  private meet(): void {
    if (Date.now() - this.askedForStranger < RETRY_MS) return;
    this.askedForStranger = Date.now();
    void this.refresh(false);
  }

  private showState(state: LiveState): void {
    this.connection.dataset["state"] = state;
    setText(this.connection, STATE_WORDS[state]);
    if (state === "reconnecting") {
      this.say("The live feed is interrupted. It reconnects by itself, and what was missed is filled in.");
    } else if (state === "live") {
      this.banner.hidden = true;
    }
  }

  private say(words: string): void {
    this.banner.hidden = false;
    setText(this.banner, words);
  }

  private showNetwork(network: Network): void {
    this.network = network;
    this.summary.update(network);
    this.map.update(network.nodes);
    this.updateCards();
  }

  private updateCards(): void {
    const nodes = new Map(this.network?.nodes.map((node) => [node.id, node]));
    for (const card of this.cards.values()) {
      card.update(card.node === undefined ? undefined : nodes.get(card.node));
    }
  }

  /** Fetches the list of devices; with `all`, the readings of those already here as well. */
  private async refresh(all: boolean): Promise<void> {
    if (this.refreshing) {
      this.again ||= all;
      return;
    }
    this.refreshing = true;
    window.clearTimeout(this.retry);
    try {
      const known = [...this.cards.values()];
      this.arrange(await api.resources(this.user));
      if (all) known.forEach((card) => card.reload());
    } catch (error) {
      this.fail(error);
      this.retry = window.setTimeout(() => void this.refresh(true), RETRY_MS);
    } finally {
      this.refreshing = false;
      if (this.again) {
        this.again = false;
        void this.refresh(true);
      }
    }
  }

  private fail(error: unknown): void {
    if (!(error instanceof ApiError)) throw error;
    if (error.signedOut) this.leave(ENDED);
    else if (this.cards.size === 0) setText(this.empty, `${error.message} Trying again in a few seconds.`);
  }

  private arrange(resources: Resource[]): void {
    const wanted = new Set(resources.map((resource) => String(resource.id)));
    for (const [id, card] of this.cards) {
      if (wanted.has(id)) continue;
      this.inView.unobserve(card.root);
      card.destroy();
      this.cards.delete(id);
    }
    for (const resource of resources) {
      if (this.cards.has(String(resource.id))) continue;
      const card = new DeviceCard(this.user, resource, (error) => this.fail(error));
      this.cards.set(String(resource.id), card);
      this.inView.observe(card.root);
    }
    this.grid.append(...inOrder([...this.cards.values()]).map((card) => card.root));
    this.empty.hidden = this.cards.size > 0;
    setText(
      this.empty,
      "No devices yet. Start a network with “sixlock up”, or add a device: POST /api/v1/users/" +
        `${this.user}/resources. It appears here by itself at its first reading.`,
    );
    this.updateCards();
    if (this.network) this.map.update(this.network.nodes);
  }
}

/** Nodes by number, then the others by name. */
function inOrder(cards: DeviceCard[]): DeviceCard[] {
  const rank = (card: DeviceCard) => card.node ?? Infinity;
  return cards.sort((a, b) =>
    rank(a) === rank(b) ? a.resource.label.localeCompare(b.resource.label) : rank(a) - rank(b),
  );
}

import { alertApi, type Alert } from "./alert-api";
import { api, ApiError, type LivePoint, type Network, type Resource, type User } from "./api";
import { closeDialogs } from "./dialog";
import { html, setText } from "./dom";
import { shown } from "./format";
import { frame } from "./frame";
import { groupApi, type GivenDevice } from "./group-api";
import { Live, type LiveState } from "./live";
import { NetworkPoll } from "./network";
import { OpenAlerts } from "./open-alerts";
import type { Desk, Page } from "./page";
import { pageOf } from "./pages/of-route";
import { LINKS, routeOf, tabOf } from "./route";

const STATE_WORDS: Record<LiveState, string> = {
  connecting: "Connecting",
  live: "Live",
  reconnecting: "Reconnecting",
};
const ENDED = "Your session has ended. Sign in again to go on.";
const tab = (name: string, href: string) => html("a", { href }, name);

const ASLEEP_MS = 30_000;
const RETRY_MS = 5_000;
const SESSION_CHECK_MS = 60_000;

/** The dashboard of one user: the head, the connection to the cloud, and one page at a time. */
export class App {
  readonly root: HTMLElement;
  private readonly connection = html("p", { class: "connection", role: "status" });
  private readonly banner = html("p", { class: "banner", role: "status", hidden: true });
  private readonly main = html("main", { id: "content", tabindex: -1 });
  private readonly tabs: HTMLAnchorElement[];
  private readonly networkTab = tab("Network", LINKS.network);
  private readonly alertCount = html("span", { class: "alert-count", hidden: true });
  private readonly alertsTab = html("a", { href: LINKS.alerts }, "Alerts ", this.alertCount);
  private readonly account: HTMLAnchorElement;
  private readonly live: Live;
  private readonly poll: NetworkPoll;
  private readonly openAlerts: OpenAlerts;
  private readonly timers: number[];
  private readonly listeners = new AbortController();
  private readonly desk: Desk;
  private page: Page;
  private resources: Resource[] | undefined;
  /** The devices of others that groups let the user see. */
  private given: GivenDevice[] = [];
  /** The resources by their id. */
  private known = new Map<string, Resource>();
  private noResources: ApiError | undefined;
  private network: Network | undefined;
  private noNetwork: [why: string, absent: boolean] | undefined;
  private refreshing: Promise<void> | undefined;
  private retry: number | undefined;
  private hiddenAt = 0;
  /** Devices that report but are not in the list: an administrator hears those of others, too. */
  private readonly strangers = new Set<string>();
  private stopped = false;

  constructor(
    private readonly user: User,
    private readonly signedOut: (why: string) => void,
  ) {
    this.desk = {
      user,
      refresh: () => this.refresh(),
      fail: (error) => this.fail(error),
      go: (link) => {
        window.location.hash = link;
      },
      mayChange: user.role !== "viewer",
      countAlerts: (open) => this.countAlerts(open),
      alertsChanged: () => void this.openAlerts.now(),
      leave: (why) => this.leave(why),
    };
    this.tabs = [
      tab("Overview", LINKS.overview),
      tab("Devices", LINKS.devices),
      this.alertsTab,
      this.networkTab,
      tab("Followed", LINKS.followed),
      tab("Groups", LINKS.groups),
      ...(user.admin ? [tab("Users", LINKS.users), tab("Audit", LINKS.audit)] : []),
    ];
    this.account = html(
      "a",
      { class: "user", href: LINKS.account, "aria-label": `Account of ${user.username}` },
      shown(user.username),
    );
    // There may be none: its tab comes with the first answer.
    this.networkTab.hidden = true;
    const signOut = html("button", { type: "button", class: "quiet" }, "Sign out");
    this.root = frame(this.main, this.tabs, [this.account, signOut, this.connection], this.banner);
    this.page = this.turn();
    // The list does not wait for the feed.
    void this.refresh();
    this.live = new Live(user.username, {
      opened: () => this.reopened(),
      point: (point) => this.add(point),
      state: (state, why) => this.showState(state, why),
      signedOut: () => this.leave(ENDED),
    });
    this.poll = new NetworkPoll(
      (network) => {
        this.network = network;
        this.noNetwork = undefined;
        this.networkTab.hidden = false;
        this.page.network?.(network);
      },
      (why, absent) => {
        this.noNetwork = [why, absent];
        this.networkTab.hidden = absent;
        this.page.noNetwork?.(why, absent);
      },
    );
    this.openAlerts = new OpenAlerts(
      alertApi(user.username),
      (open) => this.showAlerts(open),
      (error) => this.fail(error),
    );
    this.timers = [
      window.setInterval(() => this.page.tick?.(), 1_000),
      window.setInterval(() => document.hidden || void this.checkSession(), SESSION_CHECK_MS),
    ];

    const { signal } = this.listeners;
    signOut.addEventListener("click", () => void this.endSession(), { signal });
    document.addEventListener("visibilitychange", () => this.wake(), { signal });
    window.addEventListener("hashchange", () => this.turnTo(), { signal });
    // A page that is left may be kept, to be shown when a person comes back to it: it must not keep the feed.
    window.addEventListener("pagehide", () => this.live.suspend(), { signal });
    window.addEventListener("pageshow", () => this.live.resume(), { signal });
    document.addEventListener("freeze", () => this.live.suspend(), { signal });
    document.addEventListener("resume", () => this.live.resume(), { signal });
    window.addEventListener("online", () => this.live.restart(), { signal });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.page.recolour?.(), {
      signal,
    });
  }

  private stop(): void {
    this.stopped = true;
    this.page.stop();
    closeDialogs();
    this.live.stop();
    this.poll.stop();
    this.openAlerts.stop();
    this.listeners.abort();
    this.timers.forEach((timer) => window.clearInterval(timer));
    window.clearTimeout(this.retry);
  }

  private leave(why: string): void {
    if (this.stopped) return;
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

  /** Whether this user is still the one who is signed in: another tab may have signed out, and in as another. */
  private async checkSession(): Promise<void> {
    try {
      const { username, role } = await api.me();
      if (username !== this.user.username || role !== this.user.role) this.leave("");
    } catch (error) {
      this.fail(error);
    }
  }

  /** The page of the address. */
  private turn(): Page {
    const route = routeOf(window.location.hash);
    const page = pageOf(route, this.desk);
    document.title = `${page.title} · Sixlock`;
    const current = tabOf(route);
    for (const tab of [...this.tabs, this.account]) {
      if (tab.getAttribute("href") === current) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
    }
    this.main.replaceChildren(page.root);
    if (this.resources) {
      page.given?.(this.given);
      page.devices?.(this.resources);
    } else if (this.noResources) page.noDevices?.(this.noResources);
    if (this.network) page.network?.(this.network);
    if (this.noNetwork) page.noNetwork?.(...this.noNetwork);
    return page;
  }

  /** Another page, read from its beginning. */
  private turnTo(): void {
    this.page.stop();
    closeDialogs();
    this.page = this.turn();
    window.scrollTo(0, 0);
    this.main.focus({ preventScroll: true });
  }

  /** A tab that slept missed points, and its connection may be dead without knowing. */
  private wake(): void {
    if (document.hidden) {
      this.hiddenAt = Date.now();
      return;
    }
    this.poll.now();
    void this.openAlerts.now();
    if (Date.now() - this.hiddenAt < ASLEEP_MS) return;
    void this.checkSession();
    this.live.restart();
  }

  /** The feed is open: what came before, and who is signed in, is asked anew. */
  private reopened(): void {
    void this.checkSession();
    void this.refresh();
    void this.openAlerts.now();
    this.page.reopened?.();
  }

  private add(point: LivePoint): void {
    const id = String(point.resource);
    const known = this.known.get(id);
    // A page that is opened later reads it in the list.
    if (known) known.heard = Math.max(known.heard ?? -Infinity, point.arrived);
    this.page.point?.(point);
    if (known || this.strangers.has(id)) return;
    this.strangers.add(id);
    void this.refresh();
  }

  private showState(state: LiveState, why?: string): void {
    this.connection.dataset["state"] = state;
    setText(this.connection, STATE_WORDS[state]);
    if (state === "reconnecting") {
      const cause = why === undefined ? "The live feed is interrupted." : `There is no live feed. ${why}`;
      this.say(`${cause} It reconnects by itself, and what was missed is filled in.`);
    } else if (state === "live") {
      this.banner.hidden = true;
    }
  }

  private showAlerts(open: Alert[]): void {
    this.countAlerts(open.length);
    this.page.alerts?.(open);
  }

  private countAlerts(open: number): void {
    this.alertCount.hidden = open === 0;
    this.alertCount.replaceChildren(
      ...(open === 0 ? [] : [String(open), html("span", { class: "spoken" }, " open")]),
    );
  }

  private say(words: string): void {
    this.banner.hidden = false;
    setText(this.banner, words);
  }

  /** Fetches the list of devices. Who asks while it is on its way gets the next one. */
  private async refresh(): Promise<void> {
    await this.refreshing;
    this.refreshing ??= this.fetchDevices();
    await this.refreshing;
  }

  private async fetchDevices(): Promise<void> {
    window.clearTimeout(this.retry);
    try {
      const { username } = this.user;
      [this.resources, this.given] = await Promise.all([
        api.resources(username),
        groupApi(username).devices(),
      ]);
      this.known = new Map([...this.resources, ...this.given].map((device) => [String(device.id), device]));
      if (this.stopped) return;
      if (this.connection.dataset["state"] === "live") this.banner.hidden = true;
      this.page.given?.(this.given);
      this.page.devices?.(this.resources);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (this.stopped) return;
      this.retry = window.setTimeout(() => void this.refresh(), RETRY_MS);
      this.noResources = error;
      if (this.resources || error.signedOut || !this.page.noDevices) this.fail(error);
      else this.page.noDevices(error);
    } finally {
      this.refreshing = undefined;
    }
  }

  private fail(error: unknown): void {
    if (!(error instanceof ApiError)) throw error;
    if (error.signedOut) this.leave(ENDED);
    else if (error.status === 0) this.say(`${error.words} Trying again in a few seconds.`);
  }
}

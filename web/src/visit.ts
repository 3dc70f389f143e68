import { html } from "./dom";
import { frame } from "./frame";
import type { Page } from "./page";
import { PublicPage } from "./pages/public";
import { SharedStreamPage } from "./pages/shared-stream";
import { LINKS, type Route } from "./route";

/** What the dashboard shows to people who are not signed in: streams that are shared with them. */
export class Visit {
  readonly root: HTMLElement;
  private readonly main = html("main", { id: "content", tabindex: -1 });
  private readonly listeners = new AbortController();
  private readonly timer: number;
  private page: Page | undefined;

  constructor() {
    this.root = frame(
      this.main,
      [html("a", { href: LINKS.public, "aria-current": "page" }, "Public streams")],
      [html("a", { class: "user", href: LINKS.overview }, "Sign in")],
    );
    const { signal } = this.listeners;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.page?.recolour?.(), {
      signal,
    });
    this.timer = window.setInterval(() => this.page?.tick?.(), 1_000);
  }

  /** Another page of those that are for all. */
  turnTo(route: Route): void {
    this.page?.stop();
    this.page = route.page === "stream" ? new SharedStreamPage(route.stream, route.token) : new PublicPage();
    document.title = `${this.page.title} · Sixlock`;
    this.main.replaceChildren(this.page.root);
    window.scrollTo(0, 0);
  }

  stop(): void {
    this.page?.stop();
    this.listeners.abort();
    window.clearInterval(this.timer);
  }
}

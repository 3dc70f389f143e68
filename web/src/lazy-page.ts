import { html, tryAgain } from "./dom";
import type { Page } from "./page";

/** A page whose program is fetched when a person first wants to see it, as few do. */
export class LazyPage implements Page {
  readonly root = html("div");
  private page: Page | undefined;
  private stopped = false;

  constructor(
    readonly title: string,
    private readonly fetchPage: () => Promise<Page>,
  ) {
    void this.load();
  }

  tick(): void {
    this.page?.tick?.();
  }

  stop(): void {
    this.stopped = true;
    this.page?.stop();
  }

  private async load(): Promise<void> {
    this.root.replaceChildren(html("p", { class: "note", role: "status" }, "Loading the page."));
    try {
      const page = await this.fetchPage();
      if (this.stopped) page.stop();
      this.page = page;
      this.root.replaceChildren(page.root);
    } catch {
      this.root.replaceChildren(
        html(
          "p",
          { class: "note", role: "status" },
          "The page could not be loaded. ",
          tryAgain(() => void this.load()),
        ),
      );
    }
  }
}

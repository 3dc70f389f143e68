import { ApiError } from "../api";
import { html, setText } from "../dom";
import { formatCount, shown, unitSymbol } from "../format";
import type { Page } from "../page";
import { LINKS, streamLink } from "../route";
import { FOUND_AT_ONCE, sharedApi, type SharedStream } from "../shared-api";

/** A search waits so long for the next letter. */
const PAUSE_MS = 300;

/** Streams that anyone may find, by the beginnings of words; for people who are signed in and for others. */
export class PublicPage implements Page {
  readonly title = "Public streams";
  readonly root: HTMLElement;
  private readonly search = html("input", {
    type: "search",
    id: "stream-search",
    placeholder: "Name, device, user or description",
    maxlength: 200,
    autocomplete: "off",
    spellcheck: "false",
  });
  private readonly count = html("p", { class: "count", role: "status" }, "Loading.");
  private readonly problem = html("p", { class: "problem", role: "alert" });
  private readonly rows = html("tbody");
  private readonly table: HTMLElement;
  private readonly more = html(
    "button",
    { type: "button", class: "secondary more", hidden: true },
    "Show more",
  );
  private found: SharedStream[] = [];
  private timer: number | undefined;
  /** Grows with each search: what was being looked for before is not wanted any more. */
  private searched = 0;

  constructor() {
    const column = (name: string) => html("th", { scope: "col" }, name);
    this.table = html(
      "table",
      { class: "list public-streams", hidden: true },
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          column("Stream"),
          column("Device"),
          column("User"),
          column("Unit"),
          column("Description"),
        ),
      ),
      this.rows,
    );
    this.root = html(
      "section",
      { class: "panel", "aria-labelledby": "public-heading" },
      html(
        "header",
        { class: "panel-head" },
        html("h2", { id: "public-heading" }, "Public streams"),
        this.count,
        html("label", { for: "stream-search", class: "spoken" }, "Search"),
        this.search,
      ),
      html(
        "p",
        { class: "hint" },
        "Streams whose owners let everybody find and read them. Each word is looked for at the beginning of words.",
      ),
      this.problem,
      this.table,
      this.more,
    );
    this.search.value = new URLSearchParams(window.location.hash.split("?")[1] ?? "").get("search") ?? "";
    this.search.addEventListener("input", () => {
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.look(false), PAUSE_MS);
    });
    this.more.addEventListener("click", () => void this.look(true));
    void this.look(false);
  }

  stop(): void {
    window.clearTimeout(this.timer);
    this.searched += 1;
  }

  /** Looks for what is typed: from the beginning, or for more of the same. */
  private async look(further: boolean): Promise<void> {
    const search = this.search.value.trim();
    this.searched += 1;
    const { searched } = this;
    this.more.disabled = true;
    try {
      const page = await sharedApi.find(search, further ? this.found.at(-1)?.id : 0);
      if (searched !== this.searched) return;
      this.found = further ? [...this.found, ...page] : page;
      setText(this.problem, "");
      this.show(page.length === FOUND_AT_ONCE);
      // So a search can be linked to. It makes no entry in the history.
      const query = search === "" ? "" : `?${new URLSearchParams({ search })}`;
      window.history.replaceState(null, "", LINKS.public + query);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (searched === this.searched) setText(this.problem, error.words);
    } finally {
      this.more.disabled = false;
    }
  }

  private show(hasMore: boolean): void {
    const { length } = this.found;
    setText(this.count, length === 0 ? "None found" : `${formatCount(length)}${hasMore ? " and more" : ""}`);
    this.table.hidden = length === 0;
    this.more.hidden = !hasMore;
    this.rows.replaceChildren(...this.found.map(row));
  }
}

function row(stream: SharedStream): HTMLElement {
  const { label, device, owner, unit, description } = stream;
  const cell = (name: string, content: string) => html("td", { "data-name": name }, content);
  return html(
    "tr",
    {},
    html("th", { scope: "row" }, html("a", { href: streamLink(stream.id) }, shown(label))),
    cell("Device", shown(device)),
    cell("User", shown(owner)),
    cell("Unit", unitSymbol(unit)),
    cell("Description", shown(description)),
  );
}

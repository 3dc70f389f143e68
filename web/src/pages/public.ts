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
    placeholder: "Name, device, tag, user or description",
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
  private readonly tagNote = html("p", { class: "hint", hidden: true });
  /** The tag that the devices of all have, if one is looked for. */
  private tag = "";
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
          column("Tags"),
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
      this.tagNote,
      this.problem,
      this.table,
      this.more,
    );
    const said = new URLSearchParams(window.location.hash.split("?")[1] ?? "");
    this.search.value = said.get("search") ?? "";
    this.tag = said.get("tag") ?? "";
    this.tagNote.hidden = this.tag === "";
    this.tagNote.append(
      `Only those of devices with the tag ${shown(this.tag)}. `,
      html("a", { href: LINKS.public }, "All streams"),
    );
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
      const page = await sharedApi.find(search, this.tag, further ? this.found.at(-1)?.id : 0);
      if (searched !== this.searched) return;
      this.found = further ? [...this.found, ...page] : page;
      setText(this.problem, "");
      this.show(page.length === FOUND_AT_ONCE);
      // So a search can be linked to. It makes no entry in the history.
      window.history.replaceState(null, "", publicLink(search, this.tag));
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

/** The address of what is looked for. */
function publicLink(search: string, tag: string): string {
  const said = Object.entries({ search, tag }).filter(([, value]) => value !== "");
  return said.length === 0 ? LINKS.public : `${LINKS.public}?${new URLSearchParams(said)}`;
}

function row(stream: SharedStream): HTMLElement {
  const { label, device, owner, unit, description, tags } = stream;
  const cell = (name: string, ...content: (Node | string)[]) => html("td", { "data-name": name }, ...content);
  return html(
    "tr",
    {},
    html("th", { scope: "row" }, html("a", { href: streamLink(stream.id) }, shown(label))),
    cell("Device", shown(device)),
    cell("User", shown(owner)),
    cell("Unit", unitSymbol(unit)),
    cell("Description", shown(description)),
    cell("Tags", ...tags.map((tag) => html("a", { class: "tag", href: publicLink("", tag) }, shown(tag)))),
  );
}

import { ApiError } from "./api";
import { html, tryAgain } from "./dom";
import type { Desk, Page } from "./page";

/** A part of a page whose content the cloud is asked for: it is being loaded, could not be loaded, or is there. */
export abstract class Panel {
  readonly root: HTMLElement;
  /** What is there, once it is. */
  readonly body = html("div", { hidden: true });
  /** Buttons beside the heading, once the content is there. */
  readonly tools = html("div", { class: "tools", hidden: true });
  private readonly note = html("p", { class: "note", role: "status" }, "Loading.");
  private stopped = false;

  constructor(
    protected readonly desk: Desk,
    id: string,
    heading: string,
    hint = "",
  ) {
    this.root = html(
      "section",
      { class: `panel ${id}`, "aria-labelledby": `${id}-heading` },
      html("header", { class: "panel-head" }, html("h2", { id: `${id}-heading` }, heading), this.tools),
      ...(hint === "" ? [] : [html("p", { class: "hint" }, hint)]),
      this.note,
      this.body,
    );
  }

  /** Asks for the content and shows it in the body. */
  protected abstract fill(): Promise<void>;

  /** Asks for the content, again if it is there already. */
  async load(): Promise<void> {
    if (this.stopped) return;
    try {
      await this.fill();
      this.note.hidden = true;
      this.body.hidden = this.tools.hidden = false;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (this.stopped) return;
      this.note.hidden = false;
      this.note.replaceChildren(
        `This could not be loaded. ${error.words} `,
        tryAgain(() => void this.load()),
      );
      this.desk.fail(error);
    }
  }

  stop(): void {
    this.stopped = true;
  }
}

/** A page of one panel, whose content is asked for again so often, in seconds; `above` stands before it. */
export class PanelPage<P extends Panel = Panel> implements Page {
  readonly root: HTMLElement;
  private ticks = 0;

  constructor(
    readonly title: string,
    private readonly againS: number,
    protected readonly panel: P,
    ...above: HTMLElement[]
  ) {
    this.root = above.length === 0 ? panel.root : html("div", { class: "account" }, ...above, panel.root);
    void panel.load();
  }

  tick(): void {
    this.ticks += 1;
    if (this.ticks % this.againS === 0 && !document.hidden) void this.panel.load();
  }

  stop(): void {
    this.panel.stop();
  }
}

/** A button of a row or of a heading. */
export function button(words: string, act: () => void, kind = "secondary", name?: string): HTMLButtonElement {
  const made = html("button", { type: "button", class: kind, "aria-label": name }, words);
  made.addEventListener("click", act);
  return made;
}

/** A table with these columns; the last one, of buttons, has a name that is only spoken. */
export function table(kind: string, columns: readonly string[], body: HTMLElement): HTMLElement {
  return html(
    "table",
    { class: `list records ${kind}` },
    html(
      "thead",
      {},
      html(
        "tr",
        {},
        ...columns.map((name) => html("th", { scope: "col" }, name)),
        html("th", { scope: "col" }, html("span", { class: "spoken" }, "Actions")),
      ),
    ),
    body,
  );
}

/** A row: its name, what is in the columns after that, and its buttons. */
export function record(
  name: Node | string,
  cells: readonly (readonly [column: string, ...content: (Node | string)[]])[],
  buttons: readonly HTMLElement[],
): HTMLTableRowElement {
  return html(
    "tr",
    {},
    html("th", { scope: "row" }, name),
    ...cells.map(([column, ...content]) => html("td", { "data-name": column }, ...content)),
    html("td", { class: "row-buttons" }, ...buttons),
  );
}

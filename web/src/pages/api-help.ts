import {
  curl,
  grouped,
  matchingOperations,
  operationsOf,
  type ApiDocument,
  type Input,
  type Operation,
} from "../api-help/document";
import { call, ROOT } from "../api";
import { copyField } from "../copy";
import { html, setText } from "../dom";
import { formatCount } from "../format";
import type { Desk, Page } from "../page";
import { Panel } from "../panel";
import { apiHelpLink, LINKS } from "../route";

/** What programs may ask the cloud, as it describes that itself. */
export class ApiHelpPage implements Page {
  readonly title = "API help";
  readonly root: HTMLElement;
  private readonly panel: ApiHelpPanel;

  constructor(desk: Desk) {
    this.panel = new ApiHelpPanel(desk);
    this.root = this.panel.root;
    void this.panel.load();
  }

  stop(): void {
    this.panel.stop();
  }
}

class ApiHelpPanel extends Panel {
  private readonly search = html("input", {
    type: "search",
    id: "operation-search",
    placeholder: "Path, word or parameter",
    autocomplete: "off",
    spellcheck: "false",
  });
  private readonly count = html("p", { class: "count", role: "status" });
  private readonly contents = html("nav", { class: "api-groups", "aria-label": "Groups" });
  private readonly groups = html("div");
  private operations: Operation[] = [];

  constructor(desk: Desk) {
    super(
      desk,
      "api-help",
      "API help",
      "Each thing that a program may ask the cloud for. What is in capitals in an example is yours to fill in.",
    );
    this.tools.append(
      html("label", { for: "operation-search", class: "spoken" }, "Search"),
      this.search,
      html(
        "a",
        { class: "secondary", href: `${ROOT}/openapi.json`, download: "sixlock-openapi.json" },
        "OpenAPI",
      ),
    );
    const token = html("a", { href: LINKS.account }, "Account");
    this.body.append(
      html("p", { class: "hint" }, "A program shows a token, which you make under ", token, "."),
      this.count,
      this.contents,
      this.groups,
    );
    this.search.value = new URLSearchParams(window.location.hash.split("?")[1] ?? "").get("search") ?? "";
    this.search.addEventListener("input", () => {
      this.show();
      // So a search can be linked to. It makes no entry in the history.
      window.history.replaceState(null, "", apiHelpLink(this.search.value.trim()));
    });
  }

  protected override async fill(): Promise<void> {
    this.operations = operationsOf(await call<ApiDocument>("/openapi.json"));
    this.show();
  }

  private show(): void {
    const found = matchingOperations(this.operations, this.search.value);
    const all = formatCount(this.operations.length);
    setText(
      this.count,
      found.length === this.operations.length ? `${all} in all` : `${found.length} of ${all}`,
    );
    const sections = grouped(found).map(([group, operations]) => {
      const heading = html("h3", { tabindex: -1 }, `${group} (${operations.length})`);
      const jump = html("button", { type: "button", class: "quiet" }, group);
      jump.addEventListener("click", () => {
        heading.scrollIntoView();
        heading.focus({ preventScroll: true });
      });
      const list = operations.map((operation) => this.entry(operation, found.length === 1));
      return { jump, section: html("section", { class: "api-group" }, heading, ...list) };
    });
    this.contents.hidden = sections.length < 2;
    this.contents.replaceChildren(...sections.map(({ jump }) => jump));
    this.groups.replaceChildren(...sections.map(({ section }) => section));
  }

  /** An operation, whose details are made when somebody wants to see them. */
  private entry(operation: Operation, open: boolean): HTMLElement {
    const { method, path, summary } = operation;
    const details = html(
      "details",
      { class: "operation" },
      html(
        "summary",
        {},
        html("code", { class: "method", "data-method": method }, method),
        " ",
        html("code", { class: "path" }, path.slice(ROOT.length)),
        " ",
        html("span", { class: "what" }, summary),
      ),
    );
    details.addEventListener("toggle", () => {
      if (details.open && details.childElementCount === 1) details.append(this.description(operation));
    });
    details.open = open;
    return details;
  }

  private description(operation: Operation): HTMLElement {
    const { inputs, outcomes, description } = operation;
    const example = curl(operation, window.location.origin, { user: this.desk.user.username });
    return html(
      "div",
      { class: "operation-body" },
      ...paragraphs(description),
      html("h4", {}, "Example"),
      copyField("the example", example),
      ...(inputs.length === 0 ? [] : [html("h4", {}, "What it takes"), inputTable(inputs)]),
      html("h4", {}, "What it answers"),
      html(
        "ul",
        { class: "outcomes" },
        ...outcomes.map(({ status, description, content }) =>
          html(
            "li",
            {},
            html("strong", {}, status === "default" ? "Else" : status),
            ` ${[description, ...content.map(([media, type]) => [media, type].filter(Boolean).join(": "))].filter(Boolean).join("; ")}`,
          ),
        ),
      ),
    );
  }
}

function inputTable(inputs: readonly Input[]): HTMLElement {
  const column = (name: string) => html("th", { scope: "col" }, name);
  const cell = (name: string, ...content: (Node | string)[]) => html("td", { "data-name": name }, ...content);
  return html(
    "table",
    { class: "list records inputs" },
    html(
      "thead",
      {},
      html("tr", {}, ...["Name", "Where", "Needed", "Type", "Bounds", "Meaning"].map(column)),
    ),
    html(
      "tbody",
      {},
      ...inputs.map(({ name, where, required, type, bounds, description }) =>
        html(
          "tr",
          {},
          html("th", { scope: "row" }, html("code", {}, name)),
          cell("Where", where),
          cell("Needed", required ? "yes" : "no"),
          cell("Type", type),
          cell("Bounds", bounds),
          cell("Meaning", ...withCode(description)),
        ),
      ),
    ),
  );
}

function paragraphs(text: string): HTMLElement[] {
  const parts = text.split(/\n\s*\n/).filter((part) => part.trim() !== "");
  return parts.map((part) => html("p", {}, ...withCode(part)));
}

/** A text in which what stands between backticks is code. */
export function withCode(text: string): (Node | string)[] {
  return text.split("`").map((part, index) => (index % 2 === 1 ? html("code", {}, part) : part));
}

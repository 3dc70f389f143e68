import { resource as resourcePath, part, ROOT, type Resource, type Stream } from "./api";
import { copyField } from "./copy";
import { arrange, html } from "./dom";
import { shown } from "./format";
import { apiHelpLink, LINKS } from "./route";

/** Where programs find a device and each of its streams, to take along. */
export class ApiAddresses {
  readonly root: HTMLElement;
  private readonly list = html("div");
  private readonly fields = new Map<string, HTMLElement>();

  constructor(
    private readonly user: string,
    private readonly resource: Resource["id"],
  ) {
    this.root = html(
      "section",
      { class: "api-addresses", "aria-labelledby": "addresses-heading" },
      html("h3", { id: "addresses-heading" }, "For programs"),
      html(
        "p",
        { class: "hint" },
        "The readings of each stream, for a program with a token, which you make under ",
        html("a", { href: LINKS.account }, "Account"),
        ". ",
        html("a", { href: apiHelpLink("get streams data") }, "What it may ask for"),
        ".",
      ),
      this.list,
    );
    this.root.hidden = true;
  }

  /** Shows these streams. What is there already stays, with the focus in it. */
  know(streams: readonly Stream[]): void {
    this.root.hidden = streams.length === 0;
    const all = streams.map((stream) => {
      const id = String(stream.id);
      const field = this.fields.get(id) ?? this.field(stream);
      this.fields.set(id, field);
      return field;
    });
    arrange(this.list, all);
  }

  private field({ id, label }: Stream): HTMLElement {
    const address = streamAddress(window.location.origin, this.user, this.resource, id);
    return html(
      "div",
      { class: "api-address" },
      html("strong", {}, shown(label)),
      copyField(`the address of ${shown(label)}`, address),
    );
  }
}

/** Where the points of a stream are read and added. It has the ids, which stay when something is named otherwise. */
export function streamAddress(
  origin: string,
  user: string,
  resource: Resource["id"],
  stream: Stream["id"],
): string {
  return `${origin}${ROOT}${resourcePath(user, resource)}/streams/${part(stream)}/data`;
}

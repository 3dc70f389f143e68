import type { LivePoint, Network, NetworkNode, Resource } from "../api";
import { arrange, html, setText } from "../dom";
import { formatBytes, formatCount, formatShare } from "../format";
import { framesPerRetransmission, linkQuality, nodeOfLabel, parentWords, securityShare } from "../network";
import { NetworkMap } from "../network-map";
import type { Page } from "../page";
import { deviceLink } from "../route";
import { Summary } from "../summary";
import { routeFrom } from "../tree";

/** The network: its routes, how well its links do, and what each node sends. */
export class NetworkPage implements Page {
  readonly root: HTMLElement;
  readonly title = "Network";
  private readonly map = new NetworkMap({ select: (node) => this.select(node) });
  private readonly summary = new Summary(this.map);
  private readonly detail = html("section", { class: "panel node", "aria-labelledby": "node-heading" });
  private readonly rows = new Map<number, NodeRow>();
  private readonly body = html("tbody");
  private readonly list: HTMLElement;
  private nodes: NetworkNode[] = [];
  private selected: number | undefined;
  private readonly links = new Map<number, string>();
  private readonly nodeOf = new Map<string, number>();

  constructor() {
    const column = (name: string, extra = "") => html("th", { scope: "col", class: extra }, name);
    this.detail.hidden = true;
    this.list = html(
      "section",
      { class: "panel", "aria-labelledby": "nodes-heading", hidden: true },
      html("header", { class: "panel-head" }, html("h2", { id: "nodes-heading" }, "Nodes")),
      html(
        "table",
        { class: "list nodes" },
        html(
          "thead",
          {},
          html(
            "tr",
            {},
            column("Node"),
            column("Sends to"),
            column("Hops"),
            column("Rank", "wide"),
            column("Frames per retransmission"),
            column("Handshakes", "wide"),
            column("Security costs"),
            column("On the air", "wide"),
          ),
        ),
        this.body,
      ),
      html(
        "p",
        { class: "hint" },
        "Frames per retransmission is counted at the sender: all frames that it sent, acknowledgements and ",
        "forwarded frames included, divided by the frames, DTLS flights and CoAP messages that it sent again.",
      ),
    );
    const key = (quality: string, words: string) =>
      html(
        "li",
        { "data-quality": quality },
        html("span", { class: "swatch", "aria-hidden": "true" }),
        words,
      );
    this.map.root.append(
      html(
        "ul",
        { class: "legend", "aria-label": "Link colours, in frames per retransmission" },
        html("li", {}, "Frames per retransmission:"),
        key("good", "20 or more"),
        key("fair", "5 to 20"),
        key("poor", "fewer"),
      ),
    );
    this.root = html("div", { class: "network" }, this.summary.root, this.detail, this.list);
  }

  devices(resources: Resource[]): void {
    this.links.clear();
    this.nodeOf.clear();
    for (const { id, label } of resources) {
      const node = nodeOfLabel(label);
      if (node === undefined) continue;
      this.links.set(node, deviceLink(id));
      this.nodeOf.set(String(id), node);
    }
    this.show();
  }

  network(network: Network): void {
    this.nodes = network.nodes;
    this.summary.update(network);
    this.map.update(network.nodes);
    this.list.hidden = network.nodes.length === 0;
    for (const node of network.nodes) {
      const row = this.rows.get(node.id) ?? new NodeRow(node.id, () => this.select(node.id));
      this.rows.set(node.id, row);
      row.update(node);
    }
    arrange(
      this.body,
      network.nodes.map((node) => this.rows.get(node.id)!.root),
    );
    const far = network.nodes.reduce<NetworkNode | undefined>(
      (far, node) => (far && (far.hops ?? 0) >= (node.hops ?? 0) ? far : node),
      undefined,
    );
    // Which is the farthest is known when all have joined.
    const haveJoined = network.nodes.every((node) => node.hops !== null);
    if (this.selected === undefined && far && haveJoined) this.select(far.id);
    this.show();
  }

  noNetwork(why: string): void {
    this.summary.fail(why);
  }

  point(point: LivePoint): void {
    const node = this.nodeOf.get(String(point.resource));
    if (node !== undefined) this.map.flash(node);
  }

  stop(): void {
    this.map.stop();
  }

  private select(id: number): void {
    this.selected = id;
    this.map.mark(id);
    for (const [other, row] of this.rows) row.mark(other === id);
    this.show();
  }

  /** All about the chosen node. */
  private show(): void {
    const node = this.nodes.find((node) => node.id === this.selected);
    this.detail.hidden = node === undefined;
    if (!node) return;
    const fact = (name: string, value: Node | string) =>
      html("div", {}, html("dt", {}, name), html("dd", {}, value));
    const long = (name: string, value: Node | string, kind = "long") => {
      const row = fact(name, value);
      row.classList.add(kind);
      return row;
    };
    const link = this.links.get(node.id);
    const route = routeFrom(node.id, this.nodes).map((id) => (id === 0 ? "router" : String(id)));
    const way = node.hops === null ? `${route.join(" → ")} → nobody yet` : `${route.join(" → ")} → cloud`;
    const title = html("h2", { id: "node-heading" }, `Node ${node.id}`);
    this.detail.replaceChildren(
      html(
        "header",
        { class: "panel-head" },
        title,
        ...(link ? [html("a", { href: link }, "Its readings")] : []),
      ),
      html(
        "dl",
        { class: "facts" },
        long("Route", way, "route"),
        long("Address", html("code", {}, node.address)),
        long("Security", node.security),
        long("Link", qualityWords(node)),
        fact("Frames sent", formatCount(node.frames)),
        fact("Retransmissions", formatCount(node.retransmissions)),
        fact("Handshakes", formatCount(node.handshakes)),
        fact("Readings", formatCount(node.points)),
        fact("On the air", formatBytes(node.bytes)),
        fact("Security costs", `${formatShare(securityShare(node))}, ${formatBytes(node.security_bytes)}`),
        ...routingFacts(node).map(([name, value]) => fact(name, value)),
      ),
    );
  }
}

/** What a node tells of RPL, if that routes. */
function routingFacts({ rank, joined_s, parent_changes, control_bytes }: NetworkNode): [string, string][] {
  const facts: [string, string | undefined][] = [
    ["Rank", rank === undefined ? undefined : formatCount(rank)],
    ["Joined after", joined_s === undefined ? undefined : `${joined_s.toFixed(1)} s`],
    ["Parents taken", parent_changes === undefined ? undefined : formatCount(parent_changes)],
    ["Routing costs", control_bytes === undefined ? undefined : formatBytes(control_bytes)],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== undefined);
}

function qualityWords(node: NetworkNode): string {
  const frames = framesPerRetransmission(node);
  if (!Number.isFinite(frames)) return "no retransmissions";
  return `${formatCount(frames)} frames per retransmission`;
}

/** One node in the list. */
class NodeRow {
  readonly root: HTMLTableRowElement;
  private readonly button: HTMLButtonElement;
  private readonly cells = Array.from({ length: 7 }, () => html("td"));

  constructor(id: number, select: () => void) {
    this.button = html("button", { type: "button", class: "quiet" }, `Node ${id}`);
    this.button.addEventListener("click", select);
    for (const cell of [2, 4, 6]) this.cells[cell]!.classList.add("wide");
    this.root = html("tr", {}, html("th", { scope: "row" }, this.button), ...this.cells);
  }

  update(node: NetworkNode): void {
    const frames = framesPerRetransmission(node);
    const texts = [
      parentWords(node.parent, "router"),
      node.hops === null ? "–" : formatCount(node.hops),
      node.rank === undefined ? "–" : formatCount(node.rank),
      Number.isFinite(frames) ? formatCount(frames) : "none",
      formatCount(node.handshakes),
      formatShare(securityShare(node)),
      formatBytes(node.bytes),
    ];
    texts.forEach((text, index) => setText(this.cells[index]!, text));
    this.cells[3]!.dataset["quality"] = linkQuality(node);
  }

  mark(chosen: boolean): void {
    this.button.setAttribute("aria-pressed", String(chosen));
    this.root.classList.toggle("chosen", chosen);
  }
}

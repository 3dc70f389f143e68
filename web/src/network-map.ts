import type { NetworkNode } from "./api";
import { html, svg } from "./dom";
import { formatBytes, formatShare } from "./format";
import { securityShare } from "./network";
import { layOut, type Tree } from "./tree";

const MARGIN = 24;
const FLASH_MS = 900;

/** The routing tree: the router at the left, one column a hop. A reading lights up its way. */
export class NetworkMap {
  readonly root: HTMLElement;
  private readonly canvas = html("div", { class: "map-canvas" });
  private nodes: NetworkNode[] = [];
  private tree: Tree = layOut([]);
  private drawn = "";
  private readonly links = new Map<number, SVGElement>();
  private readonly dots = new Map<number, SVGElement>();
  private readonly flashes = new Map<number, number>();

  constructor(
    /** The fragment that leads to a node's card. */
    private readonly target: (node: number) => string | undefined,
  ) {
    this.root = html("nav", { class: "map", "aria-label": "Network tree" }, this.canvas);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  update(nodes: NetworkNode[]): void {
    this.nodes = nodes;
    this.tree = layOut(nodes);
    this.draw();
  }

  /** A reading of `node` has arrived: its hops to the router light up for a moment. */
  flash(node: number): void {
    const parents = new Map(this.tree.places.map((place) => [place.id, place.parent]));
    for (let at = node; at !== 0 && parents.has(at); at = parents.get(at)!) {
      this.links.get(at)?.classList.add("busy");
      if (at === node) this.dots.get(at)?.classList.add("busy");
      window.clearTimeout(this.flashes.get(at));
      this.flashes.set(
        at,
        window.setTimeout(() => {
          this.links.get(at)?.classList.remove("busy");
          this.dots.get(at)?.classList.remove("busy");
        }, FLASH_MS),
      );
    }
  }

  private draw(): void {
    const width = this.canvas.clientWidth;
    const { places, depth, rows } = this.tree;
    if (width === 0 || places.length < 2) return;
    // Drawn again only if the shape changed, so that a light that is on stays on.
    const shape = JSON.stringify([width, places, this.nodes.map((node) => [node.id, this.target(node.id)])]);
    if (shape === this.drawn) {
      this.label();
      return;
    }
    this.drawn = shape;
    this.links.clear();
    this.dots.clear();

    const line = rows > 24 ? 16 : rows > 6 ? 26 : 40;
    const column = (width - 2 * MARGIN - 14) / Math.max(1, depth);
    const radius = Math.min(13, column / 2.6, line / 2.4);
    const named = radius >= 8;
    const height = Math.max(1, rows) * line + 12;
    const x = (at: number) => MARGIN + 4 + at * column;
    const y = (at: number) => 6 + (at + 0.5) * line;
    const byId = new Map(places.map((place) => [place.id, place]));

    const links = svg("g", { class: "links" });
    const dots = svg("g");
    for (const place of places) {
      const [cx, cy] = [x(place.depth), y(place.row)];
      if (place.id === 0) {
        dots.append(
          svg(
            "g",
            { class: "router", transform: `translate(${cx} ${cy})` },
            svg("title", {}, "Border router"),
            svg("rect", { x: -13, y: -13, width: 26, height: 26, rx: 7 }),
            svg("path", { d: "M-5 3v-3M0 3v-6M5 3v-9" }),
          ),
        );
        continue;
      }
      const parent = byId.get(place.parent)!;
      const [px, py] = [x(parent.depth), y(parent.row)];
      const bend = (px + cx) / 2;
      const link = svg("path", { d: `M${cx} ${cy}C${bend} ${cy} ${bend} ${py} ${px} ${py}` });
      links.append(link);
      this.links.set(place.id, link);

      const dot = svg("g", { class: "dot", transform: `translate(${cx} ${cy})` });
      dot.append(svg("title"), svg("circle", { r: radius }));
      if (named) dot.append(svg("text", { "aria-hidden": "true", dy: "0.36em" }, String(place.id)));
      const href = this.target(place.id);
      dots.append(href ? svg("a", { href }, dot) : dot);
      this.dots.set(place.id, dot);
    }
    this.canvas.replaceChildren(svg("svg", { width, height, class: "map-drawing" }, links, dots));
    this.label();
  }

  private label(): void {
    const places = new Map(this.tree.places.map((place) => [place.id, place]));
    for (const node of this.nodes) {
      const dot = this.dots.get(node.id);
      const place = places.get(node.id);
      if (!dot || !place) continue;
      const towards = place.parent === 0 ? "the router" : `node ${place.parent}`;
      const words =
        `Node ${node.id}, ${node.hops} ${node.hops === 1 ? "hop" : "hops"}, sends to ${towards}, ` +
        `${formatBytes(node.bytes)} on the air, security ${formatShare(securityShare(node))}`;
      dot.querySelector("title")!.textContent = words;
      dot.closest("a")?.setAttribute("aria-label", words);
    }
  }
}

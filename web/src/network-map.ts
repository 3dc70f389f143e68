import type { NetworkNode } from "./api";
import { html, svg } from "./dom";
import { formatBytes, formatShare } from "./format";
import { linkQuality, parentWords, securityShare } from "./network";
import { fold, layOut, routeFrom, type Tree } from "./tree";

const MARGIN = 24;
/** Nodes stand no closer than this: a chain is folded, a deep tree scrolls in its frame. */
const NARROWEST_COLUMN = 34;
const FLASH_MS = 900;

export interface MapOptions {
  /** The page that a node leads to. */
  link?: (node: number) => string | undefined;
  /** A person points at a node, or takes it by touch or keyboard. */
  select?: (node: number) => void;
}

/** The routing tree: the router at the left, one column a hop. A reading lights up its way. */
export class NetworkMap {
  readonly root: HTMLElement;
  private readonly canvas = html("div", { class: "map-canvas" });
  private nodes: NetworkNode[] = [];
  private tree: Tree = layOut([]);
  private drawn = "";
  private selected: number | undefined;
  private readonly links = new Map<number, SVGElement>();
  private readonly dots = new Map<number, SVGElement>();
  private readonly resize = new ResizeObserver(() => this.draw());
  private readonly flashes = new Map<number, number>();

  constructor(private readonly options: MapOptions) {
    this.root = html("nav", { class: "map", "aria-label": "Network tree" }, this.canvas);
    this.resize.observe(this.canvas);
  }

  stop(): void {
    this.resize.disconnect();
    this.flashes.forEach((timer) => window.clearTimeout(timer));
  }

  update(nodes: NetworkNode[]): void {
    this.nodes = nodes;
    this.tree = layOut(nodes);
    this.draw();
  }

  /** Shows the way of `node` to the router. */
  mark(node: number): void {
    this.selected = node;
    const route = new Set(routeFrom(node, this.nodes));
    for (const [id, link] of this.links) link.classList.toggle("route", route.has(id));
    for (const [id, dot] of this.dots) {
      dot.classList.toggle("route", route.has(id));
      if (this.options.select) dot.setAttribute("aria-pressed", String(id === node));
    }
  }

  /** A reading of `node` has arrived: its hops to the router light up for a moment. */
  flash(node: number): void {
    for (const at of routeFrom(node, this.tree.places)) {
      if (at === 0) break;
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
    const visible = this.canvas.clientWidth;
    if (visible === 0 || this.tree.places.length < 2) return;
    const inner = visible - 2 * MARGIN - 14;
    const tree = fold(this.tree, Math.max(2, Math.floor(inner / NARROWEST_COLUMN) + 1));
    const { places, depth, rows } = tree;
    // Drawn again only if the shape changed, so that a light that is on stays on.
    const link = this.options.link;
    const shape = JSON.stringify([visible, places, this.nodes.map((node) => [node.id, link?.(node.id)])]);
    if (shape === this.drawn) {
      this.label();
      return;
    }
    this.drawn = shape;
    this.links.clear();
    this.dots.clear();

    const line = rows > 24 ? 18 : rows > 6 ? 26 : 40;
    const column = Math.min(180, Math.max(NARROWEST_COLUMN, inner / Math.max(1, depth)));
    const radius = Math.min(13, column / 2.6, line / 2.4);
    const [width, height] = [Math.max(visible, 2 * MARGIN + 14 + depth * column), rows * line + 12];
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
      const path = svg("path", {
        class: place.joined ? "" : "astray",
        d: `M${cx} ${cy}C${bend} ${cy} ${bend} ${py} ${px} ${py}`,
      });
      links.append(path);
      this.links.set(place.id, path);

      const dot = svg("g", { class: "dot", transform: `translate(${cx} ${cy})` });
      dot.append(svg("title"), svg("circle", { r: radius }));
      dot.append(svg("text", { "aria-hidden": "true", dy: "0.36em" }, String(place.id)));
      const href = link?.(place.id);
      dots.append(href ? svg("a", { href }, dot) : dot);
      this.dots.set(place.id, dot);
      this.listen(place.id, dot);
    }
    this.canvas.replaceChildren(svg("svg", { width, height, class: "map-drawing" }, links, dots));
    this.label();
    if (this.selected !== undefined) this.mark(this.selected);
  }

  private listen(id: number, dot: SVGElement): void {
    const { select } = this.options;
    if (!select) return;
    dot.setAttribute("role", "button");
    dot.setAttribute("tabindex", "0");
    for (const event of ["pointerenter", "click", "focus"]) dot.addEventListener(event, () => select(id));
  }

  private label(): void {
    for (const node of this.nodes) {
      const dot = this.dots.get(node.id);
      if (!dot) continue;
      const towards = parentWords(node.parent, "the router");
      const hops = node.hops === null ? "" : `${node.hops} ${node.hops === 1 ? "hop" : "hops"}, `;
      const sends = node.parent === null ? "has no way to the router yet" : `sends to ${towards}`;
      const words =
        `Node ${node.id}, ${hops}${sends}, ` +
        `${formatBytes(node.bytes)} on the air, security ${formatShare(securityShare(node))}`;
      dot.querySelector("title")!.textContent = words;
      (dot.closest("a") ?? dot).setAttribute("aria-label", words);
      const quality = linkQuality(node);
      for (const element of [dot, this.links.get(node.id)]) element?.setAttribute("data-quality", quality);
    }
  }
}

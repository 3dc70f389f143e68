import type { NetworkNode } from "./api";

/** What a node stands under: nothing as long as it has no parent. */
type Parented = Pick<NetworkNode, "id" | "parent">;

export interface Placed {
  id: number;
  parent: number;
  /** Column: hops from the router, which stands at 0. */
  depth: number;
  /** Line, a fraction where a parent stands between its children. */
  row: number;
  /** Whether its parents lead to the router. */
  joined: boolean;
}

export interface Tree {
  places: Placed[];
  depth: number;
  rows: number;
}

/**
 * Lays the network out as a tree: one column a hop, one line a leaf, a parent in the middle of its children.
 * A node whose parents do not lead to the router hangs on the router, so that every node is seen.
 */
export function layOut(nodes: readonly Parented[]): Tree {
  const parents = new Map(nodes.filter((node) => node.id !== 0).map((node) => [node.id, node.parent ?? -1]));
  const astray = new Set<number>();
  for (const id of parents.keys()) {
    const seen = new Set<number>();
    let at = id;
    while (at !== 0 && !seen.has(at)) {
      seen.add(at);
      at = parents.get(at) ?? -1;
    }
    if (at !== 0) astray.add(id);
  }
  for (const id of astray) parents.set(id, 0);

  const children = new Map<number, number[]>();
  for (const [id, parent] of [...parents].sort(([a], [b]) => a - b)) {
    children.set(parent, [...(children.get(parent) ?? []), id]);
  }

  const places: Placed[] = [];
  let rows = 0;
  let deepest = 0;
  const place = (id: number, parent: number, depth: number): number => {
    deepest = Math.max(deepest, depth);
    const lines = (children.get(id) ?? []).map((child) => place(child, id, depth + 1));
    const first = lines[0];
    const row = first === undefined ? rows++ : (first + lines[lines.length - 1]!) / 2;
    places.push({ id, parent, depth, row, joined: !astray.has(id) });
    return row;
  };
  place(0, 0, 0);
  return { places, depth: deepest, rows };
}

/**
 * The same tree on a sheet `columns` wide. A chain that is longer goes on in the next line, backwards, as an ox
 * ploughs; a tree that is deeper stays as it is.
 */
export function fold(tree: Tree, columns: number): Tree {
  if (tree.rows > 1 || tree.depth < columns) return tree;
  const places = tree.places.map((place) => {
    const row = Math.floor(place.depth / columns);
    const column = place.depth % columns;
    return { ...place, row, depth: row % 2 === 0 ? column : columns - 1 - column };
  });
  return { places, depth: columns - 1, rows: Math.floor(tree.depth / columns) + 1 };
}

/** The nodes on the way from `id` to the router, both included; a loop ends it. */
export function routeFrom(id: number, nodes: readonly Parented[]): number[] {
  const parents = new Map(nodes.map((node) => [node.id, node.parent]));
  const route = [id];
  for (let at = id; at !== 0;) {
    const next = parents.get(at);
    if (next === undefined || next === null || route.includes(next)) break;
    route.push(next);
    at = next;
  }
  return route;
}

import { expect, test } from "vitest";
import type { NetworkNode } from "../src/api";
import {
  framesPerRetransmission,
  inOrder,
  linkQuality,
  modes,
  nodeOfLabel,
  securityShare,
  totals,
} from "../src/network";
import { fold, layOut, routeFrom } from "../src/tree";

function node(id: number, parent: number | null, bytes = 0, security_bytes = 0): NetworkNode {
  const figures = { hops: 1, handshakes: 1, retransmissions: 2, frames: 3, points: 4 };
  return { id, parent, address: "", security: "dtls-psk", bytes, security_bytes, ...figures };
}

test("only labels made for nodes lead to a node", () => {
  expect(nodeOfLabel("node-12")).toBe(12);
  expect(nodeOfLabel("node-")).toBeUndefined();
  expect(nodeOfLabel("my node-1")).toBeUndefined();
});

test("the share of security", () => {
  expect(securityShare({ bytes: 0, security_bytes: 0 })).toBeNull();
  expect(securityShare({ bytes: 200, security_bytes: 50 })).toBe(0.25);
});

test("the router's bytes count, the router is no device", () => {
  const nodes = [node(0, 0, 10, 5), node(1, 0, 100, 20), node(2, 1, 200, 40)];
  expect(totals(nodes)).toMatchObject({ nodes: 2, bytes: 310, security_bytes: 65, points: 12 });
  expect(modes(nodes)).toEqual(["dtls-psk"]);
});

test("a chain is one line", () => {
  const tree = layOut([node(1, 0), node(2, 1), node(3, 2)]);
  expect([tree.depth, tree.rows]).toEqual([3, 1]);
  expect(tree.places.map(({ id, depth, row }) => [id, depth, row])).toEqual([
    [3, 3, 0],
    [2, 2, 0],
    [1, 1, 0],
    [0, 0, 0],
  ]);
});

test("a parent stands between its children", () => {
  const tree = layOut([node(1, 0), node(2, 1), node(3, 1), node(4, 0)]);
  const row = (id: number) => tree.places.find((place) => place.id === id)?.row;
  expect([row(2), row(3), row(1), row(4)]).toEqual([0, 1, 0.5, 2]);
  expect(tree.rows).toBe(3);
});

test("loops and strangers' children are seen as well", () => {
  const tree = layOut([node(1, 2), node(2, 1), node(3, 99)]);
  expect(tree.places.map((place) => place.id).sort()).toEqual([0, 1, 2, 3]);
});

test("a node without a parent hangs on the router and is known to be astray, and so are those behind it", () => {
  const tree = layOut([node(1, 0), node(2, null), node(3, 2)]);
  expect(tree.places.filter((place) => !place.joined).map((place) => place.id)).toEqual([2, 3]);
  expect(routeFrom(3, [node(2, null), node(3, 2)])).toEqual([3, 2]);
});

test("a chain too long for the sheet turns back in the next line", () => {
  const chain = Array.from({ length: 7 }, (_, n) => node(n + 1, n));
  const places = new Map(fold(layOut(chain), 3).places.map((place) => [place.id, place]));
  const at = [0, 1, 2, 3, 4, 5, 6, 7].map((id) => [places.get(id)!.depth, places.get(id)!.row]);
  expect(at).toEqual([
    [0, 0],
    [1, 0],
    [2, 0],
    [2, 1],
    [1, 1],
    [0, 1],
    [0, 2],
    [1, 2],
  ]);
  expect(fold(layOut(chain), 8)).toEqual(layOut(chain));
});

test("the route of a node ends at the router, a loop where it closes", () => {
  const nodes = [node(1, 0), node(2, 1), node(3, 2), node(8, 9), node(9, 8)];
  expect(routeFrom(3, nodes)).toEqual([3, 2, 1, 0]);
  expect(routeFrom(8, nodes)).toEqual([8, 9]);
});

test("a link is as good as the frames that pass between two that are sent again", () => {
  const link = (frames: number, retransmissions: number) => ({ ...node(1, 0), frames, retransmissions });
  expect(framesPerRetransmission(link(120, 3))).toBe(40);
  expect([link(120, 0), link(120, 3), link(120, 12), link(120, 60), link(10, 9)].map(linkQuality)).toEqual([
    "good",
    "good",
    "fair",
    "poor",
    "unknown",
  ]);
});

test("nodes stand in the order of their numbers, before all others", () => {
  const labels = ["shed", "node-10", "attic", "node-9"];
  const resources = labels.map((label, id) => ({
    id,
    label,
    mode: "none",
    identity: label,
    heard: null,
    description: "",
    tags: [],
    folder: "",
    period_s: null,
    place: null,
  }));
  expect(inOrder(resources).map(({ label }) => label)).toEqual(["node-9", "node-10", "attic", "shed"]);
});

import { expect, test } from "vitest";
import { changedWords } from "../src/devices/bulk";
import { allFound } from "../src/devices/choice";
import { address } from "../src/devices/filters";
import { ancestors, counted, KnownFolders } from "../src/devices/folder-tree";
import { figures, worst } from "../src/fleet";
import {
  query,
  tagsIn,
  type Change,
  type Counts,
  type FleetDevice,
  type Group,
  type Page,
} from "../src/fleet-api";
import { around, clusters, moved, worstOf, zoomed, WORLD } from "../src/map/clusters";
import { coastlines, pathOf } from "../src/map/topology";
import { markWords } from "../src/pages/map";
import { devicesLink, routeOf } from "../src/route";
import { changes, placeIn } from "../src/settings/about";
import { profileOf } from "../src/settings/make-profile";

const counts = (devices: number, silent: number, with_alerts = 0): Counts => ({
  devices,
  reporting: devices - silent,
  silent,
  unheard: 0,
  with_alerts,
  polls_paused: 0,
});
const group = (name: string, devices: number, silent: number, alerts = 0): Group => ({
  name,
  ...counts(devices, silent, alerts),
});

test("what is not looked for is not in the query", () => {
  expect(query({ search: "", tags: [], with_alerts: false, folder: "" }).toString()).toBe("");
  expect(
    query({ search: "a b", tags: ["x", "y z"], state: "silent" }, { offset: 0, limit: 5 }).toString(),
  ).toBe("search=a+b&tags=x%2Cy+z&state=silent&offset=0&limit=5");
});

test("the address of the list says what is looked for, and is the list", () => {
  expect(address({}, "")).toBe("#/devices");
  const hash = address(
    { search: "pump", tags: ["roof"], folder: "house 1/attic", with_alerts: true },
    "silence",
  );
  expect(hash).toBe("#/devices?search=pump&tags=roof&with_alerts=true&folder=house+1%2Fattic&order=silence");
  expect(routeOf(hash)).toEqual({ page: "devices" });
  expect(routeOf(devicesLink({ tags: "a/b" }))).toEqual({ page: "devices" });
});

test("tags stand between commas", () => {
  expect(tagsIn(" roof, pump 2,, ")).toEqual(["roof", "pump 2"]);
  expect(tagsIn("")).toEqual([]);
});

test("each number of the summary leads to the devices that it counts", () => {
  expect(figures(counts(9, 4, 2)).map(([name, count, said]) => [name, count, devicesLink(said)])).toEqual([
    ["Devices", 9, "#/devices"],
    ["Reporting", 5, "#/devices?state=reporting"],
    ["Silent", 4, "#/devices?state=silent&order=silence"],
    ["No reading yet", 0, "#/devices?state=unheard"],
    ["With alerts", 2, "#/devices?with_alerts=true"],
  ]);
});

test("tags and folders with most that is wrong come first, and those with nothing wrong not at all", () => {
  const tags = [group("well", 5, 0), group("roof", 40, 3), group("pump", 9, 4, 2)];
  const found = worst(tags, [group("house", 50, 5)]);
  expect(found.map(({ name, words }) => `${name} ${words}`)).toEqual([
    "pump 4 of 9 silent, 2 with alerts",
    "house/ 5 of 50 silent",
    "roof 3 of 40 silent",
  ]);
  expect(found.map(({ query: said }) => said)).toEqual([
    { tags: "pump" },
    { folder: "house" },
    { tags: "roof" },
  ]);
});

test("a folder is within all those above it", () => {
  expect(ancestors("a/b/c")).toEqual(["a", "a/b"]);
  expect([ancestors("a"), ancestors("")]).toEqual([[], []]);
  expect([counted(group("x", 1_200, 0)), counted(group("x", 3, 2))]).toEqual(["1,200", "3, 2 silent"]);
});

test("all that are found are named as they are, and none stands for another that has gone", async () => {
  let ids = Array.from({ length: 2_500 }, (_, n) => n + 1);
  const asked: Page[] = [];
  const look = async (_: object, page: Page) => {
    asked.push(page);
    const { offset = 0, limit = 100 } = page;
    return { devices: ids.slice(offset, offset + limit).map((id) => ({ id }) as FleetDevice) };
  };
  expect(await allFound(look, {}, 2_500)).toEqual({ chosen: { devices: ids }, number: 2_500 });
  expect(asked.map(({ offset }) => offset)).toEqual([0, 1_000, 2_000]);
  for (const other of [ids.slice(1), [...ids, 2_501]]) {
    ids = other;
    await expect(allFound(look, {}, 2_500)).rejects.toThrow("Other devices");
  }
  const many = { chosen: { matching: { search: "a" } }, number: 5_001 };
  expect(await allFound(look, { search: "a" }, 5_001)).toEqual(many);
});

test("folders that were told stand until a number of the one above them changes, or devices do", () => {
  const known = new KnownFolders();
  const below = [group("attic", 2, 0)];
  known.keep("house", group("house", 3, 0), below);
  expect(known.below("house", group("house", 3, 0))).toBe(below);
  expect(known.below("house", group("house", 3, 1))).toBeUndefined();
  expect(known.below("barn", group("barn", 3, 0))).toBeUndefined();
  known.forget();
  expect(known.below("house", group("house", 3, 0))).toBeUndefined();
});

test("of what is said about a device, only what was changed is sent", () => {
  const before = {
    label: "gauge",
    description: "",
    tags: ["rain"],
    folder: "field",
    period_s: 600,
    place: { latitude: 57.7, longitude: 11.96 },
  };
  expect(changes(before, { ...before, tags: ["rain"], place: { ...before.place } })).toEqual({});
  expect(changes(before, { ...before, folder: "", period_s: null, place: null })).toEqual({
    folder: "",
    period_s: null,
    place: null,
  });
  expect(changes(before, { ...before, tags: ["rain", "west"] })).toEqual({ tags: ["rain", "west"] });
});

test("what came of a change says how many are otherwise and why the others are not", () => {
  const tag: Change = { kind: "tag", tags: ["x"] };
  expect(changedWords(tag, { matched: 3, changed: 3 })).toBe("3 of 3 devices tagged.");
  expect(changedWords(tag, { matched: 1, changed: 0 })).toBe(
    "0 of 1 device tagged; the others were so already.",
  );
  expect(changedWords({ kind: "pause_polls" }, { matched: 3, changed: 1 })).toBe(
    "1 of 3 devices polled no more; the others were not polled, or so already.",
  );
});

test("a profile of a device has what others of its kind have too, and nothing of the device alone", () => {
  const device = {
    id: 1,
    label: "gauge 1",
    mode: "none",
    identity: "gauge 1",
    heard: 5,
    description: "Rain",
    tags: ["rain"],
    folder: "field",
    period_s: 600,
    place: null,
  };
  const stream = {
    id: 3,
    label: "rain",
    unit: "mm",
    description: "",
    value_type: "number" as const,
    latest: null,
  };
  const kept = {
    stream: 3,
    label: "rain",
    keep_s: 86_400,
    history_size: null,
    keep_rollups_s: null,
    kept_from: 7,
    frozen: null,
  };
  const parser = {
    id: 9,
    label: "rain",
    kind: "json-path",
    expression: "$.r",
    stream: "rain",
    required: true,
  };
  expect(profileOf(device, [stream], [kept], [parser])).toEqual({
    description: "Rain",
    tags: ["rain"],
    folder: "field",
    period_s: 600,
    streams: [
      {
        label: "rain",
        unit: "mm",
        description: "",
        value_type: "number",
        keep_s: 86_400,
        history_size: null,
      },
    ],
    parsers: [{ label: "rain", kind: "json-path", expression: "$.r", stream: "rain", required: true }],
  });
});

const placed = (id: number, latitude: number, longitude: number, silent = false, alerts = 0) => ({
  id,
  label: `device ${id}`,
  latitude,
  longitude,
  state: silent ? ("silent" as const) : ("reporting" as const),
  alerts,
});

test("devices that are near each other are one on the map, until one comes nearer", () => {
  const devices = [placed(1, 57.7, 11.96), placed(2, 57.71, 11.97, true), placed(3, -33.9, 151.2)];
  const sizes = (view = WORLD) => clusters(devices, view).map((cluster) => cluster.devices.length);
  expect(sizes()).toEqual([2, 1]);
  const near = around(devices.slice(0, 2));
  expect(sizes(near)).toEqual([1, 1]);
  expect(clusters(devices, near).map(({ latitude }) => latitude)).toEqual([57.7, 57.71]);
  expect(markWords(devices.slice(0, 2))).toBe("2 devices, the worst silent");
  expect([worstOf([devices[0]!]), worstOf([...devices, placed(4, 0, 0, false, 1)])]).toEqual([
    "reporting",
    "alert",
  ]);
});

test("a view stays on the Earth, and however many devices there are, few are drawn", () => {
  expect(zoomed(WORLD, 2)).toEqual(WORLD);
  expect(around([])).toEqual(WORLD);
  expect(moved({ west: 170, north: 90, width: 10 }, 1, -1)).toEqual({ west: 170, north: 90, width: 10 });
  const { west, north, width } = zoomed(WORLD, 0.5);
  expect([west, north, width]).toEqual([-90, 45, 180]);
  const many = Array.from({ length: 10_000 }, (_, n) => placed(n, (n % 179) - 89, ((n * 7) % 359) - 179));
  expect(clusters(many, WORLD).length).toBeLessThanOrEqual(40 * 21);
  expect(clusters(many, WORLD).reduce((sum, { devices }) => sum + devices.length, 0)).toBe(10_000);
});

test("coasts are lines of points that are told by their differences", () => {
  const topology = {
    objects: {},
    arcs: [
      [
        [0, 0],
        [10, 20],
        [-5, 0],
      ],
    ],
    transform: { scale: [0.5, 0.25], translate: [-180, -90] },
  };
  const lines = coastlines(topology);
  expect(lines).toEqual([
    [
      [-180, -90],
      [-175, -85],
      [-177.5, -85],
    ],
  ]);
  expect(pathOf(lines)).toBe("M-180 90L-175 85L-177.5 85");
});

test("a place is two numbers, or nothing", () => {
  expect(placeIn(" 57.70, 11.96 ")).toEqual({ latitude: 57.7, longitude: 11.96 });
  expect(placeIn("-33.9 151.2")).toEqual({ latitude: -33.9, longitude: 151.2 });
  expect(placeIn("")).toBeNull();
  for (const text of ["57.7", "57,7, 11,9", "north, east"]) expect(() => placeIn(text)).toThrow("latitude");
});

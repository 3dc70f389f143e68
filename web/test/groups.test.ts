import { afterEach, expect, test, vi } from "vitest";
import type { Resource } from "../src/api";
import { groupApi, isGiven, mayChangeDevice, ownerOf, type GivenDevice } from "../src/group-api";
import { accessWords, sizeWords } from "../src/groups/words";
import { routeOf, tabOf } from "../src/route";

const own: Resource = {
  id: 1,
  label: "roof",
  mode: "none",
  identity: null,
  heard: null,
  description: "",
  tags: [],
  folder: "",
  period_s: null,
  place: null,
};
const given: GivenDevice = { ...own, id: 2, owner: "ann", access: "read" };

afterEach(() => vi.unstubAllGlobals());

/** The requests that `deed` makes, each answered by `answer`. */
async function asked(answer: unknown, deed: () => Promise<unknown>): Promise<[string, string, unknown][]> {
  const requests: [string, string, unknown][] = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    requests.push([init.method ?? "GET", path, init.body && JSON.parse(String(init.body))]);
    return new Response(JSON.stringify(answer));
  });
  await deed();
  return requests;
}

test("the page of groups has an address and a tab", () => {
  expect(routeOf("#/groups")).toEqual({ page: "groups" });
  expect(tabOf({ page: "groups" })).toBe("#/groups");
});

test("a given device is its owner's, and is changed by who may change it there", () => {
  expect([ownerOf(own, "bob"), ownerOf(given, "bob")]).toEqual(["bob", "ann"]);
  expect([isGiven(own), isGiven(given)]).toEqual([false, true]);
  const change: GivenDevice = { ...given, access: "change" };
  expect([own, given, change].map((device) => mayChangeDevice(true, device))).toEqual([true, false, true]);
  // A viewer changes nothing, whatever the group lets them do.
  expect([own, given, change].map((device) => mayChangeDevice(false, device))).toEqual([false, false, false]);
});

test("a group says who may what in it, and how large it is", () => {
  expect(accessWords("read")).toBe("read");
  expect(accessWords("change")).toBe("read, set and command");
  expect(sizeWords({ members: 1, devices: 0, streams: 0 })).toBe("you alone, 0 devices");
  expect(sizeWords({ members: 3, devices: 1, streams: 1 })).toBe("3 people, 1 device, 1 stream");
  expect(sizeWords({ members: 3, devices: 0, streams: 2 })).toBe("3 people, 0 devices, 2 streams");
});

test("names of users and of devices stand in paths as they may", async () => {
  const api = groupApi("a/b");
  const requests = await asked({}, async () => {
    await api.setMember(3, "eve & co", "change");
    await api.removeMember(3, "eve & co");
    await api.give({ device: 7 }, 3);
    await api.take({ device: 7 }, 3);
    await api.give({ device: 7, stream: 17 }, 3);
    await api.removeStream(3, 17);
    await api.join(4);
    await api.leave(4);
  });
  const user = "/api/v1/users/a%2Fb";
  expect(requests).toEqual([
    ["PUT", `${user}/groups/3/members/eve%20%26%20co`, { access: "change" }],
    ["DELETE", `${user}/groups/3/members/eve%20%26%20co`, undefined],
    ["PUT", `${user}/resources/7/groups/3`, undefined],
    ["DELETE", `${user}/resources/7/groups/3`, undefined],
    ["PUT", `${user}/resources/7/streams/17/groups/3`, undefined],
    ["DELETE", `${user}/groups/3/streams/17`, undefined],
    ["PUT", `${user}/memberships/4`, undefined],
    ["DELETE", `${user}/memberships/4`, undefined],
  ]);
});

test("devices of others come with the name of their owner", async () => {
  let devices: GivenDevice[] = [];
  const told = [{ ...own, id: 2, owner: { id: 9, username: "ann" }, access: "read" }];
  const requests = await asked(told, async () => {
    devices = await groupApi("bob").devices();
  });
  expect(devices).toEqual([given]);
  expect(requests.map(([, path]) => path)).toEqual(["/api/v1/users/bob/group-resources?limit=10000&after=0"]);
});

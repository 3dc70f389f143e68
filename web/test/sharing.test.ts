import { expect, test } from "vitest";
import { isForAll, routeOf, streamLink } from "../src/route";
import { mayWords } from "../src/account/tokens";
import { postCommand, shareAddress, sharingWords } from "../src/settings/sharing";
import { parseShared } from "../src/shared-feed";

test("a stream's page has an address, and a link to it has its token behind the #", () => {
  expect(streamLink(17)).toBe("#/streams/17");
  expect(routeOf("#/streams/17")).toEqual({ page: "stream", stream: "17", token: undefined });
  const address = shareAddress(17, "a1-_b2", "https://cloud.example/#/devices/3/settings");
  const { pathname, search, hash } = new URL(address);
  expect([pathname, search]).toEqual(["/", ""]);
  expect(routeOf(hash)).toEqual({ page: "stream", stream: "17", token: "a1-_b2" });
});

test("a key is shown with the command that posts by it, to this stream and from this server", () => {
  const command = postCommand("ann b", 3, 17, "a1-_b2", "https://cloud.example/#/devices/3/settings");
  expect(command).toContain("-H 'Authorization: Bearer a1-_b2'");
  expect(command).toMatch(
    / https:\/\/cloud\.example\/api\/v1\/users\/ann%20b\/resources\/3\/streams\/17\/data$/,
  );
  expect(postCommand("o'ann", 3, 17, "a1-_b2", "https://cloud.example/")).toContain("/users/o'\\''ann/");
});

test("the list of tokens says of those for one stream whether they read or post", () => {
  const token = { resource: 3, stream: 17 };
  expect(mayWords({ ...token, read_only: true, write_only: false }, "roof")).toBe("read one stream of roof");
  expect(mayWords({ ...token, read_only: false, write_only: true }, "roof")).toBe(
    "post to one stream of roof",
  );
  expect(mayWords({ read_only: true, resource: 3 }, undefined)).toBe("read of device 3");
  expect(mayWords({ read_only: false, resource: null, stream: null, write_only: false }, undefined)).toBe(
    "do all",
  );
});

test("what is for all is the list of public streams and a stream", () => {
  for (const hash of ["#/public", "#/public?search=roof", "#/streams/17", "#/streams/17/abc"]) {
    expect(isForAll(routeOf(hash)), hash).toBe(true);
  }
  for (const hash of ["#/", "#/devices", "#/followed", "#/streams/", "#/streams/x", "#/streams/1/a/b", ""]) {
    expect(isForAll(routeOf(hash)), hash).toBe(false);
  }
});

test("a stream says with whom it is shared", () => {
  const stream = {
    id: 1,
    label: "t",
    unit: null,
    description: "",
    value_type: "number" as const,
    latest: null,
  };
  expect(sharingWords(stream)).toBe("no");
  expect(sharingWords({ ...stream, public_access: true, public_search: false })).toBe("public");
  expect(sharingWords({ ...stream, public_access: true, public_search: true })).toBe("public, found by all");
});

test("an event of a shared stream is a point that was heard when it was measured", () => {
  expect(parseShared('{"stream":7,"time":1000,"value":2.5}', 7)).toEqual({
    resource: "",
    stream: 7,
    time: 1000,
    value: 2.5,
    arrived: 1000,
  });
  for (const data of ["", "{}", '{"time":1,"value":null}', "[]", "null"]) {
    expect(parseShared(data, 7), data).toBeUndefined();
  }
});

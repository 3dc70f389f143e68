import { expect, test } from "vitest";
import { postCommand, reachable, readCommand, shellWord } from "../src/command";
import { csv, fileName } from "../src/csv";
import { eventsOf } from "../src/pages/audit";
import { countWords } from "../src/pages/devices";
import { RANGES, spanOf } from "../src/ranges";
import { deviceLink, LINKS, routeOf, settingsLink } from "../src/route";

const device = {
  id: 7,
  label: "greenhouse",
  identity: "greenhouse",
  mode: "dtls-psk",
  key: "Ab_-9",
  heard: null,
  description: "",
  tags: [],
  folder: "",
  period_s: null,
  place: null,
};
const endpoints = { http: "127.0.0.1:8080", coap: null, coaps: "127.0.0.1:5684" };

test("the shown line posts over DTLS to the cloud's server", () => {
  expect(postCommand(device, endpoints, "127.0.0.1")).toBe(
    `coap-client-openssl -u greenhouse -k Ab_-9 -m post -t 110 -e '[{"n":"temperature","u":"Cel","v":21.4}]' ` +
      "coaps://127.0.0.1:5684/resources/data",
  );
});

test("a device with a public key posts with the files that hold its private key and know the cloud", () => {
  const line = (mode: string) => postCommand({ ...device, mode }, endpoints, "127.0.0.1");
  expect(line("dtls-rpk")).toMatch(/^coap-client-gnutls -M device.pem -m post .* coaps:/);
  expect(line("llsec+dtls-x509")).toMatch(
    /^coap-client-openssl -c device.pem -C cloud.pem -m post .* coaps:/,
  );
});

test("a device without DTLS needs plain CoAP", () => {
  const plain = { ...device, mode: "none" };
  expect(postCommand(plain, endpoints, "127.0.0.1")).toBeUndefined();
  const line = postCommand(plain, { ...endpoints, coap: "127.0.0.1:5683" }, "127.0.0.1");
  expect(line).toMatch(/^coap-client-notls .* 'coap:\/\/127.0.0.1:5683\/resources\/data\?id=7&key=Ab_-9'$/);
});

test("nothing in a name ends a word of the shell", () => {
  expect(shellWord("a b")).toBe("'a b'");
  expect(shellWord("it's $HOME")).toBe(`'it'\\''s $HOME'`);
  expect(shellWord("")).toBe("''");
});

test("a server on all addresses is at the page's own", () => {
  expect(reachable("0.0.0.0:5684", "cloud.example")).toBe("cloud.example:5684");
  expect(reachable("[::]:5684", "cloud.example")).toBe("cloud.example:5684");
  expect(reachable("[::1]:5684", "cloud.example")).toBe("[::1]:5684");
});

test("how many devices are found is said of how many, if anything is looked for", () => {
  expect(countWords(0, 0, false)).toBe("None yet");
  expect(countWords(12_000, 12_000, false)).toBe("12,000");
  expect(countWords(12_000, 0, true)).toBe("0 of 12,000");
});

test("a file of readings holds each moment and value in full", () => {
  expect(csv([{ time: 1_700_000_000_123, value: 21.4 }])).toBe(
    "utc,ms,value\r\n2023-11-14T22:13:20.123Z,1700000000123,21.4\r\n",
  );
  const stream = {
    id: 1,
    label: "a/b c",
    unit: null,
    description: "",
    value_type: "number" as const,
    latest: null,
  };
  expect(fileName({ ...device, label: "../Gewächshaus 1" }, stream)).toBe("Gewächshaus-1-a-b-c.csv");
});

test("ranges end now, and all there is begins with the first reading", () => {
  expect(spanOf(RANGES[0]!, 5, 10_000)).toEqual([9_100, 10_000]);
  const all = RANGES.at(-1)!;
  expect(spanOf(all, 5, 10_000)).toEqual([5, 10_000]);
  expect(spanOf(all, undefined, 10_000)).toEqual([9_940, 10_000]);
});

test("every page has an address, and what is no address is the overview", () => {
  expect(routeOf(deviceLink("a/b"))).toEqual({ page: "device", resource: "a/b" });
  expect(routeOf(settingsLink("a/b"))).toEqual({ page: "settings", resource: "a/b" });
  for (const page of ["audit", "users", "account", "network"] as const)
    expect(routeOf(LINKS[page])).toEqual({ page });
  for (const hash of ["", "#", "#/", "#/nowhere", "#/devices/%"])
    expect(routeOf(hash)).toEqual({ page: "overview" });
});

test("refusals and actions are offered once each, and lost lines have none", () => {
  const lines = [
    { time: 3, reason: "wrong_key" },
    { time: 2, lost: 7 },
    { time: 1, reason: "forbidden" },
    { time: 0, reason: "wrong_key" },
    { time: 0, action: "signed_in" },
  ];
  expect(eventsOf(lines)).toEqual(["forbidden", "signed_in", "wrong_key"]);
});

test("the line that reads as a user proves the identity by what it has", () => {
  const endpoints = { http: "", coap: null, coaps: "0.0.0.0:5684" };
  const line = (mode: string) =>
    readCommand({ mode, identity: "ann/my laptop", key: "k3y" }, endpoints, "cloud.example");
  const uri = "coaps://cloud.example:5684/resources";
  expect(line("dtls-psk")).toBe(`coap-client-openssl -u 'ann/my laptop' -k k3y ${uri}`);
  expect(line("dtls-rpk")).toBe(`coap-client-gnutls -M device.pem ${uri}`);
  expect(line("dtls-x509")).toBe(`coap-client-openssl -c device.pem -C cloud.pem ${uri}`);
});

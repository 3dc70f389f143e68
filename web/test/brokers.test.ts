import { afterEach, expect, test, vi } from "vitest";
import { labelsIn } from "../src/account/broker-form";
import { brokerState, devicesWords, testWords } from "../src/account/broker-words";
import { brokerApi, type Broker, type BrokerSettings } from "../src/broker-api";

const broker: Broker = {
  id: 3,
  label: "home",
  url: "mqtts://broker.example.org:8883",
  username: "ann",
  password: true,
  authority: null,
  client_id: "sixlock",
  prefix: "sixlock/{user}",
  qos: 1,
  retain: false,
  format: "json",
  resources: null,
  tag: null,
  created: 0,
  connected_since: null,
  last_error: null,
  failures: 0,
  published: 0,
  last_published: null,
  behind: 0,
  dropped: 0,
};

afterEach(() => vi.unstubAllGlobals());

test("how publishing goes is said: connection, what went, what waits and what is left out", () => {
  expect(brokerState(broker)).toEqual({ state: "waiting", words: "Connecting. Nothing was published yet." });
  const connected = { ...broker, connected_since: 1, last_published: 2, published: 1234 };
  expect(brokerState(connected).state).toBe("good");
  expect(brokerState(connected).words).toMatch(
    /^Connected since .+\. 1,?234 readings published, the last at .+\.$/,
  );
  const failing = { ...broker, last_error: "nobody listens there", failures: 3, behind: 1, dropped: 2 };
  expect(brokerState(failing)).toEqual({
    state: "failing",
    words: "3 tries failed: nobody listens there. Nothing was published yet. 1 reading waits. 2 left out.",
  });
  expect(brokerState({ ...failing, failures: 1, behind: 2 }).words).toContain("The last try failed: nobody");
});

test("which devices are published is said", () => {
  expect(devicesWords(broker)).toBe("all devices");
  expect(devicesWords({ resources: null, tag: "roof" })).toBe("devices with the tag roof");
  expect(devicesWords({ resources: [1], tag: null })).toBe("1 device");
  expect(devicesWords({ resources: [], tag: null })).toBe("0 devices");
});

test("what the broker said of a test is told", () => {
  const topic = "sixlock/ann";
  expect(testWords({ topic, taken: true, said: "the broker acknowledged the message" })).toBe(
    "A message to sixlock/ann was sent: the broker acknowledged the message.",
  );
  expect(testWords({ topic, taken: false, said: "nobody listens there" })).toBe(
    "No message reached sixlock/ann: nobody listens there.",
  );
});

test("devices are named one a line", () => {
  expect(labelsIn(" pump 2\n\n  room,1 \n")).toEqual(["pump 2", "room,1"]);
  expect(labelsIn("")).toEqual([]);
});

test("a broker is changed at its own address, and its password goes only when it is stated", async () => {
  const asked: { url: string; method: string | undefined; body: unknown }[] = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    asked.push({ url: String(url), method: init.method, body: JSON.parse(String(init.body)) });
    return new Response(JSON.stringify(broker), { headers: { "Content-Type": "application/json" } });
  });
  const settings: BrokerSettings = {
    label: "home",
    url: broker.url,
    username: "ann",
    authority: null,
    prefix: broker.prefix,
    qos: 1,
    retain: false,
    format: "senml",
  };
  await brokerApi("ann b").change(3, settings);
  await brokerApi("ann b").add({ ...settings, password: "s3cret" });
  expect(asked[0]!.url).toMatch(/\/users\/ann%20b\/brokers\/3$/);
  expect(asked[0]!.method).toBe("PUT");
  expect(asked[0]!.body).not.toHaveProperty("password");
  expect(asked[1]!.url).toMatch(/\/users\/ann%20b\/brokers$/);
  expect(asked[1]!.body).toMatchObject({ password: "s3cret" });
});

import { expect, test } from "vitest";
import type { Command } from "../src/command-api";
import { actuators, resultWords, valueWords } from "../src/commands/words";

const command: Command = {
  id: 1,
  actuator: "led",
  value: true,
  state: "queued",
  author: "ann",
  created: 0,
  expires: 1,
  attempts: 0,
  last_attempt: null,
  ended: null,
  code: null,
};
const device = (label: string) => ({
  id: 1,
  label,
  mode: "dtls-psk",
  identity: null,
  heard: null,
  description: "",
  tags: [],
  folder: "",
  period_s: null,
  place: null,
});

test("a value is said as people say it", () => {
  expect([true, false, 12.5, "open"].map(valueWords)).toEqual(["on", "off", "12.5", "“open”"]);
});

test("what has come of a command is told with the code that the device has answered", () => {
  const words = (change: Partial<Command>) => resultWords({ ...command, ...change });
  expect(words({})).toBe("waits until the device is heard");
  expect(words({ attempts: 2 })).toBe("told 2 times, no answer yet");
  expect(words({ state: "done", code: "2.04" })).toBe("the device answered 2.04");
  expect(words({ state: "refused", code: "4.04" })).toBe("the device answered 4.04");
  expect(words({ state: "refused" })).toBe("the device takes no commands");
  expect(words({ state: "expired" })).toBe("the device was not heard in time");
  expect(words({ state: "expired", attempts: 1 })).toBe("the device did not answer");
  expect(words({ state: "withdrawn" })).toBe("taken back");
  expect(words({ state: "replaced" })).toBe("a later command took its place");
});

test("what can be set is what was set before, as it was last, and what nodes have", () => {
  expect([...actuators(device("node-2"), [])]).toEqual([
    ["led", "boolean"],
    ["valve", "number"],
  ]);
  const commands = [
    { ...command, id: 3, actuator: "door", value: "open" },
    { ...command, id: 2, actuator: "door", value: 1 },
  ];
  expect([...actuators(device("greenhouse"), commands)]).toEqual([["door", "text"]]);
});

import { expect, test } from "vitest";
import { figures, ordered } from "../src/pages/statistics";
import { routeOf, tabOf } from "../src/route";
import type { Statistics } from "../src/statistics-api";

const told: Statistics = {
  time: 1_000_000_000_000,
  counts: {
    users: { all: 12, administrators: 1, members: 10, viewers: 1, disabled: 2 },
    devices: 1200,
    streams: 3600,
    points: { ever: 5_000_000, last_hour: 3600, last_day: 86_400 },
  },
  since_start: {
    started: 1_000_000_000_000 - 90_000_000,
    sessions: 1000,
    live_feeds: 3,
    requests: 12_345,
    handshakes: 40,
    failed_handshakes: 2,
    faults: 0,
    refusals: [],
  },
  files: { database: 1_500_000_000, database_log: 4_000_000, record: 10, other: 2_000 },
  backups: { last: null, oldest: null, count: null },
};
const words = (statistics: Statistics) => new Map(figures(statistics).flatMap(([, facts]) => facts));

test("figures are said in words, and what is not there is said, too", () => {
  const said = words(told);
  expect(said.get("Users")).toBe("12: 1 administrator, 10 members, 1 viewer; 2 disabled");
  expect(said.get("of the last 24 hours")).toBe("86,400");
  expect(said.get("Started")).toContain("25 h 0 min ago");
  expect(said.get("Handshakes")).toBe("40, 2 failed");
  expect(said.get("Faults")).toBe("none");
  expect(said.get("Last backup")).toBe("never");
  expect(said.get("Backups by itself")).toBe("none are taken");
  expect(said.has("the oldest of")).toBe(false);
  const other = words({
    ...told,
    since_start: { ...told.since_start, faults: 3 },
    backups: { last: 5, oldest: 5, count: 2 },
  });
  expect(other.get("Faults")).toBe("3: the log says why");
  expect(other.get("Backups by itself")).toBe("2");
  expect(other.has("the oldest of")).toBe(true);
});

test("the most frequent refusals come first", () => {
  const refusal = (reason: string, count: number) => ({ scheme: "http", reason, count });
  const all = [refusal("a", 1), refusal("b", 7), refusal("c", 3)];
  expect(ordered(all).map(({ reason }) => reason)).toEqual(["b", "c", "a"]);
});

test("statistics stand under the tab of users", () => {
  expect(tabOf(routeOf("#/statistics"))).toBe("#/users");
});

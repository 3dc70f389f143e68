import { expect, test } from "vitest";
import { csv } from "../src/csv";
import { parsePoint } from "../src/feed";
import { formatValue } from "../src/format";
import { Series } from "../src/series";
import { parseShared } from "../src/shared-feed";
import { Texts } from "../src/texts";
import { outline } from "../src/windows";

const point = (time: number, value: number | string | boolean) => ({ time, value });

test("a live feed tells numbers, texts and truth values, and what is none of them is passed over", () => {
  for (const value of [21.5, "open", "", true, false]) {
    const data = JSON.stringify({ resource: 1, stream: 2, time: 5, value, arrived: 6 });
    expect(parsePoint(data)?.value).toBe(value);
    expect(parseShared(data, 2)?.value).toBe(value);
  }
  for (const value of [null, [1], {}]) {
    const data = JSON.stringify({ resource: 1, stream: 2, time: 5, value, arrived: 6 });
    expect([parsePoint(data), parseShared(data, 2)]).toEqual([undefined, undefined]);
  }
});

test("texts are shown as they are, but for what nobody sees", () => {
  expect(formatValue("1234")).toBe("1234");
  expect(formatValue("a\u202eb")).toBe("a\ufffdb");
  expect([true, false].map(formatValue)).toEqual(["true", "false"]);
});

test("a text is no formula in a spreadsheet, and a number below zero is one still", () => {
  const file = csv([
    point(0, "=1+1"),
    point(1, 'say "hi", now'),
    point(2, "open"),
    point(3, -1.5),
    point(4, true),
    point(5, " =1+1"),
    point(6, "\u00a0\u200b@SUM(A1)"),
    point(7, "\n-1"),
    point(8, "\tt"),
    point(9, "\uff1d1+1"),
    point(10, " t=1"),
  ]);
  const values = file.split("\r\n").map((line) => line.replace(/^[^,]*,[^,]*,/, ""));
  expect(values).toEqual([
    "value",
    '"\'=1+1"',
    '"say ""hi"", now"',
    "open",
    "-1.5",
    "true",
    '"\' =1+1"',
    '"\'\u00a0\u200b@SUM(A1)"',
    '"\'\n-1"',
    '"\'\tt"',
    '"\'\uff1d1+1"',
    " t=1",
    "",
  ]);
});

test("truth values are drawn as 1 and 0, and texts are not", () => {
  const series = new Series(10);
  series.restore([point(1000, true), point(2000, "open")], [point(1000, true), point(3000, false)]);
  expect([series.times, series.values]).toEqual([
    [1, 3],
    [1, 0],
  ]);
  const window = { time: 0, count: 4, min: 0, max: 1, first: true, last: false };
  expect(outline([window], 100, 1000)).toEqual([point(25, 1), point(75, 0)]);
});

test("texts are the newest first, each once, and never more than there is room for", () => {
  const texts = new Texts(3);
  texts.restore(
    [point(1000, "a"), point(2000, "b"), point(3000, "c")],
    [point(3000, "c"), point(2500, "late")],
  );
  expect(texts.all().map(({ value }) => value)).toEqual(["b", "late", "c"]);
  texts.push(point(4000, "d"));
  texts.push(point(4000, "e"));
  texts.push(point(4000, "d"));
  texts.push(point(5000, 7));
  expect(texts.within(undefined).map(({ value }) => value)).toEqual(["e", "d", "c"]);
  expect(texts.within([3, 4]).map(({ value }) => value)).toEqual(["c"]);
  expect(texts.first).toBe(3);
});

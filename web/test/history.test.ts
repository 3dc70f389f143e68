import { expect, test } from "vitest";
import type { Page, Point } from "../src/api";
import { history } from "../src/history";

/** The cloud's answer to a page without `from`: the latest ones before `until`, oldest first. */
function cloud(points: Point[]) {
  const asked: Page[] = [];
  const fetchPage = async (page: Page) => {
    asked.push(page);
    return points.filter((point) => point.time < (page.until ?? Infinity)).slice(-page.limit);
  };
  return { asked, fetchPage };
}

const series = (length: number, time: (n: number) => number) =>
  Array.from({ length }, (_, n) => ({ time: time(n), value: n }));

test("all pages come, in order, none twice", async () => {
  const points = series(25_000, (n) => n * 10);
  const { asked, fetchPage } = cloud(points);
  expect(await history(fetchPage, 0)).toEqual(points);
  expect(asked.length).toBe(3);
});

test("milliseconds with several points survive the border of a page", async () => {
  const points = series(30_000, (n) => Math.floor(n / 7));
  expect(await history(cloud(points).fetchPage, 0)).toEqual(points);
});

test("no page is fetched before the span begins", async () => {
  const points = series(25_000, (n) => n);
  const { asked, fetchPage } = cloud(points);
  expect(await history(fetchPage, 20_000)).toEqual(points.slice(20_000));
  expect(asked.length).toBe(1);
});

test("the newest are kept where there are too many, or nobody waits any more", async () => {
  const points = series(25_000, (n) => n);
  expect(await history(cloud(points).fetchPage, 0, 12_000)).toEqual(points.slice(-12_000));
  expect(await history(cloud(points).fetchPage, 0, 20_000, () => false)).toEqual(points.slice(-10_000));
});

test("a stream without points is no error", async () => {
  expect(await history(cloud([]).fetchPage, 0)).toEqual([]);
});

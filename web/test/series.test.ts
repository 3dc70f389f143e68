import { expect, test } from "vitest";
import { decimate, extent, Series, silences, timeRange, valueRange, widened } from "../src/series";

const point = (time: number, value = time) => ({ time, value });

test("the oldest points go when the series is full", () => {
  const series = new Series(3);
  for (let time = 1; time <= 10; time++) series.push(point(time * 1000));
  expect(series.times).toEqual([8, 9, 10]);
  expect(series.values).toEqual([8000, 9000, 10000]);
});

test("a late point finds its place, and a millisecond may hold two", () => {
  const series = new Series(10);
  for (const at of [point(1000), point(3000), point(2000, 7), point(3000, 8)]) series.push(at);
  expect(series.times).toEqual([1, 2, 3, 3]);
  expect(series.values).toEqual([1000, 7, 3000, 8]);
});

test("what is not a number is not drawn", () => {
  const series = new Series(10);
  series.push(point(1000, Number.NaN));
  series.push(point(Infinity, 1));
  expect(series.length).toBe(0);
  expect(extent(series.values)).toBeUndefined();
});

test("history and the points that came meanwhile join without a hole or a double", () => {
  const series = new Series(10);
  series.push(point(500));
  const history = [point(1000), point(2000), point(3000, 1)];
  series.restore(history, [point(2000), point(3000, 1), point(3000, 2), point(4000)]);
  expect(series.times).toEqual([1, 2, 3, 3, 4]);
  expect(series.values).toEqual([1000, 2000, 1, 2, 4000]);
});

test("without history the live points stand", () => {
  const series = new Series(10);
  series.restore([], [point(1000), point(2000)]);
  expect(series.times).toEqual([1, 2]);
});

test("a steady value still has an axis with a height", () => {
  const [low, high] = valueRange(20, 20);
  expect(low).toBeLessThan(20);
  expect(high).toBeGreaterThan(20);
});

test("the time axis of one point, and of points close together, is seconds long", () => {
  expect(timeRange([1000])).toEqual([990, 1010]);
  const [from, until] = timeRange([1000, 1000.05]);
  expect([from < 1000, until > 1000.05]).toEqual([true, true]);
  expect(until - from).toBeCloseTo(20);
  expect(timeRange([1000, 1100, 2000])).toEqual([1000, 2000]);
});

test("a span is widened about its middle, and one that is long enough stays", () => {
  expect(widened([10, 11], 5)).toEqual([8, 13]);
  expect(widened([10, 15], 5)).toEqual([10, 15]);
});

test("a line breaks where a device was silent, not where it was a little late", () => {
  expect(silences([0, 5, 10, 17, 22, 100, 105])).toEqual([[22, 100]]);
  expect(silences([0, 1000])).toEqual([]);
});

test("a line of few points breaks where the device was silent by its own habit", () => {
  expect(silences([0, 1000], 5)).toEqual([[0, 1000]]);
  expect(silences([0, 1000], 900)).toEqual([]);
});

test("a point that the history has told of is the same when the live feed tells of it", () => {
  const series = new Series(10);
  series.restore([point(1000, 5), point(2000, 6), point(2000, 7)], []);
  for (const at of [point(2000, 6), point(1000, 5), point(2000, 7), point(2000, 8)]) series.push(at);
  expect(series.values).toEqual([5, 6, 7, 8]);
});

test("a long line is thinned out without losing its peaks or ends", () => {
  const series = new Series(100_000);
  const points = Array.from({ length: 50_000 }, (_, n) => point(n * 1000, Math.sin(n / 900)));
  points[12_345]!.value = 7;
  points[12_346]!.value = -7;
  series.restore(points, []);
  const [times, values] = decimate(series, [0, series.length], 300);
  expect(times.length).toBeLessThanOrEqual(4 * 301);
  expect([times[0], times.at(-1)]).toEqual([0, 49_999]);
  expect(extent(values)).toEqual([-7, 7]);
  expect([...times].sort((a, b) => a - b)).toEqual(times);
});

test("a short line is drawn as it is, and only the part that is asked for", () => {
  const series = new Series(10);
  for (let time = 1; time <= 9; time++) series.push(point(time * 1000));
  expect(series.within([3, 6])).toEqual([2, 5]);
  expect(decimate(series, series.within([3, 6]), 300)).toEqual([
    [3, 4, 5],
    [3000, 4000, 5000],
  ]);
});

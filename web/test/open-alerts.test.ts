import { afterEach, expect, test, vi } from "vitest";
import type { Alert, AlertApi } from "../src/alert-api";
import { ApiError } from "../src/api";
import { OpenAlerts } from "../src/open-alerts";

const page = { hidden: false };
vi.stubGlobal("window", globalThis);
vi.stubGlobal("document", page);
vi.useFakeTimers();

afterEach(() => {
  vi.clearAllTimers();
  page.hidden = false;
});

function watched(answer: () => Promise<Alert[]>) {
  const alerts = vi.fn(answer);
  const [shown, failed] = [vi.fn(), vi.fn()];
  const open = new OpenAlerts({ alerts } as unknown as AlertApi, shown, failed);
  return { open, alerts, shown, failed };
}

test("open alerts are asked for at once and then every ten seconds, until it is stopped", async () => {
  const { open, alerts, shown } = watched(async () => []);
  await vi.advanceTimersByTimeAsync(0);
  expect(alerts).toHaveBeenLastCalledWith(1000, "open");
  expect(shown).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(alerts).toHaveBeenCalledTimes(3);
  open.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(alerts).toHaveBeenCalledTimes(3);
});

test("nothing is asked for a page that nobody sees, and at once when it is seen again", async () => {
  page.hidden = true;
  const { open, alerts } = watched(async () => []);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(alerts).not.toHaveBeenCalled();
  page.hidden = false;
  await open.now();
  expect(alerts).toHaveBeenCalledTimes(1);
  open.stop();
});

test("what fails is told and asked for again, and two questions are never under way", async () => {
  let answer: (alerts: Alert[]) => void = () => undefined;
  const error = new ApiError(503, "busy");
  let first = true;
  const { open, alerts, shown, failed } = watched(() => {
    if (!first) return new Promise((done) => (answer = done));
    first = false;
    return Promise.reject(error);
  });
  await vi.advanceTimersByTimeAsync(0);
  expect(failed).toHaveBeenCalledWith(error);
  await vi.advanceTimersByTimeAsync(10_000);
  void open.now();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(alerts).toHaveBeenCalledTimes(2);
  expect(shown).not.toHaveBeenCalled();
  open.stop();
  answer([]);
  await vi.advanceTimersByTimeAsync(0);
  expect(shown).not.toHaveBeenCalled();
});

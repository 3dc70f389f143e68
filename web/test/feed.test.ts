import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ApiError } from "../src/api";
import { Feed } from "../src/feed";

vi.stubGlobal("window", globalThis);

/** One request for the feed, and what is answered to it. */
interface Asked {
  lastId: string | undefined;
  open(): void;
  say(text: string): void;
  end(): void;
  refuse(status: number, retryAfter?: string): void;
}

let asked: Asked[];
let seen: string[];

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  seen = [];
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    const headers = init.headers as Record<string, string>;
    return new Promise<Response>((resolve, reject) => {
      let pieces: ReadableStreamDefaultController<Uint8Array>;
      const body = new ReadableStream<Uint8Array>({ start: (controller) => void (pieces = controller) });
      init.signal!.addEventListener("abort", () => {
        reject(new DOMException("", "AbortError"));
        pieces.error(new DOMException("", "AbortError"));
      });
      asked.push({
        lastId: headers["last-event-id"],
        open: () => resolve(new Response(body)),
        say: (text) => pieces.enqueue(new TextEncoder().encode(text)),
        end: () => pieces.close(),
        refuse: (status, retryAfter) =>
          resolve(
            new Response("", {
              status,
              headers: retryAfter === undefined ? {} : { "retry-after": retryAfter },
            }),
          ),
      });
    });
  });
});

afterEach(() => vi.useRealTimers());

function feed(lastId?: string): Feed {
  return new Feed(
    {
      opened: () => seen.push("opened"),
      point: ({ value }, id) => seen.push(`point ${value} ${id}`),
      alive: () => undefined,
      interrupted: (why: ApiError | undefined) => seen.push(`interrupted ${why?.status ?? ""}`.trim()),
      signedOut: () => seen.push("signed out"),
    },
    lastId,
  );
}

const event = (id: number) =>
  `event: point\nid: ${id}\ndata: {"resource":1,"stream":2,"time":3,"value":${id},"arrived":4}\n\n`;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test("a feed goes on behind the last point that it saw", async () => {
  const live = feed("6");
  expect(asked[0]!.lastId).toBe("6");
  asked[0]!.open();
  await pass(1);
  asked[0]!.say(event(7) + event(8));
  await pass(1);
  asked[0]!.end();
  await pass(1_001);
  expect(seen).toEqual(["opened", "point 7 7", "point 8 8", "interrupted"]);
  expect(asked[1]!.lastId).toBe("8");
  live.stop();
});

test("a feed that the cloud ends because the session ended is not tried again", async () => {
  feed();
  asked[0]!.open();
  await pass(1);
  asked[0]!.end();
  await pass(1_001);
  asked[1]!.refuse(401);
  await pass(600_000);
  expect(seen).toEqual(["opened", "interrupted", "signed out"]);
  expect(asked.length).toBe(2);
});

test("a refused feed waits as long as the cloud asks it to", async () => {
  const live = feed();
  asked[0]!.refuse(429, "30");
  await pass(29_000);
  expect([asked.length, seen]).toEqual([1, ["interrupted 429"]]);
  await pass(2_000);
  expect(asked.length).toBe(2);
  live.stop();
});

test("a connection on which nothing comes any more is replaced, a quiet one is not", async () => {
  const live = feed();
  asked[0]!.open();
  for (let beat = 0; beat < 10; beat++) {
    await pass(15_000);
    asked[0]!.say(":\n\n");
  }
  await pass(1);
  expect(seen).toEqual(["opened"]);
  await pass(47_000);
  expect([asked.length, seen.at(-1)]).toEqual([2, "interrupted"]);
  live.stop();
});

test("a feed that does not open in time is tried again", async () => {
  const live = feed();
  await pass(17_000);
  expect([asked.length, seen]).toEqual([2, ["interrupted 0"]]);
  live.stop();
});

test("who has missed too much is told to read the history", async () => {
  const live = feed("1");
  asked[0]!.open();
  await pass(1);
  asked[0]!.say('event: history\nid: 90000\ndata: {"limit":10000}\n\n');
  await pass(1);
  expect(seen).toEqual(["opened", "opened"]);
  live.restart();
  expect(asked[1]!.lastId).toBe("90000");
  live.stop();
});

test("a feed that is stopped is silent", async () => {
  feed().stop();
  await pass(600_000);
  expect([asked.length, seen]).toEqual([1, []]);
});

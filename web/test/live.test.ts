import { afterEach, expect, test, vi } from "vitest";
import type { LivePoint } from "../src/api";
import type { FeedHandlers } from "../src/feed";
import { Live, type LiveState, type Surroundings } from "../src/live";
import { EventReader } from "../src/sse";

vi.stubGlobal("window", globalThis);
vi.useFakeTimers();

/** Locks as browsers have them: one holder, the others in a row; who steals pushes the holder out. */
class Locks {
  private holder: (() => void) | undefined;
  private row: (() => void)[] = [];

  request(_: string, options: LockOptions, work: () => Promise<void> | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => reject(new DOMException("", "AbortError"));
      const hold = () => {
        this.holder = abort;
        void Promise.resolve(work()).then(() => {
          if (this.holder === abort) this.next();
          resolve();
        });
      };
      if (options.steal) {
        this.holder?.();
        hold();
      } else if (!this.holder) {
        hold();
      } else {
        this.row.push(hold);
        options.signal?.addEventListener("abort", () => {
          this.row = this.row.filter((waiting) => waiting !== hold);
          abort();
        });
      }
    });
  }

  private next(): void {
    this.holder = undefined;
    this.row.shift()?.();
  }
}

/** The channel of all tabs. One that is `deaf` hears nothing and says nothing, as a tab that hangs. */
class Channels {
  private all = new Set<{ onmessage: ((event: MessageEvent) => void) | null }>();
  deaf: unknown;

  open(owner: unknown) {
    const all = this.all;
    const end = {
      onmessage: null as ((event: MessageEvent) => void) | null,
      owner,
      postMessage: (data: unknown) => {
        if (this.deaf === owner) return;
        for (const other of all) {
          if (other === end || this.deaf === (other as typeof end).owner) continue;
          other.onmessage?.({ data: structuredClone(data) } as MessageEvent);
        }
      },
      close: () => all.delete(end),
    };
    all.add(end);
    return end;
  }
}

/** What one tab sees. */
class Tab {
  states: LiveState[] = [];
  points: number[] = [];
  opened = 0;
  signedOut = 0;
  feed: { handlers: FeedHandlers; lastId: string | undefined } | undefined;
  readonly live: Live;

  constructor(locks: Locks | undefined, channels: Channels) {
    const around = {
      locks,
      channel: () => channels.open(this),
      feed: (handlers: FeedHandlers, lastId: string | undefined) => {
        this.feed = { handlers, lastId };
        return { restart: () => undefined, stop: () => (this.feed = undefined) };
      },
    } as unknown as Surroundings;
    this.live = new Live(
      "ann",
      {
        opened: () => (this.opened += 1),
        point: ({ value }) => this.points.push(Number(value)),
        state: (state) => this.states.push(state),
        signedOut: () => (this.signedOut += 1),
      },
      around,
    );
  }

  say(value: number): void {
    const point: LivePoint = { resource: 1, stream: 2, time: 3, arrived: 4, value };
    this.feed!.handlers.point(point, String(value));
  }
}

const settle = () => vi.advanceTimersByTimeAsync(1);

async function tabs(count: number) {
  const [locks, channels] = [new Locks(), new Channels()];
  const all: Tab[] = [];
  for (let index = 0; index < count; index++) {
    all.push(new Tab(locks, channels));
    await settle();
    all[0]!.feed!.handlers.opened();
  }
  return { all, locks, channels };
}

const withFeed = (all: Tab[]) => all.filter((tab) => tab.feed);

afterEach(() => vi.clearAllTimers());

test("seven tabs have one feed, and each hears every point and that it is open", async () => {
  const { all } = await tabs(7);
  expect(withFeed(all)).toEqual([all[0]]);
  all[0]!.say(5);
  for (const tab of all) {
    expect(tab.points).toEqual([5]);
    expect(tab.opened).toBeGreaterThan(0);
    expect(tab.states.at(-1)).toBe("live");
  }
});

test("a tab that comes while the feed is open joins it without opening it again for the others", async () => {
  const { all, locks, channels } = await tabs(2);
  const before = all.map((tab) => tab.opened);
  const late = new Tab(locks, channels);
  await settle();
  expect([late.opened, late.states.at(-1)]).toEqual([1, "live"]);
  expect(all.map((tab) => tab.opened)).toEqual(before);
});

test("when the tab with the feed goes, another goes on behind the last point", async () => {
  const { all } = await tabs(3);
  all[0]!.say(8);
  all[0]!.say(9);
  all[0]!.live.suspend();
  await settle();
  expect(withFeed(all)).toEqual([all[1]]);
  expect(all[1]!.feed!.lastId).toBe("9");
  all[1]!.say(10);
  expect(all[2]!.points).toEqual([8, 9, 10]);
  expect(all[0]!.points).toEqual([8, 9]);
});

test("a page that comes back takes part again, and one that goes for good waits for nothing", async () => {
  const { all } = await tabs(2);
  for (let visit = 0; visit < 10; visit++) {
    all[0]!.live.suspend();
    await settle();
    expect(withFeed(all)).toEqual([all[1]]);
    all[0]!.live.resume();
    await settle();
    expect(withFeed(all)).toEqual([all[1]]);
    all[1]!.live.suspend();
    await settle();
    expect(withFeed(all)).toEqual([all[0]]);
    all[1]!.live.resume();
    await settle();
  }
  all[1]!.live.stop();
  all[0]!.live.stop();
  await settle();
  expect(withFeed(all)).toEqual([]);
});

test("a tab that has the feed and hangs loses it, and is one of the others when it wakes", async () => {
  const { all, channels } = await tabs(2);
  channels.deaf = all[0];
  await vi.advanceTimersByTimeAsync(91_000);
  expect(withFeed(all)).toEqual([all[1]]);
  channels.deaf = undefined;
  all[1]!.feed!.handlers.opened();
  await vi.advanceTimersByTimeAsync(60_000);
  all[1]!.say(3);
  expect(all[0]!.points).toEqual([3]);
  expect(withFeed(all)).toEqual([all[1]]);
});

test("a feed that says nothing but that it is there is left where it is", async () => {
  const { all } = await tabs(2);
  for (let beat = 0; beat < 20; beat++) {
    await vi.advanceTimersByTimeAsync(15_000);
    all[0]!.feed!.handlers.alive();
  }
  expect(withFeed(all)).toEqual([all[0]]);
});

test("when the session ends, all tabs are told", async () => {
  const { all } = await tabs(3);
  all[0]!.feed!.handlers.signedOut();
  expect(all.map((tab) => tab.signedOut)).toEqual([1, 1, 1]);
});

test("a browser without locks has a feed in each tab", async () => {
  const channels = new Channels();
  const all = [new Tab(undefined, channels), new Tab(undefined, channels)];
  await settle();
  expect(withFeed(all)).toEqual(all);
  for (const tab of all) tab.say(4);
  expect(all.map((tab) => tab.points)).toEqual([[4], [4]]);
});

test("events are read from pieces cut anywhere", () => {
  const text =
    ': hello\n\nevent: point\nid: 7\ndata: {"a":1,\ndata: "b":2}\n\nid: 8\r\nevent:x\r\ndata:y\r\n\r\n:\n\n';
  const want = [
    { event: "point", data: '{"a":1,\n"b":2}', id: "7" },
    { event: "x", data: "y", id: "8" },
  ];
  for (let cut = 0; cut <= text.length; cut++) {
    const reader = new EventReader();
    expect([...reader.read(text.slice(0, cut)), ...reader.read(text.slice(cut))]).toEqual(want);
  }
});

test("an event that is not complete is not told", () => {
  const reader = new EventReader("3");
  expect(reader.read("event: point\ndata: 1\n")).toEqual([]);
  expect(reader.read("\n")).toEqual([{ event: "point", data: "1", id: "3" }]);
});

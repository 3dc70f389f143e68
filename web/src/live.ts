import type { ApiError, LivePoint } from "./api";
import { Feed, type FeedHandlers } from "./feed";

export type LiveState = "connecting" | "live" | "reconnecting";

export interface LiveHandlers {
  /** The feed is open, or this tab joins one that is. What was missed is in the history. */
  opened(): void;
  point(point: LivePoint): void;
  /** `why` is what the cloud refused the feed with, in words. */
  state(state: LiveState, why?: string): void;
  signedOut(): void;
}

/** What the tab that has the feed tells the others, and what a new one asks. */
export type Message =
  | { kind: "hello" }
  | { kind: "state"; state: LiveState; why?: string; id?: string }
  | { kind: "opened" }
  | { kind: "point"; point: LivePoint; id?: string }
  | { kind: "alive" }
  | { kind: "signed-out" };

/** What of the browser this needs; tests have their own. */
export interface Surroundings {
  locks: Pick<LockManager, "request"> | undefined;
  channel(name: string): Pick<BroadcastChannel, "postMessage" | "onmessage" | "close">;
  feed(handlers: FeedHandlers, lastId: string | undefined): Pick<Feed, "restart" | "stop">;
}

const browser = (): Surroundings => ({
  locks: navigator.locks as LockManager | undefined,
  channel: (name) => new BroadcastChannel(name),
  feed: (handlers, lastId) => new Feed(handlers, lastId),
});

/** How long the tab that has the feed may take to answer a new one. */
const ANSWER_MS = 10_000;
/** How long it may say nothing: it tells of every keep-alive and of every try to connect. */
const SILENCE_MS = 90_000;
const LATE_MS = 5_000;

/**
 * The live feed of all tabs of a user. Browsers open six connections to a server at most, and a feed keeps one of
 * them: so one tab has the feed and passes the points on. It holds a lock; when it goes, the lock passes to another
 * tab, which goes on behind the last point that was passed on. A tab that holds the lock and says nothing loses it.
 */
export class Live {
  private readonly name: string;
  private channel: ReturnType<Surroundings["channel"]> | undefined;
  /** The feed, if this tab has it. */
  private feed: ReturnType<Surroundings["feed"]> | undefined;
  /** Ends this tab's wait for the lock, or its hold of it. */
  private leave: () => void = () => undefined;
  private state: LiveState = "connecting";
  private why: string | undefined;
  private lastId: string | undefined;
  /** This browser has no locks, or not for this page: each tab has a feed of its own, and tells nobody. */
  private alone = false;
  private patience: number | undefined;

  constructor(
    user: string,
    private readonly handlers: LiveHandlers,
    private readonly around: Surroundings = browser(),
  ) {
    this.name = `sixlock-live-${user}`;
    this.resume();
  }

  /** The page comes back into view: a connection may be dead without knowing, and points may have been missed. */
  restart(): void {
    if (!this.channel) return;
    this.enter("connecting");
    if (this.feed) this.feed.restart();
    else this.ask();
  }

  /** The page is left, and may come back: it keeps neither the feed nor the lock. */
  suspend(): void {
    window.clearTimeout(this.patience);
    this.channel?.close();
    this.channel = undefined;
    this.leave();
  }

  /** The page has come back. */
  resume(): void {
    if (this.channel) return;
    this.enter("connecting");
    this.channel = this.around.channel(this.name);
    this.channel.onmessage = ({ data }: MessageEvent<Message>) => this.hear(data);
    void this.queue(false);
    if (!this.feed) this.ask();
  }

  stop(): void {
    this.suspend();
  }

  /** Waits for the lock, or takes it from a tab that does not answer, and has the feed for as long as it holds it. */
  private async queue(steal: boolean): Promise<void> {
    this.leave();
    const { locks } = this.around;
    if (!locks || this.alone) {
      this.goAlone();
      return;
    }
    const waiting = new AbortController();
    let left = false;
    let release = () => waiting.abort();
    this.leave = () => {
      if (left) return;
      left = true;
      this.follow();
      release();
    };
    try {
      // A lock cannot be both stolen and waited for with a signal.
      await locks.request(this.name, steal ? { steal } : { signal: waiting.signal }, () =>
        left
          ? undefined
          : new Promise<void>((done) => {
              release = done;
              this.lead();
            }),
      );
    } catch (error) {
      if (left) return;
      this.follow();
      if (!(error instanceof DOMException && error.name === "AbortError")) {
        this.goAlone();
        return;
      }
      // Another tab has taken the lock, as this one did not answer in time.
      void this.queue(false);
      this.ask();
    }
  }

  private goAlone(): void {
    this.alone = true;
    this.leave = () => this.follow();
    this.lead();
  }

  private lead(): void {
    window.clearTimeout(this.patience);
    this.feed = this.around.feed(
      {
        opened: () => this.tell({ kind: "opened" }),
        point: (point, id) => this.tell({ kind: "point", point, id }),
        alive: () => this.tell({ kind: "alive" }),
        interrupted: (why) => this.tell({ kind: "state", state: "reconnecting", why: refused(why) }),
        signedOut: () => this.tell({ kind: "signed-out" }),
      },
      this.lastId,
    );
  }

  private follow(): void {
    this.feed?.stop();
    this.feed = undefined;
  }

  /** Says something to all tabs, this one among them. */
  private tell(message: Message): void {
    if (!this.alone) this.channel?.postMessage(message);
    this.take(message);
  }

  private ask(): void {
    if (this.alone) return;
    this.channel?.postMessage({ kind: "hello" } satisfies Message);
    this.wait(ANSWER_MS);
  }

  private hear(message: Message): void {
    if (!this.channel || this.alone) return;
    if (message.kind === "hello") {
      const { feed, state, why, lastId: id } = this;
      if (feed) this.channel.postMessage({ kind: "state", state, why, id } satisfies Message);
      return;
    }
    if (!this.feed) this.wait(SILENCE_MS);
    this.take(message);
  }

  /** Takes the lock if the tab that has it says nothing for so long. */
  private wait(ms: number): void {
    window.clearTimeout(this.patience);
    const due = Date.now() + ms;
    this.patience = window.setTimeout(() => {
      // Late: the machine slept, or this tab is hidden. The other one is asked again, as it may be well.
      if (Date.now() > due + LATE_MS) this.ask();
      else void this.queue(true);
    }, ms);
  }

  private take(message: Message): void {
    if (message.kind === "point") {
      this.lastId = message.id;
      this.handlers.point(message.point);
    } else if (message.kind === "opened") {
      this.enter("live");
      this.handlers.opened();
    } else if (message.kind === "state") {
      this.lastId = message.id ?? this.lastId;
      const joins = message.state === "live" && this.state !== "live";
      this.enter(message.state, message.why);
      if (joins) this.handlers.opened();
    } else if (message.kind === "signed-out") {
      this.handlers.signedOut();
    }
  }

  private enter(state: LiveState, why?: string): void {
    this.state = state;
    this.why = why;
    this.handlers.state(state, why);
  }
}

/** The words of a refusal; that nobody answers is none. */
function refused(why: ApiError | undefined): string | undefined {
  return why && why.status !== 0 ? why.words : undefined;
}

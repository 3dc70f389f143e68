import { api, ApiError, type LivePoint } from "./api";
import { EventReader } from "./sse";
import { isValue } from "./value";

export interface FeedHandlers {
  /** The feed is open, or more was missed than it tells: what came before is in the history. */
  opened(): void;
  /** A point, and the id with which the feed goes on behind it. */
  point(point: LivePoint, id: string | undefined): void;
  /** The cloud has said something, be it only that it is there. */
  alive(): void;
  /** The feed is closed, and is tried again. `why` is the cloud's refusal, if it refused. */
  interrupted(why: ApiError | undefined): void;
  signedOut(): void;
}

/** From where a feed comes, and what its events say. */
export interface FeedSource {
  /** Opens it, behind the point with the id `lastId` if there is one. */
  open: (lastId: string | undefined, signal: AbortSignal) => Promise<Response>;
  /** Reads the data of a `point` event; nothing if that is no point. */
  parse: (data: string) => LivePoint | undefined;
}

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 15_000;
/** How long the cloud may take to open it. */
const PATIENCE_MS = 15_000;
/** The cloud says something every 15 s. A connection that is silent for longer than this is dead. */
const SILENCE_MS = 45_000;

/**
 * The connection of the live feed. It tries for ever, and goes on behind the last point that it saw. It uses
 * `fetch`, because an EventSource hides the status with which it failed, and cannot go on where another one ended.
 */
export class Feed {
  private attempt = new AbortController();
  private retry: number | undefined;
  private delay = FIRST_RETRY_MS;

  /** Goes on behind the point with the id `lastId`, if there is one. */
  constructor(
    private readonly handlers: FeedHandlers,
    private lastId: string | undefined,
    private readonly source: FeedSource = { open: api.live, parse: parsePoint },
  ) {
    void this.connect();
  }

  /** Begins anew: after sleep a connection can look open and be dead. */
  restart(): void {
    this.stop();
    void this.connect();
  }

  stop(): void {
    this.attempt.abort();
    window.clearTimeout(this.retry);
  }

  private async connect(): Promise<void> {
    const attempt = new AbortController();
    const silent = new AbortController();
    this.attempt = attempt;
    let watch = 0;
    const wait = (ms: number) => {
      window.clearTimeout(watch);
      watch = window.setTimeout(() => silent.abort(), ms);
    };
    wait(PATIENCE_MS);
    attempt.signal.addEventListener("abort", () => silent.abort());
    let why: ApiError | undefined;
    try {
      const response = await this.source.open(this.lastId, silent.signal);
      if (attempt.signal.aborted) return;
      this.handlers.opened();
      await this.follow(response, attempt.signal, () => wait(SILENCE_MS));
    } catch (error) {
      // A connection that breaks in the middle is no ApiError.
      if (error instanceof ApiError) why = error;
    } finally {
      window.clearTimeout(watch);
    }
    if (!attempt.signal.aborted) this.failed(why);
  }

  private async follow(response: Response, aborted: AbortSignal, heard: () => void): Promise<void> {
    const events = new EventReader(this.lastId);
    const text = new TextDecoder();
    const pieces = response.body!.getReader();
    heard();
    for (;;) {
      const { done, value } = await pieces.read();
      if (done || aborted.aborted) return;
      heard();
      this.delay = FIRST_RETRY_MS;
      for (const { event, data, id } of events.read(text.decode(value, { stream: true }))) {
        this.lastId = id;
        if (event === "history") this.handlers.opened();
        const point = event === "point" ? this.source.parse(data) : undefined;
        if (point) this.handlers.point(point, id);
      }
      this.handlers.alive();
    }
  }

  private failed(why: ApiError | undefined): void {
    if (why?.signedOut) {
      this.handlers.signedOut();
      return;
    }
    this.handlers.interrupted(why);
    this.retry = window.setTimeout(() => void this.connect(), Math.max(this.delay, why?.retryMs ?? 0));
    this.delay = Math.min(this.delay * 2, LAST_RETRY_MS);
  }
}

/** Reads the data of a `point` event; whatever is not a point is passed over. */
export function parsePoint(data: string): LivePoint | undefined {
  try {
    const point = JSON.parse(data) as LivePoint;
    return [point.time, point.arrived].every(Number.isFinite) && isValue(point.value) ? point : undefined;
  } catch {
    return undefined;
  }
}

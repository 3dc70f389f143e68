import { api, ApiError, type LivePoint } from "./api";

export type LiveState = "connecting" | "live" | "reconnecting";

export interface LiveHandlers {
  /** The feed is open. What was missed is either replayed by the server or in the history. */
  opened(): void;
  point(point: LivePoint): void;
  state(state: LiveState): void;
  signedOut(): void;
}

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 15_000;

/**
 * The live feed. EventSource itself reconnects a broken connection and names the last event it saw; it gives
 * up for good when the server answers with an error, and then this class goes on trying.
 */
export class Live {
  private source: EventSource | undefined;
  private retry: number | undefined;
  private delay = FIRST_RETRY_MS;
  private stopped = false;

  constructor(private readonly handlers: LiveHandlers) {
    handlers.state("connecting");
    this.connect();
  }

  /** Begins anew: after sleep a connection can look open and be dead. */
  restart(): void {
    if (this.stopped) return;
    this.handlers.state("reconnecting");
    this.connect();
  }

  stop(): void {
    this.stopped = true;
    this.disconnect();
  }

  private disconnect(): void {
    window.clearTimeout(this.retry);
    this.source?.close();
    this.source = undefined;
  }

  private connect(): void {
    this.disconnect();
    const source = new EventSource(api.liveUrl);
    this.source = source;
    source.addEventListener("open", () => {
      this.delay = FIRST_RETRY_MS;
      this.handlers.state("live");
      this.handlers.opened();
    });
    source.addEventListener("point", (event) => {
      const point = parsePoint(event.data);
      if (point) this.handlers.point(point);
    });
    source.addEventListener("error", () => {
      this.handlers.state("reconnecting");
      if (source.readyState === EventSource.CLOSED) this.connectLater();
    });
  }

  private connectLater(): void {
    this.disconnect();
    this.retry = window.setTimeout(async () => {
      try {
        // EventSource hides the status it failed with: ask whether it was our session that ended.
        await api.me();
      } catch (error) {
        if (this.stopped) return;
        if (error instanceof ApiError && error.signedOut) this.handlers.signedOut();
        else this.connectLater();
        return;
      }
      if (!this.stopped) this.connect();
    }, this.delay);
    this.delay = Math.min(this.delay * 2, LAST_RETRY_MS);
  }
}

/** Reads the data of a `point` event; whatever is not a point is passed over. */
export function parsePoint(data: unknown): LivePoint | undefined {
  if (typeof data !== "string") return undefined;
  try {
    const point = JSON.parse(data) as LivePoint;
    return Number.isFinite(point.time) && Number.isFinite(point.value) ? point : undefined;
  } catch {
    return undefined;
  }
}

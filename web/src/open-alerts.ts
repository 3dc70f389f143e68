import { ApiError } from "./api";
import { MOST_ALERTS, type Alert, type AlertApi } from "./alert-api";

const PERIOD_MS = 10_000;

/** Asks for the alerts that nobody has acknowledged, every ten seconds while somebody looks. */
export class OpenAlerts {
  private timer: number | undefined;
  private busy = false;
  private stopped = false;

  constructor(
    private readonly api: AlertApi,
    private readonly show: (open: Alert[]) => void,
    private readonly fail: (error: ApiError) => void,
  ) {
    void this.now();
  }

  stop(): void {
    this.stopped = true;
    window.clearTimeout(this.timer);
  }

  /** Asks at once. */
  async now(): Promise<void> {
    if (this.busy || this.stopped) return;
    window.clearTimeout(this.timer);
    this.busy = true;
    try {
      if (!document.hidden) {
        const open = await this.api.alerts(MOST_ALERTS, "open");
        if (!this.stopped) this.show(open);
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (!this.stopped) this.fail(error);
    } finally {
      this.busy = false;
      if (!this.stopped) this.timer = window.setTimeout(() => void this.now(), PERIOD_MS);
    }
  }
}

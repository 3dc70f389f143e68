import { api, ApiError, type Network, type NetworkNode } from "./api";

/** `up` gives the device of node N the label `node-N`. */
export function nodeOfLabel(label: string): number | undefined {
  const match = /^node-(\d+)$/.exec(label);
  return match ? Number(match[1]) : undefined;
}

/** The share of the bytes on the air that security costs; nothing sent has no share. */
export function securityShare(figures: { bytes: number; security_bytes: number }): number | null {
  return figures.bytes > 0 ? Math.min(1, figures.security_bytes / figures.bytes) : null;
}

export interface Totals {
  nodes: number;
  points: number;
  handshakes: number;
  retransmissions: number;
  bytes: number;
  security_bytes: number;
}

/** Sums over all nodes. The router (id 0) sends too, but is not counted as a device. */
export function totals(nodes: readonly NetworkNode[]): Totals {
  const sum: Totals = { nodes: 0, points: 0, handshakes: 0, retransmissions: 0, bytes: 0, security_bytes: 0 };
  for (const node of nodes) {
    if (node.id !== 0) sum.nodes += 1;
    sum.points += node.points;
    sum.handshakes += node.handshakes;
    sum.retransmissions += node.retransmissions;
    sum.bytes += node.bytes;
    sum.security_bytes += node.security_bytes;
  }
  return sum;
}

/** The security modes in use, each once. */
export function modes(nodes: readonly NetworkNode[]): string[] {
  return [...new Set(nodes.filter((node) => node.id !== 0).map((node) => node.security))];
}

const PERIOD_MS = 2_000;
const PERIOD_AFTER_ERROR_MS = 6_000;

/** Asks for the network every two seconds while somebody looks. */
export class NetworkPoll {
  private timer: number | undefined;
  private busy = false;
  private stopped = false;

  constructor(
    private readonly show: (network: Network) => void,
    private readonly fail: (error: ApiError) => void,
  ) {
    void this.poll();
  }

  /** Asks at once, for a page that has just come back into view. */
  now(): void {
    void this.poll();
  }

  stop(): void {
    this.stopped = true;
    window.clearTimeout(this.timer);
  }

  private async poll(): Promise<void> {
    if (this.busy || this.stopped) return;
    window.clearTimeout(this.timer);
    this.busy = true;
    let period = PERIOD_MS;
    try {
      if (!document.hidden) {
        const network = await api.network();
        if (!this.stopped) this.show(network);
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      period = PERIOD_AFTER_ERROR_MS;
      if (!this.stopped) this.fail(error);
    } finally {
      this.busy = false;
      if (!this.stopped) this.timer = window.setTimeout(() => void this.poll(), period);
    }
  }
}

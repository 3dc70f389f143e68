import { api, ApiError, type Network, type NetworkNode, type Resource } from "./api";

/** `up` gives the device of node N the label `node-N`. */
export function nodeOfLabel(label: string): number | undefined {
  const match = /^node-(\d+)$/.exec(label);
  return match ? Number(match[1]) : undefined;
}

/** Nodes by number, then the others by name, numbers in it by their size. */
export function inOrder(resources: readonly Resource[]): Resource[] {
  const rank = ({ label }: Resource) => nodeOfLabel(label) ?? Infinity;
  return [...resources].sort((a, b) =>
    rank(a) === rank(b) ? a.label.localeCompare(b.label, "en", { numeric: true }) : rank(a) - rank(b),
  );
}

/**
 * How well a node's frames get through, as they are counted at the node: for each time it had to send something
 * again, so many frames that it sent (acknowledgements and forwarded ones included).
 */
export function framesPerRetransmission({ frames, retransmissions }: NetworkNode): number {
  return retransmissions > 0 ? frames / retransmissions : Infinity;
}

export type Quality = "unknown" | "good" | "fair" | "poor";

/** The quality in a word. A node that has sent next to nothing has shown nothing. */
export function linkQuality(node: NetworkNode): Quality {
  if (node.frames < 20) return "unknown";
  const frames = framesPerRetransmission(node);
  return frames >= 20 ? "good" : frames >= 5 ? "fair" : "poor";
}

/** Where a node sends to, in words. */
export function parentWords(parent: number | null, router: string): string {
  return parent === null ? "nobody yet" : parent === 0 ? router : `node ${parent}`;
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

const NO_NETWORK = "This cloud runs no network of its own. Devices that report to it are under Devices.";
const ELSEWHERE =
  "Network figures are shown only where the cloud runs: open this page there, at its loopback address. " +
  "Readings are not affected.";

/** Asks for the network every two seconds while somebody looks. */
export class NetworkPoll {
  private timer: number | undefined;
  private busy = false;
  private stopped = false;

  constructor(
    private readonly show: (network: Network) => void,
    /** There are no figures, in words; `absent` if the cloud runs without a network. */
    private readonly fail: (why: string, absent: boolean) => void,
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
      if (!this.stopped) this.refused(error);
    } finally {
      this.busy = false;
      if (!this.stopped) this.timer = window.setTimeout(() => void this.poll(), period);
    }
  }

  private refused(error: ApiError): void {
    const settled: Record<number, string> = { 401: ELSEWHERE, 403: ELSEWHERE, 404: NO_NETWORK };
    const why = settled[error.status];
    // A cloud that has no network, or does not show it here, will not have one later.
    if (why !== undefined) this.stopped = true;
    this.fail(why ?? `These figures are not up to date. ${error.message} Trying again.`, why === NO_NETWORK);
  }
}

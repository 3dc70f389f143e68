import type { Latest, Point } from "./api";

/** What shows the readings of one stream over time. */
export interface StreamView {
  readonly root: HTMLElement;
  /** When the first reading that is here was measured, in seconds since 1970. */
  readonly first: number | undefined;
  /** The readings that are here, oldest first. */
  points(): Point[];
  /** A reading has come. */
  push(point: Point): void;
  /** The stored readings are here, and those that came meanwhile. */
  restore(history: Point[], live: Point[]): void;
  /** The reading that arrived last, and of those that came at once the one measured last. */
  tell(latest: Latest | null): void;
  /** The device's usual time between readings, in seconds. */
  usually(interval: number | undefined): void;
  /** A stored reading is dated in the future. */
  foresee(point: Point | undefined): void;
  /** Whether the stored readings are here: only then may it be said that there are none. */
  settle(settled: boolean): void;
  /** Out of view it takes readings but does not draw. */
  show(visible: boolean): void;
  draw(): void;
  /** Draws again with the colours of the scheme that has just been chosen. */
  recolour(): void;
  destroy(): void;
}

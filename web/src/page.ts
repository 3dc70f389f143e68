import type { Alert } from "./alert-api";
import type { ApiError, LivePoint, Network, Resource, User } from "./api";
import type { GivenDevice } from "./group-api";

/** What the dashboard shows below its head. It is told what happens, and asked to stop when another takes its place. */
export interface Page {
  readonly root: HTMLElement;
  readonly title: string;
  /** All devices, at first and whenever one comes or goes. */
  devices?(resources: Resource[]): void;
  /** The devices of others that groups let the user see, whenever the list of devices was fetched. */
  given?(devices: GivenDevice[]): void;
  /** The list of devices could not be fetched, and none was before. */
  noDevices?(error: ApiError): void;
  network?(network: Network): void;
  /** There are no figures of a network, in words; `absent` if the cloud runs without one. */
  noNetwork?(why: string, absent: boolean): void;
  point?(point: LivePoint): void;
  /** The alerts that nobody has acknowledged, whenever they were asked for. */
  alerts?(open: Alert[]): void;
  /** The live feed is open again: points may have been missed. */
  reopened?(): void;
  /** Once a second. */
  tick?(): void;
  /** Colours have changed. */
  recolour?(): void;
  stop(): void;
}

/** What a page may ask of the dashboard. */
export interface Desk {
  readonly user: User;
  /** Whether the user may change anything but their own account. */
  readonly mayChange: boolean;
  /** Asks for the list of devices again. */
  refresh(): Promise<void>;
  /** Takes an error that a page cannot help: a session that has ended ends the page. */
  fail(error: unknown): void;
  /** Leads to another page. */
  go(link: string): void;
  /** So many alerts are open that nobody has acknowledged. */
  countAlerts(open: number): void;
  /** Alerts may have come or gone: they are asked for again. */
  alertsChanged(): void;
  /** Ends the dashboard: the user is gone. */
  leave(why: string): void;
}

import { call, part, send, type Place, type Resource } from "./api";

/** Whether a device reports, as the cloud sees it: by its period, or where none is known, within an hour. */
export type DeviceState = "reporting" | "silent" | "unheard";

/** What is said of the devices in each state. */
export const STATE_WORDS: Record<DeviceState, string> = {
  reporting: "Reporting",
  silent: "Silent",
  unheard: "No reading yet",
};

export interface FleetDevice extends Resource {
  state: DeviceState;
  /** When it is silent, or will be if it is not heard before, in milliseconds since 1970; null if it was never heard. */
  silent_from: number | null;
  /** Null if it has no poller. */
  polls_paused: boolean | null;
  /** How many alerts of it are not cleared. */
  alerts: number;
}

/** How many devices there are, and how they are. */
export interface Counts {
  devices: number;
  reporting: number;
  silent: number;
  unheard: number;
  with_alerts: number;
  polls_paused: number;
}

/** The devices of a tag, or below a folder. */
export interface Group extends Counts {
  name: string;
}

export interface Fleet {
  /** Of all devices. */
  summary: Counts & { tags: Group[] };
  /** The folders right below the one that was asked for. */
  folders: Group[];
  /** How many devices are found. */
  found: number;
  /** The page of them that was asked for. */
  devices: FleetDevice[];
}

/** Which devices: those of which all holds that is said. */
export interface Selection {
  search?: string;
  tags?: string[];
  state?: DeviceState;
  with_alerts?: boolean;
  /** With the folders below it. */
  folder?: string;
}

export type Order = "name" | "silence" | "heard" | "added";

export interface Page {
  order?: Order;
  offset?: number;
  limit?: number;
}

/** A device that has a place. */
export interface Placed extends Place {
  id: Resource["id"];
  label: string;
  state: DeviceState;
  alerts: number;
}

/** What is done to many devices at once. */
export type Change =
  | { kind: "tag" | "untag"; tags: string[] }
  | { kind: "move"; folder: string }
  | { kind: "pause_polls" | "resume_polls" | "delete" }
  | { kind: "keep"; keep_s: number | null; discard?: boolean };

/** The devices that are meant: these, or all that are found so. */
export type Chosen = { devices: Resource["id"][] } | { matching: Selection };

export interface Changed {
  matched: number;
  changed: number;
}

/** The query of a selection: what is not said, or empty, is not in it. */
export function query(selection: Selection, page: Page = {}): URLSearchParams {
  const said = Object.entries({ ...selection, ...page }).filter(
    ([, value]) => value !== undefined && value !== "" && value !== false && String(value) !== "",
  );
  return new URLSearchParams(said.map(([name, value]) => [name, String(value)]));
}

export const fleetApi = (user: string) => {
  const fleet = `/users/${part(user)}/fleet`;
  return {
    look: (selection: Selection, page: Page) => call<Fleet>(`${fleet}?${query(selection, page)}`),
    /** All devices that have a place. */
    places: () => call<Placed[]>(`${fleet}/places`),
    /** Nothing is changed if there are not `count` of them. */
    change: (chosen: Chosen, count: number, change: Change) =>
      send<Changed>("POST", `${fleet}/changes`, { ...chosen, count, change }),
  };
};

/** The tags in a text: what stands between commas. */
export function tagsIn(text: string): string[] {
  return text
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);
}

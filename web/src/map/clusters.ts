import type { DeviceState, Placed } from "../fleet-api";

/** What is seen of the Earth: from its west and north, so many degrees of longitude wide, and half as many high. */
export interface View {
  west: number;
  north: number;
  width: number;
}

/** Devices that are too near each other to be told apart, in the middle of them. */
export interface Cluster {
  latitude: number;
  longitude: number;
  devices: Placed[];
}

export const WORLD: View = { west: -180, north: 90, width: 360 };
/** The narrowest view, in degrees: some 200 m at the equator. */
const NARROWEST = 0.002;
/** Cells of a view beside each other: what is in one is drawn as one. */
const CELLS = 40;

/** The devices in a view, those of each cell together. However many there are, at most as many are drawn as there are cells. */
export function clusters(devices: readonly Placed[], { west, north, width }: View): Cluster[] {
  const size = width / CELLS;
  const cells = new Map<string, Placed[]>();
  for (const device of devices) {
    const [x, y] = [device.longitude - west, north - device.latitude];
    if (x < 0 || x > width || y < 0 || y > width / 2) continue;
    const cell = `${Math.floor(x / size)} ${Math.floor(y / size)}`;
    const others = cells.get(cell);
    if (others) others.push(device);
    else cells.set(cell, [device]);
  }
  return [...cells.values()].map((together) => ({
    latitude: mean(together.map(({ latitude }) => latitude)),
    longitude: mean(together.map(({ longitude }) => longitude)),
    devices: together,
  }));
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** How the devices of a cluster are: the worst of them. */
export function worstOf(devices: readonly Placed[]): "alert" | DeviceState {
  if (devices.some(({ alerts }) => alerts > 0)) return "alert";
  for (const state of ["silent", "reporting"] as const)
    if (devices.some((device) => device.state === state)) return state;
  return "unheard";
}

/** The view that all devices are in, with room around them. */
export function around(devices: readonly Placed[]): View {
  if (devices.length === 0) return WORLD;
  const range = (values: readonly number[]): [number, number] => [
    values.reduce((low, value) => Math.min(low, value)),
    values.reduce((high, value) => Math.max(high, value)),
  ];
  const [west, east] = range(devices.map(({ longitude }) => longitude));
  const [south, north] = range(devices.map(({ latitude }) => latitude));
  const width = Math.max(east - west, 2 * (north - south), NARROWEST) * 1.3;
  return within({ west: (west + east - width) / 2, north: (north + south) / 2 + width / 4, width });
}

/** The view `factor` times as wide, around the same middle. */
export function zoomed({ west, north, width }: View, factor: number): View {
  const wider = width * factor;
  return within({ west: west + (width - wider) / 2, north: north - (width - wider) / 4, width: wider });
}

/** The view moved by parts of its width and height. */
export function moved({ west, north, width }: View, right: number, down: number): View {
  return within({ west: west + right * width, north: north - (down * width) / 2, width });
}

/** The same, as far as it is on the Earth. */
function within({ west, north, width }: View): View {
  const fits = Math.min(Math.max(width, NARROWEST), 360);
  return {
    width: fits,
    west: Math.min(Math.max(west, -180), 180 - fits),
    north: Math.max(Math.min(north, 90), fits / 2 - 90),
  };
}

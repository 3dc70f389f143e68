/** Where in the dashboard a person is. The address after `#` says it, so that every place can be linked to. */
export type Route =
  { page: "overview" | "devices" | "network" | "audit" | "account" } | { page: "device"; resource: string };

export const LINKS = {
  overview: "#/",
  devices: "#/devices",
  network: "#/network",
  audit: "#/audit",
  account: "#/account",
} as const;

export function deviceLink(resource: number | string): string {
  return `#/devices/${encodeURIComponent(String(resource))}`;
}

/** Reads the part of an address from `#` on. What is not known leads to the overview. */
export function routeOf(hash: string): Route {
  const device = /^#\/devices\/([^/]+)$/.exec(hash);
  if (device) {
    try {
      return { page: "device", resource: decodeURIComponent(device[1]!) };
    } catch {
      return { page: "overview" };
    }
  }
  const found = (["devices", "network", "audit", "account"] as const).find((page) => LINKS[page] === hash);
  return { page: found ?? "overview" };
}

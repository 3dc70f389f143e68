/** Where in the dashboard a person is. The address after `#` says it, so that every place can be linked to. */
export type Route =
  | {
      page:
        "overview" | "devices" | "alerts" | "rules" | "channels" | "network" | "users" | "audit" | "account";
    }
  | { page: "device" | "settings"; resource: string };

export const LINKS = {
  overview: "#/",
  devices: "#/devices",
  alerts: "#/alerts",
  rules: "#/alerts/rules",
  channels: "#/alerts/channels",
  network: "#/network",
  users: "#/users",
  audit: "#/audit",
  account: "#/account",
} as const;

export function deviceLink(resource: number | string): string {
  return `#/devices/${encodeURIComponent(String(resource))}`;
}

export function settingsLink(resource: number | string): string {
  return `${deviceLink(resource)}/settings`;
}

/** Reads the part of an address from `#` on. What is not known leads to the overview. */
export function routeOf(hash: string): Route {
  const device = /^#\/devices\/([^/]+)(\/settings)?$/.exec(hash);
  if (device) {
    try {
      const page = device[2] === undefined ? "device" : "settings";
      return { page, resource: decodeURIComponent(device[1]!) };
    } catch {
      return { page: "overview" };
    }
  }
  const found = (
    ["devices", "alerts", "rules", "channels", "network", "users", "audit", "account"] as const
  ).find((page) => LINKS[page] === hash);
  return { page: found ?? "overview" };
}

/** The address of the tab that a page stands under. */
export function tabOf({ page }: Route): string {
  switch (page) {
    case "device":
    case "settings":
      return LINKS.devices;
    case "rules":
    case "channels":
      return LINKS.alerts;
    default:
      return LINKS[page];
  }
}

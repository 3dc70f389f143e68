/** Where in the dashboard a person is. The address after `#` says it, so that every place can be linked to. */
export type Route =
  | {
      page:
        | "overview"
        | "devices"
        | "profiles"
        | "map"
        | "alerts"
        | "rules"
        | "channels"
        | "network"
        | "users"
        | "audit"
        | "statistics"
        | "account"
        | "followed"
        | "groups"
        | "public"
        | "api";
    }
  /** A shared stream. Its token, if there is one, stands behind the `#`, so no server is told it by the address. */
  | { page: "stream"; stream: string; token: string | undefined }
  | { page: "device" | "settings"; resource: string };

export const LINKS = {
  overview: "#/",
  devices: "#/devices",
  profiles: "#/profiles",
  map: "#/map",
  alerts: "#/alerts",
  rules: "#/alerts/rules",
  channels: "#/alerts/channels",
  network: "#/network",
  users: "#/users",
  audit: "#/audit",
  statistics: "#/statistics",
  account: "#/account",
  followed: "#/followed",
  groups: "#/groups",
  public: "#/public",
  api: "#/api",
} as const;

/** A stream's page, for all who may read it; with a token, for whoever has the link. */
export function streamLink(stream: number | string, token?: string): string {
  return `#/streams/${encodeURIComponent(String(stream))}${token === undefined ? "" : `/${token}`}`;
}

/** Whether a page is for people who are not signed in, too. */
export function isForAll(route: Route): boolean {
  return route.page === "public" || route.page === "stream";
}

/** The help about the API, about what `search` finds. */
export function apiHelpLink(search: string): string {
  return search === "" ? LINKS.api : `${LINKS.api}?${new URLSearchParams({ search })}`;
}

export function deviceLink(resource: number | string): string {
  return `#/devices/${encodeURIComponent(String(resource))}`;
}

/** The list of devices, of those that the query of a selection finds. */
export function devicesLink(query: Record<string, string>): string {
  const text = new URLSearchParams(query).toString();
  return text === "" ? LINKS.devices : `${LINKS.devices}?${text}`;
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
  const stream = /^#\/streams\/(\d+)(?:\/([\w-]+))?$/.exec(hash);
  if (stream) return { page: "stream", stream: stream[1]!, token: stream[2] };
  const path = hash.split("?")[0]!;
  const found = (
    [
      "devices",
      "profiles",
      "map",
      "alerts",
      "rules",
      "channels",
      "network",
      "users",
      "audit",
      "statistics",
      "account",
      "followed",
      "groups",
      "public",
      "api",
    ] as const
  ).find((page) => LINKS[page] === path);
  return { page: found ?? "overview" };
}

/** The address of the tab that a page stands under. */
export function tabOf({ page }: Route): string {
  switch (page) {
    case "device":
    case "settings":
    case "profiles":
    case "map":
      return LINKS.devices;
    case "rules":
    case "channels":
      return LINKS.alerts;
    case "statistics":
      return LINKS.users;
    case "api":
      return LINKS.account;
    case "stream":
    case "public":
      return LINKS.followed;
    default:
      return LINKS[page];
  }
}

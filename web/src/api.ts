export interface User {
  username: string;
  admin: boolean;
}

export interface Resource {
  id: number | string;
  label: string;
  mode: string;
  /** The identity of its current key; none if that was taken away. */
  identity: string | null;
}

/** What proves an identity and is told once: a pre-shared key, or a certificate if one was made. */
export interface Made {
  key?: string;
  certificate?: string;
}

/** A resource just made: the only answer that ever holds its key. */
export interface ResourceWithKey extends Resource, Made {
  identity: string;
}

/** A key just made for a resource that had one; `replaced` is the one before, if that stays good for a while. */
export interface NewKey extends Made {
  identity: string;
  replaced: { identity: string; expires: number | null } | null;
}

export interface Stream {
  id: number | string;
  label: string;
  unit: string | null;
}

/** One stored reading; `time` is in milliseconds since 1970. */
export interface Point {
  time: number;
  value: number;
}

/** One reading as the live feed tells it. */
export interface LivePoint extends Point {
  resource: Resource["id"];
  stream: Stream["id"];
}

/** Which points: the latest `limit` before `until`, or with `from` the first ones from there on. */
export interface Page {
  limit: number;
  from?: number;
  until?: number;
}

export interface NetworkNode {
  id: number;
  address: string;
  parent: number;
  hops: number;
  security: string;
  handshakes: number;
  retransmissions: number;
  frames: number;
  bytes: number;
  /** The part of `bytes` that is there only because of the security mode. */
  security_bytes: number;
  points: number;
}

export interface Network {
  schema: number;
  /** Simulation time. */
  time_s: number;
  /** How far the simulation stands behind the wall clock, where the server tells. */
  lag_s?: number;
  nodes: NetworkNode[];
}

/** One refusal, or how many `lost` ones came too fast to be written down. */
export interface AuditLine {
  time: number;
  door?: string;
  from?: string;
  reason?: string;
  who?: string;
  what?: string;
  lost?: number;
}

/** Where the cloud's doors listen, as `address:port`; plain CoAP may be off. */
export interface Endpoints {
  http: string;
  coap: string | null;
  coaps: string;
}

/** The most points or resources of one answer. */
export const LONGEST_PAGE = 10_000;

/** An answer that is not a success, or no answer at all (`status` 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint: string = "",
  ) {
    super(message);
  }

  get signedOut(): boolean {
    return this.status === 401;
  }

  /** What went wrong and what to do. */
  get words(): string {
    return `${this.message} ${this.hint}`.trim();
  }
}

const ROOT = "/api/v1";
const PATIENCE_MS = 10_000;

async function call<T>(path: string, init: RequestInit = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(ROOT + path, {
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.timeout(PATIENCE_MS),
      ...init,
    });
  } catch {
    throw new ApiError(0, "The cloud does not answer.", "Is sixlock still running?");
  }
  const text = await response.text().catch(() => "");
  if (!response.ok) throw refusal(response.status, text);
  if (!text) return undefined as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new ApiError(response.status, "The answer is not JSON.", "Is this address the Sixlock cloud?");
  }
}

const post = <T>(path: string, body: unknown) =>
  call<T>(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

/** Reads `{"error":{"code","message","hint"}}`; anything else becomes a plain sentence. */
export function refusal(status: number, body: string): ApiError {
  try {
    const error = (JSON.parse(body) as { error?: { message?: unknown; hint?: unknown } }).error;
    if (typeof error?.message === "string") {
      return new ApiError(status, error.message, typeof error.hint === "string" ? error.hint : "");
    }
  } catch {
    // Not ours: a proxy's page, for instance.
  }
  return new ApiError(status, `The cloud answered with status ${status}.`);
}

const part = (id: number | string) => encodeURIComponent(String(id));
const resources = (user: string) => `/users/${part(user)}/resources`;
const resource = (user: string, id: Resource["id"]) => `${resources(user)}/${part(id)}`;

export const api = {
  liveUrl: `${ROOT}/live`,

  me: () => call<User>("/me"),

  login: (username: string, password: string) =>
    post<{ token: string; expires: number }>("/login", { username, password }),

  logout: () => call<void>("/logout", { method: "POST" }),

  endpoints: () => call<Endpoints>("/endpoints"),

  /** All of a user's resources, page by page. */
  resources: async (user: string) => {
    const all: Resource[] = [];
    for (;;) {
      const after = all.at(-1)?.id ?? 0;
      const page = await call<Resource[]>(`${resources(user)}?limit=${LONGEST_PAGE}&after=${after}`);
      all.push(...page);
      if (page.length < LONGEST_PAGE) return all;
    }
  },

  /** Without `key` one is made, if the mode has pre-shared keys. */
  addResource: (user: string, label: string, mode: string, key?: string) =>
    post<ResourceWithKey>(resources(user), { label, mode, key }),

  deleteResource: (user: string, id: Resource["id"]) => call<void>(resource(user, id), { method: "DELETE" }),

  replaceKey: (user: string, id: Resource["id"], overlap_s: number, key?: string) =>
    post<NewKey>(`${resource(user, id)}/credentials`, { overlap_s, key }),

  streams: (user: string, id: Resource["id"]) => call<Stream[]>(`${resource(user, id)}/streams`),

  /** A page of points, oldest first. */
  data: (user: string, id: Resource["id"], stream: Stream["id"], page: Page) => {
    const query = new URLSearchParams(Object.entries(page).map(([name, value]) => [name, String(value)]));
    return call<Point[]>(`${resource(user, id)}/streams/${part(stream)}/data?${query}`);
  },

  network: () => call<Network>("/network"),

  /** The newest refusals, newest first. */
  audit: (limit: number) => call<AuditLine[]>(`/audit?limit=${limit}`),
};

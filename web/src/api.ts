export type Role = "administrator" | "member" | "viewer";

export interface User {
  username: string;
  /** Empty if none was given. */
  email: string;
  admin: boolean;
  /** What the user may do. */
  role: Role;
  /** Whether the account is disabled. */
  disabled: boolean;
  /** Whether the user has signed up by themselves, and not signed in yet. */
  pending: boolean;
  /** In milliseconds since 1970. */
  created: number;
  /** How the user wants to be called beside the user name; empty if they do not say. */
  display_name: string;
  /** In milliseconds since 1970; null if the user never signed in. */
  last_sign_in: number | null;
}

export interface Resource {
  id: number | string;
  label: string;
  mode: string;
  /** The identity of its current key; none if that was taken away. */
  identity: string | null;
  /** When the cloud last took readings of it, in milliseconds since 1970; null if it never did. */
  heard: number | null;
  /** What its owner says about it. */
  description: string;
  /** By what its owner finds it among others. */
  tags: string[];
  /** Names with a slash between two; empty if it is in none. */
  folder: string;
  /** How often it reports, in seconds, as its owner says. */
  period_s: number | null;
  /** Where it is, as its owner says. */
  place: Place | null;
}

/** A place on the Earth, in degrees. */
export interface Place {
  latitude: number;
  longitude: number;
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

/** What a device proves to be itself by. */
export interface Credential {
  identity: string;
  /** When it ends, if it is being replaced. */
  expires: number | null;
  /** When its certificate ends, where it has one that the cloud knows. */
  certificate_expires?: number | null;
}

/** What the values of a stream are. */
export type ValueType = "number" | "text" | "boolean";

/** A value of a stream, of its type. */
export type Value = number | string | boolean;

export interface Stream {
  id: number | string;
  label: string;
  unit: string | null;
  description: string;
  value_type: ValueType;
  /** The reading that arrived last; null if there is none. */
  latest: Latest | null;
  /** Whether anyone may read it, and whether it is found; its owner is told. */
  public_access?: boolean;
  public_search?: boolean;
}

/** One stored reading; `time` is when it was measured, in milliseconds since 1970. */
export interface Point {
  time: number;
  value: Value;
}

/** A reading, and when it arrived. */
export interface Latest extends Point {
  arrived: number;
}

/** One reading as the live feed tells it. */
export interface LivePoint extends Latest {
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
  /** The next hop to the router, which is 0; null as long as RPL has found none. */
  parent: number | null;
  /** Null where parents do not lead to the router just now. */
  hops: number | null;
  /** What RPL alone tells: the rank while there is a parent, when the node joined, how often it took a parent. */
  rank?: number;
  joined_s?: number;
  parent_changes?: number;
  security: string;
  handshakes: number;
  retransmissions: number;
  frames: number;
  bytes: number;
  /** The part of `bytes` that is there only because of the security mode. */
  security_bytes: number;
  /** The bytes of frames with messages of RPL, where that routes. */
  control_bytes?: number;
  points: number;
}

export interface Network {
  schema: number;
  /** Simulation time. */
  time_s: number;
  /** How ways are found: `static` or `rpl`. */
  routing: string;
  /** How far the simulation stands behind the wall clock, where the server tells. */
  lag_s?: number;
  nodes: NetworkNode[];
}

/** One refusal, one action, or how many `lost` ones came too fast to be written down. */
export interface AuditLine {
  id?: number;
  time: number;
  scheme?: string;
  from?: string;
  /** Why somebody was refused. */
  reason?: string;
  /** What somebody did. */
  action?: string;
  who?: string;
  what?: string;
  lost?: number;
}

/** Where the cloud's servers listen, as `address:port`; plain CoAP may be off. */
export interface Endpoints {
  http: string;
  coap: string | null;
  coaps: string;
}

/** The most points or resources of one answer. */
export const LONGEST_PAGE = 10_000;
/** The same of texts, which are longer. */
export const LONGEST_PAGE_OF_TEXTS = 1_000;

/** An answer that is not a success, or no answer at all (`status` 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint: string = "",
    readonly code: string = "",
    /** How long the cloud asks to wait before the next try. */
    readonly retryMs: number = 0,
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

export const ROOT = "/api/v1";
const PATIENCE_MS = 10_000;
const JSON_TYPE = { "content-type": "application/json" };

/** The answer, if it is a success. */
export async function request(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(ROOT + path, { credentials: "same-origin", cache: "no-store", ...init });
  } catch (error) {
    throw noAnswer(error);
  }
  if (response.ok) return response;
  const text = await response.text().catch(() => "");
  throw refusal(response.status, text, response.headers.get("retry-after"));
}

/** Nobody answered: at once, or not in time. */
function noAnswer(error: unknown): ApiError {
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return new ApiError(
      0,
      `The cloud has not answered within ${PATIENCE_MS / 1000} s.`,
      "It may be busy, or this browser has too many connections to it.",
    );
  }
  return new ApiError(0, "The cloud does not answer.", "Is sixlock still running?");
}

/** Asks for the JSON at `path`. */
export async function call<T>(path: string, init: RequestInit = {}): Promise<T> {
  const response = await request(path, { signal: AbortSignal.timeout(PATIENCE_MS), ...init });
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw noAnswer(error);
  }
  if (!text) return undefined as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new ApiError(response.status, "The answer is not JSON.", "Is this address the Sixlock cloud?");
  }
}

export const send = <T>(method: "POST" | "PUT" | "DELETE", path: string, body: unknown) =>
  call<T>(path, { method, headers: JSON_TYPE, body: JSON.stringify(body) });

/** Reads `{"error":{"code","message","hint"}}`; anything else becomes a plain sentence. */
export function refusal(status: number, body: string, retryAfter: string | null = null): ApiError {
  const retryMs = 1000 * (Number(retryAfter) || 0);
  try {
    const { error } = JSON.parse(body) as { error?: { code?: unknown; message?: unknown; hint?: unknown } };
    if (typeof error?.message === "string") {
      const text = (value: unknown) => (typeof value === "string" ? value : "");
      return new ApiError(status, error.message, text(error.hint), text(error.code), retryMs);
    }
  } catch {
    // Not ours: a proxy's page, for instance.
  }
  return new ApiError(status, `The cloud answered with status ${status}.`, "", "", retryMs);
}

export const part = (id: number | string) => encodeURIComponent(String(id));
const resources = (user: string) => `/users/${part(user)}/resources`;
/** The path of a resource. */
export const resource = (user: string, id: Resource["id"]) => `${resources(user)}/${part(id)}`;

export const api = {
  /** The live feed, behind the point with the id `lastId` if there is one. */
  live: (lastId: string | undefined, signal: AbortSignal) =>
    request("/live", {
      signal,
      headers: { accept: "text/event-stream", ...(lastId === undefined ? {} : { "last-event-id": lastId }) },
    }),

  me: () => call<User>("/me"),

  /** Begins a session. Whoever has a second factor needs a one-time code as well. */
  login: (username: string, password: string, code?: string) =>
    send<{ token: string; expires: number }>("POST", "/login", { username, password, code }),

  logout: () => call<void>("/logout", { method: "POST" }),

  /** Sets a user's own password. Their other sessions end. */
  changePassword: (user: string, current_password: string, password: string) =>
    send<User>("PUT", `/users/${part(user)}`, { current_password, password }),

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

  /** Without `key` one is made, if the mode has pre-shared keys. With a profile, it begins as that says. */
  addResource: (user: string, label: string, mode: string, key?: string, profile?: string) =>
    send<ResourceWithKey>("POST", resources(user), { label, mode, key, profile }),

  deleteResource: (user: string, id: Resource["id"]) => call<void>(resource(user, id), { method: "DELETE" }),

  /** A device's credentials, the current one first. */
  credentials: (user: string, id: Resource["id"]) => call<Credential[]>(`${resource(user, id)}/credentials`),

  replaceKey: (user: string, id: Resource["id"], overlap_s: number, key?: string) =>
    send<NewKey>("POST", `${resource(user, id)}/credentials`, { overlap_s, key }),

  streams: (user: string, id: Resource["id"]) => call<Stream[]>(`${resource(user, id)}/streams`),

  /** A page of points, oldest first. */
  data: (user: string, id: Resource["id"], stream: Stream["id"], page: Page) => {
    const query = new URLSearchParams(Object.entries(page).map(([name, value]) => [name, String(value)]));
    return call<Point[]>(`${resource(user, id)}/streams/${part(stream)}/data?${query}`);
  },

  network: () => call<Network>("/network"),

  /**
   * The newest lines of the record, newest first; with `before`, those before the line with that id. Actions alone go
   * back further, and have ids of their own.
   */
  audit: (limit: number, actions: boolean, before?: number) =>
    call<AuditLine[]>(
      `/audit?limit=${limit}&actions=${actions}${before === undefined ? "" : `&before=${before}`}`,
    ),

  /** Where the whole record is to be had, or all actions. */
  auditUrl: (actions: boolean) => `${ROOT}/audit?format=jsonl&actions=${actions}`,
};

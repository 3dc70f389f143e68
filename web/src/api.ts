export interface Resource {
  id: number | string;
  label: string;
  mode: string;
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
const streams = (user: string, resource: Resource["id"]) => `${resources(user)}/${part(resource)}/streams`;

export const api = {
  liveUrl: `${ROOT}/live`,

  me: () => call<{ username: string }>("/me"),

  login: (username: string, password: string) =>
    call<{ token: string; expires: number }>("/login", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ username, password }),
    }),

  logout: () => call<void>("/logout", { method: "POST" }),

  resources: (user: string) => call<Resource[]>(resources(user)),

  streams: (user: string, resource: Resource["id"]) => call<Stream[]>(streams(user, resource)),

  /** The newest `limit` points, oldest first. */
  data: (user: string, resource: Resource["id"], stream: Stream["id"], limit: number) =>
    call<Point[]>(`${streams(user, resource)}/${part(stream)}/data?limit=${limit}`),

  network: () => call<Network>("/network"),
};

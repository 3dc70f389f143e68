import { call, part, resource, send, type Resource, type Stream, type Value, type ValueType } from "./api";

/** From where a device's readings are fetched, without what is secret. */
export interface Poller {
  url: string;
  /** In seconds. */
  period: number;
  observe: boolean;
  /** The identity of the pre-shared key, for coaps. */
  identity: string | null;
  /** Whether an Authorization is sent, by http and https. */
  authorization: boolean;
  /** It polls no more until it is to again. */
  paused: boolean;
  /** In milliseconds since 1970. */
  last_polled: number | null;
  last_error: string | null;
  /** How many polls gave nothing since the last one that did. */
  failures: number;
}

/** A poller as it is set: what is left out it does not have. */
export interface PollerSettings {
  url: string;
  period: number;
  observe?: boolean;
  identity?: string;
  key?: string;
  authorization?: string;
}

/** How values are found in payloads. */
export interface NewParser {
  label?: string;
  kind: string;
  expression: string;
  stream: string;
  /** What values are read as; numbers unless it is stated. */
  value_type?: ValueType;
  time_expression?: string | null;
  time_format?: string | null;
  required: boolean;
}

export interface Parser extends NewParser {
  id: number | string;
  label: string;
}

/** What a payload would store. */
export interface Preview {
  readings: {
    stream: string;
    unit: string | null;
    time: number;
    value: Value;
    /** Why no stream would take it. */
    left_out: string | null;
  }[];
  new_parsers: NewParser[];
}

/** A stream that another is computed from; all null if it was deleted. */
export interface ComputedInput {
  resource: Resource["id"] | null;
  stream: Stream["id"] | null;
  label: string | null;
}

/** What computes a stream. */
export interface Computation {
  expression: string;
  inputs: Record<string, { resource?: string; stream: string }>;
  time_zone: string;
}

export interface ComputedStream {
  id: number | string;
  label: string;
  unit: string | null;
  description: string;
  expression: string;
  time_zone: string;
  inputs: Record<string, ComputedInput>;
  /** What is still to be computed of old points; null if all of it is done. */
  backfill: { since: number; at: number; until: number; done: number } | null;
}

/** What a device is called, and how its readings are had and read. */
export function deviceApi(user: string, id: Resource["id"]) {
  const root = resource(user, id);
  const stream = (id: Stream["id"]) => `${root}/streams/${part(id)}`;
  const computed = (id: Stream["id"]) => `${root}/computed-streams/${part(id)}`;
  const parser = (id: Parser["id"]) => `${root}/parsers/${part(id)}`;
  return {
    change: (
      change: Partial<Pick<Resource, "label" | "description" | "tags" | "folder" | "period_s" | "place">>,
    ) => send<Resource>("PUT", root, change),

    changeStream: (id: Stream["id"], change: { unit: string; description: string }) =>
      send<Stream>("PUT", stream(id), change),
    /** Deletes a stream and its points, also a computed one. */
    deleteStream: (id: Stream["id"]) => call<void>(stream(id), { method: "DELETE" }),

    computed: () => call<ComputedStream[]>(`${root}/computed-streams`),
    addComputed: (label: string, unit: string, description: string, computation: Computation) =>
      send<ComputedStream>("POST", `${root}/computed-streams`, { label, unit, description, ...computation }),
    recompute: (id: Stream["id"], computation: Computation) =>
      send<ComputedStream>("PUT", computed(id), computation),
    /** Refused if no stream can be computed so. */
    tryComputation: (computation: Computation) => send<void>("POST", `${root}/expressions/test`, computation),

    poller: () => call<Poller>(`${root}/poller`),
    setPoller: (settings: PollerSettings) => send<Poller>("PUT", `${root}/poller`, settings),
    removePoller: () => call<void>(`${root}/poller`, { method: "DELETE" }),

    parsers: () => call<Parser[]>(`${root}/parsers`),
    addParser: (parser: NewParser) => send<Parser>("POST", `${root}/parsers`, parser),
    replaceParser: (id: Parser["id"], to: NewParser) => send<Parser>("PUT", parser(id), to),
    removeParser: (id: Parser["id"]) => call<void>(parser(id), { method: "DELETE" }),
    /** What a payload would store, by one parser or by those of the device. */
    tryPayload: (content_type: string, payload: string, parser?: NewParser) =>
      send<Preview>("POST", `${root}/parsers/test`, { content_type, payload, parser }),
  };
}

export type DeviceApi = ReturnType<typeof deviceApi>;

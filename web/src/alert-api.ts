import { call, part, send, type Value } from "./api";

export type Severity = "information" | "warning" | "critical";
export type AlertState = "open" | "acknowledged" | "cleared";

/** Times are milliseconds since 1970. */
export interface Alert {
  id: number;
  rule: number;
  /** The name of its rule, which may be gone. */
  label: string;
  severity: Severity;
  /** The label of the device. */
  resource: string;
  /** The label of the stream; null where silence of the whole device is told. */
  stream: string | null;
  unit: string | null;
  state: AlertState;
  opened: number;
  /** Null with silence. */
  opened_value: Value | null;
  acknowledged: number | null;
  acknowledged_by: string | null;
  cleared: number | null;
  cleared_value: Value | null;
}

export type Operator = ">" | "<" | "=" | "!=" | ">=" | "<=";

export type Condition =
  | { kind: "threshold"; operator: Operator; operand: Value; hysteresis: number; hold_s: number }
  | { kind: "change"; by: number | null }
  | { kind: "silence"; periods: number | null; after_s: number | null };

/** What a rule is to be. */
export interface RuleSettings {
  label: string;
  severity: Severity;
  /** The label of the device. */
  resource: string;
  /** The label of the stream; null for silence of the whole device. */
  stream: string | null;
  condition: Condition;
  /** The labels of the channels that are told. */
  channels: string[];
  payload: string | null;
  paused: boolean;
}

export interface Rule extends RuleSettings {
  id: number;
  created: number;
  /** The alert that is not cleared. */
  alert: number | null;
  /** With silence, when a reading arrived last. */
  heard: number | null;
  /** When an alert opens, if nothing is heard before. */
  due: number | null;
}

export type ChannelKind = "webhook" | "ntfy" | "email";

export interface ChannelSettings {
  label: string;
  kind: ChannelKind;
  address: string;
  /** Of ntfy. */
  token?: string;
}

/** Where a user is told of alerts, and how that goes. */
export interface Channel {
  id: number;
  label: string;
  kind: ChannelKind;
  address: string;
  token: boolean;
  /** Whether it may be told alerts: an address of e-mail only when it was confirmed by the code that was sent there. */
  confirmed: boolean;
  created: number;
  last_told: number | null;
  last_error: string | null;
  /** Tries that failed since the last one that did not. */
  failures: number;
  next_try: number;
  waiting: number;
  given_up: number;
  untold: number;
}

/** The most alerts of one answer. */
export const MOST_ALERTS = 1000;

/** Alerts, rules and channels of a user. */
export function alertApi(name: string) {
  const root = `/users/${part(name)}`;
  const rule = (id: Rule["id"]) => `${root}/rules/${part(id)}`;
  const channel = (id: Channel["id"]) => `${root}/channels/${part(id)}`;
  return {
    /** The newest alerts; with `before`, those before the one with that id. */
    alerts: (limit: number, state?: AlertState, before?: number) => {
      const query = new URLSearchParams({ limit: String(limit) });
      if (state !== undefined) query.set("state", state);
      if (before !== undefined) query.set("before", String(before));
      return call<Alert[]>(`${root}/alerts?${query}`);
    },
    acknowledge: (id: Alert["id"]) =>
      call<Alert>(`${root}/alerts/${part(id)}/acknowledge`, { method: "POST" }),

    rules: () => call<Rule[]>(`${root}/rules`),
    addRule: (settings: RuleSettings) => send<Rule>("POST", `${root}/rules`, settings),
    replaceRule: (id: Rule["id"], settings: RuleSettings) => send<Rule>("PUT", rule(id), settings),
    deleteRule: (id: Rule["id"]) => call<void>(rule(id), { method: "DELETE" }),

    channels: () => call<Channel[]>(`${root}/channels`),
    channel: (id: Channel["id"]) => call<Channel>(channel(id)),
    /** The only answer that ever holds the key of a webhook. */
    addChannel: (settings: ChannelSettings) =>
      send<{ channel: Channel; key: string | null }>("POST", `${root}/channels`, settings),
    deleteChannel: (id: Channel["id"]) => call<void>(channel(id), { method: "DELETE" }),
    /** Confirms an address of e-mail by the code that was sent there. */
    confirmChannel: (id: Channel["id"], code: string) =>
      send<void>("POST", `${channel(id)}/confirm`, { code }),
    /** Puts a test into the outbox, or another code if the address is not confirmed; whether it was told, the channel says. */
    testChannel: (id: Channel["id"]) => call<void>(`${channel(id)}/test`, { method: "POST" }),
  };
}

export type AlertApi = ReturnType<typeof alertApi>;

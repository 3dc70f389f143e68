import { call, part, send } from "./api";

export type BrokerFormat = "json" | "senml";

/** What a broker is to be. */
export interface BrokerSettings {
  label: string;
  /** Host and port alone: mqtt://… or mqtts://… */
  url: string;
  username: string | null;
  /** Left out, the one that there is stays, if the address, the user name and the authority do. */
  password?: string;
  /** PEM; null: whom the cloud's system trusts. */
  authority: string | null;
  client_id?: string;
  prefix: string;
  qos: 0 | 1;
  retain: boolean;
  format: BrokerFormat;
  /** The devices, by id or label; with neither these nor a tag, all. */
  resources?: string[];
  tag?: string;
}

/** Where readings are published by MQTT, and how that goes. Times are milliseconds since 1970. */
export interface Broker {
  id: number;
  label: string;
  url: string;
  username: string | null;
  /** Whether there is one. */
  password: boolean;
  authority: string | null;
  client_id: string;
  prefix: string;
  qos: 0 | 1;
  retain: boolean;
  format: BrokerFormat;
  resources: number[] | null;
  tag: string | null;
  created: number;
  connected_since: number | null;
  last_error: string | null;
  /** Tries that failed since the last one that did not. */
  failures: number;
  published: number;
  last_published: number | null;
  /** Points that wait. */
  behind: number;
  dropped: number;
}

/** What came of a test. */
export interface BrokerTest {
  topic: string;
  taken: boolean;
  /** What the broker said, or why it said nothing. */
  said: string;
}

/** The brokers of a user. */
export function brokerApi(name: string) {
  const root = `/users/${part(name)}/brokers`;
  const one = (id: Broker["id"]) => `${root}/${part(id)}`;
  return {
    brokers: () => call<Broker[]>(root),
    add: (settings: BrokerSettings) => send<Broker>("POST", root, settings),
    change: (id: Broker["id"], settings: BrokerSettings) => send<Broker>("PUT", one(id), settings),
    remove: (id: Broker["id"]) => call<void>(one(id), { method: "DELETE" }),
    test: (id: Broker["id"]) => call<BrokerTest>(`${one(id)}/test`, { method: "POST" }),
  };
}

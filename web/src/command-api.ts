import { call, part, resource, send, type Resource } from "./api";

export type CommandValue = boolean | number | string;
export type CommandState = "queued" | "done" | "refused" | "expired" | "withdrawn" | "replaced";

/** What a device is to be set to. Times are milliseconds since 1970. */
export interface Command {
  id: number;
  actuator: string;
  value: CommandValue;
  state: CommandState;
  /** Who gave it. */
  author: string;
  created: number;
  expires: number;
  /** How often the device was told. */
  attempts: number;
  last_attempt: number | null;
  ended: number | null;
  /** The CoAP code that the device has answered. */
  code: string | null;
}

/** How long the cloud may wait with its answer, in seconds, and how much longer this page waits for it. */
const WAIT_S = 30;
const SLACK_S = 10;

/** What is set of a device. */
export function commandApi(user: string, id: Resource["id"]) {
  const root = `${resource(user, id)}/commands`;
  const command = (id: Command["id"]) => `${root}/${part(id)}`;
  return {
    /** Those that wait and the last that have ended, the newest first. */
    commands: () => call<Command[]>(root),
    give: (actuator: string, value: CommandValue, expires_in: number) =>
      send<Command>("POST", root, { actuator, value, expires_in }),
    withdraw: (id: Command["id"]) => call<void>(command(id), { method: "DELETE" }),
    /** The command when it has ended, or as it is after a while. */
    outcome: (id: Command["id"], stopped: AbortSignal) =>
      call<Command>(`${command(id)}?wait=${WAIT_S}`, {
        signal: AbortSignal.any([stopped, AbortSignal.timeout((WAIT_S + SLACK_S) * 1000)]),
      }),
  };
}

export type CommandApi = ReturnType<typeof commandApi>;

import type { Resource } from "../api";
import type { Command, CommandValue } from "../command-api";
import { nodeOfLabel } from "../network";

export type ValueKind = "boolean" | "number" | "text";

/** A value as people say it. */
export function valueWords(value: CommandValue): string {
  if (typeof value === "boolean") return value ? "on" : "off";
  return typeof value === "number" ? String(value) : `“${value}”`;
}

/** What has come of a command, in words. */
export function resultWords({ state, attempts, code }: Command): string {
  switch (state) {
    case "queued":
      if (attempts === 0) return "waits until the device is heard";
      return `told ${attempts === 1 ? "once" : `${attempts} times`}, no answer yet`;
    case "done":
      return code === null ? "the device has answered" : `the device answered ${code}`;
    case "refused":
      return code === null ? "the device takes no commands" : `the device answered ${code}`;
    case "expired":
      return attempts === 0 ? "the device was not heard in time" : "the device did not answer";
    case "withdrawn":
      return "taken back";
    case "replaced":
      return "a later command took its place";
  }
}

export function kindOf(value: CommandValue): ValueKind {
  return typeof value === "string" ? "text" : (typeof value as "boolean" | "number");
}

/** What of a device can be set, as far as is known: what was set before, and of a node of `up` its lamp and its valve. */
export function actuators(device: Resource, commands: readonly Command[]): Map<string, ValueKind> {
  const known = new Map<string, ValueKind>();
  if (nodeOfLabel(device.label) !== undefined) known.set("led", "boolean").set("valve", "number");
  // The latest says of what kind the values are.
  for (const { actuator, value } of [...commands].reverse()) known.set(actuator, kindOf(value));
  return known;
}

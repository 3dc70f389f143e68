import { formatCount } from "../format";
import type { Group, GroupAccess } from "../group-api";

/** What a member may do with the devices of others. */
export const ACCESS: readonly (readonly [GroupAccess, string])[] = [
  ["read", "Read"],
  ["change", "Read, set and command"],
];

export function accessWords(access: GroupAccess): string {
  return ACCESS.find(([known]) => known === access)![1].toLowerCase();
}

/** How many people and devices are in a group. */
export function sizeWords({ members, devices }: Pick<Group, "members" | "devices">): string {
  const people = members === 1 ? "you alone" : `${formatCount(members)} people`;
  return `${people}, ${formatCount(devices)} ${devices === 1 ? "device" : "devices"}`;
}

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

/** How many people, devices and single streams are in a group. */
export function sizeWords({
  members,
  devices,
  streams,
}: Pick<Group, "members" | "devices" | "streams">): string {
  const people = members === 1 ? "you alone" : `${formatCount(members)} people`;
  const given = `${people}, ${formatCount(devices)} ${devices === 1 ? "device" : "devices"}`;
  return streams === 0 ? given : `${given}, ${formatCount(streams)} ${streams === 1 ? "stream" : "streams"}`;
}

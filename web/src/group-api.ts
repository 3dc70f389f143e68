import { call, LONGEST_PAGE, part, resource, send, type Resource, type Stream } from "./api";
import type { SharedStream } from "./shared-api";

/** What a member of a group may do with the devices of others in it. */
export type GroupAccess = "read" | "change";

export interface Group {
  id: number;
  label: string;
  /** In milliseconds since 1970. */
  created: number;
  /** How many are in it, its owner among them. */
  members: number;
  devices: number;
  /** Single streams, beside those of its devices. */
  streams: number;
}

export interface GroupMember {
  username: string;
  /** How a member who has joined wants to be called; empty if they do not say. */
  display_name: string;
  access: GroupAccess;
  /** Whether the user has joined, or is only asked to. */
  joined: boolean;
  since: number;
}

export interface GroupDetails extends Group {
  owner: string;
  people: GroupMember[];
  given: { id: Resource["id"]; label: string; owner: string; since: number }[];
  given_streams: { id: Stream["id"]; label: string; device: string; owner: string; since: number }[];
}

/** What is given to groups: a device, or a single stream of it. */
export interface Gift {
  device: Resource["id"];
  stream?: Stream["id"];
}

/** A group of somebody else that a user is in, or is asked to join. */
export interface Membership {
  id: Group["id"];
  label: string;
  owner: string;
  access: GroupAccess;
  joined: boolean;
  since: number;
}

/** A device of somebody else that groups let a user see. */
export interface GivenDevice extends Resource {
  /** The user name of its owner. */
  owner: string;
  access: GroupAccess;
}

/** As the cloud tells it. */
type ToldDevice = Omit<GivenDevice, "owner"> & { owner: { username: string } };

export type GroupApi = ReturnType<typeof groupApi>;

/** The groups of a user, and those that the user is in. */
export function groupApi(user: string) {
  const groups = `/users/${part(user)}/groups`;
  const memberships = `/users/${part(user)}/memberships`;
  const member = (group: Group["id"], name: string) => `${groups}/${group}/members/${part(name)}`;
  const given = ({ device, stream }: Gift) =>
    `${resource(user, device)}${stream === undefined ? "" : `/streams/${part(stream)}`}/groups`;
  return {
    all: () => call<Group[]>(groups),
    show: (group: Group["id"]) => call<GroupDetails>(`${groups}/${group}`),
    make: (label: string) => send<Group>("POST", groups, { label }),
    remove: (group: Group["id"]) => call<void>(`${groups}/${group}`, { method: "DELETE" }),
    /** Asks a user to join, or gives a member another right. */
    setMember: (group: Group["id"], name: string, access: GroupAccess) =>
      send<GroupMember>("PUT", member(group, name), { access }),
    removeMember: (group: Group["id"], name: string) => call<void>(member(group, name), { method: "DELETE" }),
    removeDevice: (group: Group["id"], device: Resource["id"]) =>
      call<void>(`${groups}/${group}/devices/${part(device)}`, { method: "DELETE" }),

    removeStream: (group: Group["id"], stream: Stream["id"]) =>
      call<void>(`${groups}/${group}/streams/${part(stream)}`, { method: "DELETE" }),

    memberships: () => call<Membership[]>(memberships),
    membership: (group: Group["id"]) => call<GroupDetails>(`${memberships}/${group}`),
    join: (group: Group["id"]) => call<Membership>(`${memberships}/${group}`, { method: "PUT" }),
    /** Leaves a group, or says no to being asked. */
    leave: (group: Group["id"]) => call<void>(`${memberships}/${group}`, { method: "DELETE" }),

    /** The groups that a device, or a stream alone, is given to. */
    of: (gift: Gift) => call<Membership[]>(given(gift)),
    give: (gift: Gift, group: Group["id"]) => call<void>(`${given(gift)}/${group}`, { method: "PUT" }),
    take: (gift: Gift, group: Group["id"]) => call<void>(`${given(gift)}/${group}`, { method: "DELETE" }),

    /** The single streams of others that groups let the user read: the first ones. */
    streams: () => call<SharedStream[]>(`/users/${part(user)}/group-streams?limit=${LONGEST_PAGE}`),

    /** The devices of others that groups let the user see, page by page. */
    devices: async () => {
      const all: GivenDevice[] = [];
      for (;;) {
        const after = all.at(-1)?.id ?? 0;
        const path = `/users/${part(user)}/group-resources?limit=${LONGEST_PAGE}&after=${after}`;
        const page = await call<ToldDevice[]>(path);
        all.push(...page.map((device) => ({ ...device, owner: device.owner.username })));
        if (page.length < LONGEST_PAGE) return all;
      }
    },
  };
}

/** Whose a device is: the user's, unless it is given. */
export function ownerOf(device: Resource, user: string): string {
  return isGiven(device) ? device.owner : user;
}

/** Whether the device is somebody else's. */
export function isGiven(device: Resource): device is GivenDevice {
  return "owner" in device;
}

/** Whether a user who may change what is their own may change the device, too. */
export function mayChangeDevice(mayChange: boolean, device: Resource): boolean {
  return mayChange && (!isGiven(device) || device.access === "change");
}

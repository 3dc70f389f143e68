import { call, LONGEST_PAGE, part, resource, send, type Resource } from "./api";

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
}

export interface GroupMember {
  username: string;
  access: GroupAccess;
  /** Whether the user has joined, or is only asked to. */
  joined: boolean;
  since: number;
}

export interface GroupDetails extends Group {
  owner: string;
  people: GroupMember[];
  given: { id: Resource["id"]; label: string; owner: string; since: number }[];
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
  const given = (device: Resource["id"]) => `${resource(user, device)}/groups`;
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

    memberships: () => call<Membership[]>(memberships),
    membership: (group: Group["id"]) => call<GroupDetails>(`${memberships}/${group}`),
    join: (group: Group["id"]) => call<Membership>(`${memberships}/${group}`, { method: "PUT" }),
    /** Leaves a group, or says no to being asked. */
    leave: (group: Group["id"]) => call<void>(`${memberships}/${group}`, { method: "DELETE" }),

    /** The groups that a device is given to. */
    ofDevice: (device: Resource["id"]) => call<Membership[]>(given(device)),
    give: (device: Resource["id"], group: Group["id"]) =>
      call<void>(`${given(device)}/${group}`, { method: "PUT" }),
    take: (device: Resource["id"], group: Group["id"]) =>
      call<void>(`${given(device)}/${group}`, { method: "DELETE" }),

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

import { call, part, send, type ValueType } from "./api";
import type { NewParser } from "./device-api";

/** A stream that each device of a profile has. */
export interface ProfileStream {
  label: string;
  unit: string | null;
  description: string;
  value_type: ValueType;
  /** Null: as those of all new streams. */
  keep_s: number | null;
  history_size: number | null;
}

/** What devices of one kind have in common. */
export interface Profile {
  description: string;
  tags: string[];
  folder: string;
  period_s: number | null;
  streams: ProfileStream[];
  parsers: NewParser[];
}

export interface NamedProfile extends Profile {
  label: string;
}

export const profileApi = (user: string) => {
  const profiles = `/users/${part(user)}/profiles`;
  return {
    all: () => call<NamedProfile[]>(profiles),
    set: (label: string, profile: Profile) =>
      send<NamedProfile>("PUT", `${profiles}/${part(label)}`, profile),
    remove: (label: string) => call<void>(`${profiles}/${part(label)}`, { method: "DELETE" }),
  };
};

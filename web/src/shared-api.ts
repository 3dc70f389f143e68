import {
  call,
  part,
  request,
  resource,
  send,
  type Page,
  type Point,
  type Resource,
  type Stream,
  type ValueType,
} from "./api";
import type { Token } from "./account-api";

/** What others than its owner are told of a stream. */
export interface SharedStream {
  id: Stream["id"];
  label: string;
  unit: string | null;
  description: string;
  value_type: ValueType;
  /** The name of its device, and the user name of its owner. */
  device: string;
  owner: string;
  /** The tags of its device, if it is public to find. */
  tags: string[];
}

export interface SharedStreamWithPoint extends SharedStream {
  /** The point of the latest time; null if there is none. */
  latest: Point | null;
}

/** A stream that a user follows; null where it is public no more, or gone. */
export interface FollowedStream {
  id: Stream["id"];
  /** In milliseconds since 1970. */
  since: number;
  stream: SharedStream | null;
}

/** Whom a stream is shared with. */
export interface Sharing {
  public_access: boolean;
  public_search: boolean;
}

/** What a token for one stream is for: to read it, or to post to it. */
export type Use = "read" | "post";

/** Streams of one answer. */
export const FOUND_AT_ONCE = 50;

const streams = "/shared/streams";
const one = (id: Stream["id"]) => `${streams}/${part(id)}`;
const followed = (user: string) => `/users/${part(user)}/followed`;
const tokens = (user: string) => `/users/${part(user)}/tokens`;

/** With a token, who is signed in here does not count: the link shows what it shows to all. */
const as = (token: string | undefined): RequestInit =>
  token === undefined ? {} : { credentials: "omit", headers: { authorization: `Bearer ${token}` } };

/** Streams of others, and who may read one's own. */
export const sharedApi = {
  /** Streams that are public to find, of devices with the tag if one is said, in the order of their ids: those behind `after`. */
  find: (search: string, tag: string, after: Stream["id"] = 0) => {
    const page = { search, limit: String(FOUND_AT_ONCE), after: String(after) };
    return call<SharedStream[]>(`${streams}?${new URLSearchParams(tag === "" ? page : { ...page, tag })}`);
  },
  show: (id: Stream["id"], token?: string) => call<SharedStreamWithPoint>(one(id), as(token)),
  data: (id: Stream["id"], page: Page, token?: string) => {
    const query = new URLSearchParams(Object.entries(page).map(([name, value]) => [name, String(value)]));
    return call<Point[]>(`${one(id)}/data?${query}`, as(token));
  },
  live: (id: Stream["id"], signal: AbortSignal, token?: string) =>
    request(`${one(id)}/live`, { signal, ...as(token) }),

  followed: (user: string) => call<FollowedStream[]>(followed(user)),
  follow: (user: string, id: Stream["id"]) =>
    call<FollowedStream>(`${followed(user)}/${part(id)}`, { method: "PUT" }),
  unfollow: (user: string, id: Stream["id"]) =>
    call<void>(`${followed(user)}/${part(id)}`, { method: "DELETE" }),

  share: (user: string, device: Resource["id"], id: Stream["id"], sharing: Sharing) =>
    send<Stream & Sharing>("PUT", `${resource(user, device)}/streams/${part(id)}`, sharing),
  /** The tokens that are for this stream, and for this use of it. */
  tokens: async (user: string, id: Stream["id"], use: Use) => {
    const all = await call<Token[]>(tokens(user));
    return all.filter(({ stream, write_only }) => stream === id && write_only === (use === "post"));
  },
  /** The only answer that ever holds the token. */
  makeToken: (
    user: string,
    label: string,
    device: Resource["id"],
    stream: Stream["id"],
    expires: number | undefined,
    use: Use,
  ) =>
    send<Token & { token: string }>("POST", tokens(user), {
      label,
      resource: String(device),
      stream: String(stream),
      expires,
      write_only: use === "post",
    }),
  revokeToken: (user: string, id: Token["id"]) =>
    call<void>(`${tokens(user)}/${part(id)}`, { method: "DELETE" }),
};

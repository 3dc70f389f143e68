import { call, LONGEST_PAGE, part, send, type User } from "./api";

/** A token by which a program acts for a user. Times are milliseconds since 1970. */
export interface Token {
  id: number | string;
  label: string;
  created: number;
  /** Null if it does not end by itself. */
  expires: number | null;
}

const user = (name: string) => `/users/${part(name)}`;
const tokens = (name: string) => `${user(name)}/tokens`;

/** Users and what is theirs alone. */
export const accountApi = {
  tokens: (name: string) => call<Token[]>(tokens(name)),
  /** The only answer that ever holds the token. */
  makeToken: (name: string, label: string, expires: number | undefined) =>
    send<Token & { token: string }>("POST", tokens(name), { label, expires }),
  revokeToken: (name: string, id: Token["id"]) =>
    call<void>(`${tokens(name)}/${part(id)}`, { method: "DELETE" }),

  changeEmail: (name: string, email: string) => send<User>("PUT", user(name), { email }),

  /** All users, for administrators. */
  users: () => call<User[]>(`/users?limit=${LONGEST_PAGE}`),
  addUser: (username: string, password: string, email: string) =>
    send<User>("POST", "/users", { username, password, email }),
  setPassword: (name: string, password: string) => send<User>("PUT", user(name), { password }),
  deleteUser: (name: string) => call<void>(user(name), { method: "DELETE" }),
};

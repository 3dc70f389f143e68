import { call, LONGEST_PAGE, part, ROOT, send, type Role, type User } from "./api";

/** A token by which a program acts for a user. Times are milliseconds since 1970. */
export interface Token {
  id: number | string;
  label: string;
  created: number;
  /** Null if it does not end by itself. */
  expires: number | null;
  /** Whether it may only read. */
  read_only: boolean;
  /** The only device that it may be used for. */
  resource: number | null;
  /** The only stream of that device that it may be used for. */
  stream: number | string | null;
  /** Whether it posts to that stream, and reads nothing. */
  write_only: boolean;
}

/** What a token may do: less than its user, where that is said. */
export interface Scope {
  read_only: boolean;
  /** The label of the only device. */
  resource?: string;
}

/** A DTLS identity by which a program acts for a user over CoAP. Times are milliseconds since 1970. */
export interface Identity {
  id: number | string;
  label: string;
  /** What is proved. */
  identity: string;
  /** By what: `dtls-psk`, `dtls-rpk` or `dtls-x509`. */
  mode: string;
  created: number;
  /** Null if it does not end by itself. */
  expires: number | null;
  certificate_expires: number | null;
  /** Whether it may only read. */
  read_only: boolean;
  /** The only device that it may be used for. */
  resource: number | null;
}

/** An identity just made, with its pre-shared key, or the certificate that was made of its public one. */
export interface IdentityWithKey extends Identity {
  key?: string;
  certificate?: string;
}

/** An identity that is to be made. */
export interface NewIdentity extends Scope {
  label: string;
  mode: string;
  /** A public key or certificate in PEM; without it, a pre-shared key is made. */
  key?: string;
  expires?: number;
}

export interface Quotas {
  resources: number;
  streams: number;
  points_a_day: number;
}

export interface QuotasAndUsage {
  /** Null of an administrator, who has none. */
  quotas: Quotas | null;
  used: { resources: number; streams: number; points_today: number };
}

export interface SecondFactor {
  /** Whether it is asked for. */
  confirmed: boolean;
  /** Recovery codes that are left. */
  recovery_codes: number;
}

/** An OpenID provider by which people sign in. */
export interface Provider {
  label: string;
  /** Where the browser goes to sign in by it. */
  path: string;
}

/** How people come in who have no session yet. */
export interface WaysIn {
  /** Whether they make accounts for themselves. */
  allowed: boolean;
  oidc?: Provider;
}

/** The accounts at OpenID providers by which a user signs in. */
export interface OidcLinks {
  links: { issuer: string; subject: string; linked: number }[];
  has_password: boolean;
}

const user = (name: string) => `/users/${part(name)}`;
const tokens = (name: string) => `${user(name)}/tokens`;
const identities = (name: string) => `${user(name)}/identities`;

/** Users and what is theirs alone. */
export const accountApi = {
  tokens: (name: string) => call<Token[]>(tokens(name)),
  /** The only answer that ever holds the token. */
  makeToken: (name: string, label: string, expires: number | undefined, scope: Scope) =>
    send<Token & { token: string }>("POST", tokens(name), { label, expires, ...scope }),
  revokeToken: (name: string, id: Token["id"]) =>
    call<void>(`${tokens(name)}/${part(id)}`, { method: "DELETE" }),

  identities: (name: string) => call<Identity[]>(identities(name)),
  /** The only answer that ever holds the key. */
  makeIdentity: (name: string, identity: NewIdentity) =>
    send<IdentityWithKey>("POST", identities(name), identity),
  revokeIdentity: (name: string, id: Identity["id"]) =>
    call<void>(`${identities(name)}/${part(id)}`, { method: "DELETE" }),

  changeUser: (name: string, change: Pick<User, "email" | "display_name">) =>
    send<User>("PUT", user(name), change),

  /** All users, for administrators. */
  users: () => call<User[]>(`/users?limit=${LONGEST_PAGE}`),
  addUser: (username: string, password: string, email: string, role: Role) =>
    send<User>("POST", "/users", { username, password, email, role }),
  setDisabled: (name: string, disabled: boolean) => send<User>("PUT", user(name), { disabled }),
  setRole: (name: string, role: Role) => send<User>("PUT", user(name), { role }),
  /** The only answer that ever holds the link. */
  makeResetLink: (name: string) =>
    call<{ path: string; expires: number }>(`${user(name)}/reset-link`, { method: "POST" }),
  setPassword: (name: string, password: string) => send<User>("PUT", user(name), { password }),
  deleteUser: (name: string) => call<void>(user(name), { method: "DELETE" }),

  quotas: (name: string) => call<QuotasAndUsage>(`${user(name)}/quotas`),
  /** What is not given is as for all. */
  setQuotas: (name: string, quotas: Partial<Quotas>) =>
    send<QuotasAndUsage>("PUT", `${user(name)}/quotas`, quotas),

  /** Where all that is kept of a user is to be had. */
  exportUrl: (name: string) => `${ROOT}${user(name)}/export`,

  secondFactor: (name: string) => call<SecondFactor>(`${user(name)}/totp`),
  /** The only answer that ever holds the secret. */
  beginSecondFactor: (name: string, current_password: string) =>
    send<{ secret: string; uri: string }>("POST", `${user(name)}/totp`, { current_password }),
  /** The only answer that ever holds the recovery codes. */
  confirmSecondFactor: (name: string, code: string) =>
    send<{ recovery_codes: string[] }>("PUT", `${user(name)}/totp`, { code }),
  /** Whoever removes their own gives the present password. */
  removeSecondFactor: (name: string, current_password?: string) =>
    send<void>("DELETE", `${user(name)}/totp`, { current_password }),

  oidcLinks: (name: string) => call<OidcLinks>(`${user(name)}/oidc`),
  /** Where the browser goes then. */
  beginOidcLink: (name: string, current_password: string) =>
    send<{ path: string }>("POST", `${user(name)}/oidc`, { current_password }),
  /** Whoever unlinks their own gives the present password. */
  unlinkOidc: (name: string, current_password?: string) =>
    send<void>("DELETE", `${user(name)}/oidc`, { current_password }),

  waysIn: () => call<WaysIn>("/sign-up"),
  signUp: (username: string, password: string, email: string) =>
    send<User>("POST", "/sign-up", { username, password, email }),
};

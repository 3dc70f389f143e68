import { expect, test } from "vitest";
import { endWords, provedWords } from "../src/account/identities";
import { mayWords } from "../src/account/tokens";
import { linkWords } from "../src/account/provider";
import { stateWords } from "../src/account/second-factor";
import { roleWords } from "../src/pages/users";
import { tooMany } from "../src/refusal";
import { usageWords } from "../src/users/quotas";

test("what is used is said beside what is allowed", () => {
  const used = { resources: 3, streams: 1200, points_today: 70 };
  expect(
    usageWords({ quotas: { resources: 5000, streams: 50_000, points_a_day: 10_000_000 }, used }),
  ).toEqual([
    ["Devices", "3 of 5,000"],
    ["Streams", "1,200 of 50,000"],
    ["Readings a day", "70 of 10,000,000"],
  ]);
  expect(usageWords({ quotas: null, used }).map(([, words]) => words)).toEqual([
    "3, not limited",
    "1,200, not limited",
    "not limited",
  ]);
});

test("a token says what it may do, and for which device", () => {
  const token = { id: 1, label: "", created: 0, expires: null };
  expect(mayWords({ ...token, read_only: false, resource: null }, undefined)).toBe("do all");
  expect(mayWords({ ...token, read_only: true, resource: 7 }, "greenhouse")).toBe("read of greenhouse");
  expect(mayWords({ ...token, read_only: true, resource: 7 }, undefined)).toBe("read of device 7");
});

test("an identity says what is proved, and when it or its certificate ends", () => {
  const identity = {
    id: 1,
    label: "laptop",
    identity: "ann/laptop",
    mode: "dtls-psk",
    created: 0,
    expires: null,
    certificate_expires: null,
    read_only: false,
    resource: null,
  };
  expect(provedWords(identity)).toBe("ann/laptop");
  expect(provedWords({ mode: "dtls-rpk", identity: "0123456789abcdef".repeat(4) })).toBe(
    "key 0123456789abcdef…",
  );
  expect(endWords(identity)).toBe("not by itself");
  const first = endWords({ ...identity, expires: 86_400_000 });
  expect(endWords({ ...identity, expires: 10 * 86_400_000, certificate_expires: 86_400_000 })).toBe(first);
  expect(endWords({ ...identity, certificate_expires: 86_400_000 })).toBe(first);
});

test("whether a code is asked for is said, and how many recovery codes are left", () => {
  expect(stateWords({ confirmed: false, recovery_codes: 0 })).toBe(
    "Your password alone is enough to sign in.",
  );
  expect(stateWords({ confirmed: true, recovery_codes: 1 })).toContain("1 recovery code is left.");
  expect(stateWords({ confirmed: true, recovery_codes: 0 })).toContain("No recovery code is left");
});

test("a user is told by which account at a provider they sign in, and what to do without a password", () => {
  const links = [{ issuer: "https://id.example.org", subject: "17", linked: 0 }];
  const provider = { label: "Example", path: "/sign-in/oidc" };
  expect(linkWords({ links: [], has_password: true }, provider)).toBe(
    "You sign in by your password, and not with Example.",
  );
  expect(linkWords({ links: [], has_password: true }, undefined)).toBe("You sign in by your password.");
  expect(linkWords({ links, has_password: true }, undefined)).toMatch(
    /^You sign in as 17 at https:\/\/id\.example\.org, linked on .*[^.]\.$/,
  );
  expect(linkWords({ links, has_password: false }, provider)).toContain("an administrator makes you a link");
});

test("who has to wait is told of what there were too many", () => {
  expect(tooMany(61, "wrong codes")).toBe("Too many wrong codes: try again in 1 min 1 s.");
});

test("a user is shown by the role that they have, and whether they are let in", () => {
  const user = { role: "viewer" as const, disabled: false, pending: false };
  expect(roleWords(user)).toBe("viewer");
  expect(roleWords({ ...user, disabled: true })).toBe("viewer, disabled");
  expect(roleWords({ ...user, role: "member", pending: true })).toBe("member, not signed in yet");
});

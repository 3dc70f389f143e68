import { expect, test } from "vitest";
import { matchingLines } from "../src/pages/audit";
import { matchingUsers } from "../src/pages/users";
import { nameWords } from "../src/users/words";
import { nameFor } from "../src/settings/computed-input";
import { placeOf } from "../src/settings/expression-field";
import { credentialKinds } from "../src/settings/poller-form";
import { keepWords, numberIn } from "../src/settings/retention";

test("the character that a refusal is about is marked, counted as the cloud counts", () => {
  expect(placeOf("expression: character 6: there is no input q.", "mean(q)")).toEqual(["mean(", "q", ")"]);
  expect(placeOf("character 3: …", "𝛼+𝛽")).toEqual(["𝛼+", "𝛽", ""]);
  expect(placeOf("character 5: a number is expected.", "1 + ")).toEqual(["1 + ", "␣", ""]);
  expect(placeOf("the expression does not use the input t.", "1")).toEqual(["1", "", ""]);
});

test("a stream's name becomes one that an expression may use", () => {
  expect(["temperature", "Air Quality (CO₂)", "3d", "Ω"].map(nameFor)).toEqual([
    "temperature",
    "air_quality_co",
    "s3d",
    "s",
  ]);
});

test("an address decides by what the cloud can prove itself to it", () => {
  const values = (url: string) => credentialKinds(url).map(([value]) => value);
  expect(values("COAPS://sensor/t")).toEqual(["own", "psk"]);
  expect(values("https://example.org")).toEqual(["none", "authorization"]);
  expect(values("coap://sensor/t")).toEqual(["none"]);
  expect(values("")).toEqual(["none"]);
});

test("users are found by name or address", () => {
  const user = (username: string, email: string) => ({
    username,
    email,
    admin: false,
    role: "member" as const,
    disabled: false,
    pending: false,
    created: 0,
    display_name: username === "ann" ? "Dr Andersson" : "",
    last_sign_in: null,
  });
  const users = [user("ann", "ann@example.org"), user("Bob", "")];
  expect(matchingUsers(users, " bo").map(({ username }) => username)).toEqual(["Bob"]);
  expect(matchingUsers(users, "EXAMPLE").map(({ username }) => username)).toEqual(["ann"]);
  expect(matchingUsers(users, "anders").map(({ username }) => username)).toEqual(["ann"]);
  expect(matchingUsers(users, "")).toHaveLength(2);
  expect(users.map(nameWords)).toEqual(["ann (Dr Andersson)", "Bob"]);
});

test("lines of the record are found by address, name or path", () => {
  const lines = [
    { time: 2, from: "192.0.2.1", who: "Ann", what: "/api/v1/login" },
    { time: 1, lost: 3 },
  ];
  expect(matchingLines(lines, "ann")).toEqual([lines[0]]);
  expect(matchingLines(lines, "192.")).toEqual([lines[0]]);
  expect(matchingLines(lines, "")).toEqual(lines);
});

test("how long readings are kept is told in days or hours, and an empty field means all", () => {
  expect([null, 3_600, 86_400, 129_600, 90 * 86_400].map(keepWords)).toEqual([
    "for ever",
    "1 h",
    "1 d",
    "1.5 d",
    "90 d",
  ]);
  expect(["", " ", "90", "0.5"].map((text) => numberIn(text, "Keep for"))).toEqual([null, null, 90, 0.5]);
  for (const text of ["0", "-1", "a month"]) expect(() => numberIn(text, "Keep for")).toThrow("Keep for");
});

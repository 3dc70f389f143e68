import { expect, test } from "vitest";
import { refusal } from "../src/api";
import { parsePoint } from "../src/feed";

test("a refusal tells the server's own words", () => {
  const error = refusal(
    403,
    '{"error":{"code":"forbidden","message":"Not yours.","hint":"Sign in as its owner."}}',
  );
  expect([error.status, error.message, error.hint]).toEqual([403, "Not yours.", "Sign in as its owner."]);
  expect(refusal(401, "").signedOut).toBe(true);
});

test("a page that is not ours becomes a sentence", () => {
  expect(refusal(502, "<html>Bad gateway</html>").message).toContain("502");
  expect(refusal(500, '{"error":null}').message).toContain("500");
});

test("only points are points", () => {
  const data = { resource: 1, stream: 2, time: 1000, value: 21.4, arrived: 1001 };
  expect(parsePoint(JSON.stringify(data))).toEqual(data);
  for (const other of ["", "null", "[]", '{"time":1000}', '{"time":"x","value":1}']) {
    expect(parsePoint(other)).toBeUndefined();
  }
});

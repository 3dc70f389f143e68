import { expect, test } from "vitest";
import { oftenWords, whatWords, type LogLine } from "../src/device-log";

const line: LogLine = { kind: "post_refused", detail: "", stranger: false, first: 0, last: 5, count: 1 };

test("what a stranger did is said to be that, and an action is said in its words", () => {
  expect(whatWords(line)).toBe("Post refused");
  expect(whatWords({ ...line, kind: "handshake_failed", stranger: true })).toBe(
    "Handshake failed (a stranger)",
  );
  expect(whatWords({ ...line, kind: "key_replaced" })).toBe("Key replaced");
});

test("what happened several times is said with how often and since when", () => {
  expect(oftenWords(line)).toBe("once");
  expect(oftenWords({ ...line, count: 1200 })).toMatch(/^1,200 times since \d{4}-\d{2}-\d{2} /);
});

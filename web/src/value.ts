import type { Value } from "./api";

/** Whether it is a value of a reading. */
export function isValue(value: unknown): value is Value {
  return Number.isFinite(value) || typeof value === "string" || typeof value === "boolean";
}

/** The number that stands for a value: true is 1 and false is 0. Of a text it is none. */
export function numberOf(value: Value): number {
  return typeof value === "string" ? Number.NaN : Number(value);
}

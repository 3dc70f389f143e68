import type { Point, Value } from "./api";

/**
 * What a spreadsheet may take for a formula: some pass over white space and what cannot be seen before it, and take the wide forms of its first
 * character, too.
 */
const LIKE_FORMULA = /^[\t\r\n]|^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]/u;

/** A value as a field. A spreadsheet takes a text that is like a formula for a text, as in what the cloud writes. */
function field(value: Value): string {
  if (typeof value !== "string") return String(value);
  const guard = LIKE_FORMULA.test(value) ? "'" : "";
  return guard === "" && !/[,"\r\n]/.test(value) ? value : `"${guard}${value.replaceAll('"', '""')}"`;
}

/** Points as RFC 4180 has them: the moment in UTC and in milliseconds, and the value in full. */
export function csv(points: readonly Point[]): string {
  const rows = points.map(({ time, value }) => `${new Date(time).toISOString()},${time},${field(value)}\r\n`);
  return `utc,ms,value\r\n${rows.join("")}`;
}

/** A name that every file system takes. */
export function fileName(resource: { label: string }, stream: { label: string }): string {
  const safe = (text: string) => text.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[.-]+|[.-]+$/g, "");
  return [resource.label, stream.label].map(safe).filter(Boolean).join("-").slice(0, 100).concat(".csv");
}

/** Hands a text to the person as a file. */
export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken hold of the file by the next turn, however large it is.
  window.setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

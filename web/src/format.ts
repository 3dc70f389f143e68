import type { Value } from "./api";

const upTo = (digits: number) => new Intl.NumberFormat("en", { maximumFractionDigits: digits });
const whole = upTo(0);
const tenths = upTo(1);
const thousandths = upTo(3);
// The one decimal stays though it is 0: a number that is read live must not change its width.
const steadyTenths = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

const UNITS: Record<string, string> = {
  Cel: "°C",
  "%RH": "% RH",
  "/": "",
  "%": "%",
  Ohm: "Ω",
  "m/s2": "m/s²",
};

/** A SenML unit (RFC 8428, section 12.1) as people write it. */
export function unitSymbol(unit: string | null | undefined): string {
  if (!unit) return "";
  return UNITS[unit] ?? unit;
}

/** A measured value: a number with about four significant digits, a text as far as it can be seen. */
export function formatValue(value: Value): string {
  if (typeof value !== "number") return shown(String(value));
  const size = Math.abs(value);
  if (size >= 1000) return whole.format(value);
  if (size >= 100) return tenths.format(value);
  return size >= 1 ? steadyTenths.format(value) : thousandths.format(value);
}

/** A round value beside a grid line. */
export function formatTick(value: number): string {
  return thousandths.format(value);
}

export function formatCount(count: number): string {
  return whole.format(count);
}

/** Bytes in decimal units, as link budgets are. */
export function formatBytes(bytes: number): string {
  if (bytes < 1e3) return `${whole.format(bytes)} B`;
  const [size, unit] = bytes < 999_500 ? [bytes / 1e3, "kB"] : [bytes / 1e6, "MB"];
  return `${(size < 99.95 ? steadyTenths : whole).format(size)} ${unit}`;
}

/** A share in percent; nothing sent has no share. */
export function formatShare(share: number | null): string {
  if (share === null) return "–";
  return share === 0 ? "0 %" : `${steadyTenths.format(share * 100)} %`;
}

/** A length of time, in its two largest units. */
export function formatDuration(seconds: number): string {
  const rounded = Math.max(0, Math.round(seconds));
  if (rounded < 60) return `${rounded} s`;
  const minutes = Math.floor(rounded / 60);
  if (minutes < 60) return `${minutes} min ${rounded % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const two = (part: number) => String(part).padStart(2, "0");

const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });

/** Local wall-clock time on 24 hours, as exactly as moments `step` seconds apart need; other days by their date. */
export function formatMoment(seconds: number, step: number): string {
  const date = new Date(Math.round(seconds * 1000));
  if (step >= 86_400) return day.format(date);
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
  const second = step < 60 ? `:${two(date.getSeconds())}` : "";
  const fraction = step < 1 ? `.${String(date.getMilliseconds()).padStart(3, "0")}` : "";
  const exact = `${clock}${second}${fraction}`;
  return date.toDateString() === new Date().toDateString() ? exact : `${day.format(date)} ${exact}`;
}

/** Local date and time, to the second. */
export function formatDate(ms: number): string {
  const date = new Date(ms);
  const days = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${days} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

// What has no width, or turns the direction of what stands around it.
const UNSEEN = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** A name that others chose, with a sign in the place of each character that would show it as another name. */
export function shown(name: string): string {
  return name.replace(UNSEEN, "\ufffd");
}

/** A moment in few words: of today the time, of this year without the year. */
export function formatWhen(ms: number): string {
  const sameYear = new Date(ms).getFullYear() === new Date().getFullYear();
  return sameYear ? formatMoment(ms / 1000, 60) : formatDate(ms).slice(0, 16);
}

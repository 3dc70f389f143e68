const number = (digits: number) => new Intl.NumberFormat("en", { maximumFractionDigits: digits });
const byDigits = [number(0), number(1), number(2), number(3)];

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

/** A measured value with about four significant digits. */
export function formatValue(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 1000 ? 0 : size >= 1 ? 1 : 3;
  return byDigits[digits]!.format(value);
}

export function formatCount(count: number): string {
  return byDigits[0]!.format(count);
}

/** Bytes in decimal units, as link budgets are. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${formatCount(bytes)} B`;
  if (bytes < 1e6) return `${byDigits[bytes < 1e5 ? 1 : 0]!.format(bytes / 1e3)} kB`;
  return `${byDigits[bytes < 1e8 ? 1 : 0]!.format(bytes / 1e6)} MB`;
}

/** A share in percent; nothing sent has no share. */
export function formatShare(share: number | null): string {
  return share === null ? "–" : `${byDigits[1]!.format(share * 100)} %`;
}

/** A length of time, in its two largest units. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const two = (part: number) => String(part).padStart(2, "0");

/** Local wall-clock time on 24 hours. */
export function formatClock(seconds: number, withSeconds: boolean): string {
  const date = new Date(seconds * 1000);
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return withSeconds ? `${clock}:${two(date.getSeconds())}` : clock;
}

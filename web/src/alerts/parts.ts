import type { Severity } from "../alert-api";
import { html } from "../dom";
import { formatDate, formatWhen } from "../format";
import { LINKS } from "../route";

const PAGES = [
  ["alerts", "Alerts"],
  ["rules", "Rules"],
  ["channels", "Channels"],
] as const;

/** The ways between alerts, the rules that open them and the channels that tell them. */
export function alertPages(current: (typeof PAGES)[number][0]): HTMLElement {
  const link = ([page, name]: (typeof PAGES)[number]) =>
    html("a", { href: LINKS[page], "aria-current": page === current ? "page" : undefined }, name);
  return html("nav", { class: "ranges parts", "aria-label": "About alerts" }, ...PAGES.map(link));
}

/** How much an alert matters, as a word. */
export function severityBadge(severity: Severity): HTMLElement {
  return html("span", { class: `state ${severity}` }, severity);
}

/** A moment in few words, and to the second for those who point at it. */
export function moment(ms: number): HTMLElement {
  const date = new Date(ms);
  return html("time", { datetime: date.toISOString(), title: formatDate(ms) }, formatWhen(ms));
}

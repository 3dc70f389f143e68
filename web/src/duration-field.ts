import { html } from "./dom";
import { choice, Field, type FieldOptions } from "./field";

const UNITS = [
  ["1", "seconds"],
  ["60", "minutes"],
  ["3600", "hours"],
  ["86400", "days"],
] as const;

/** The number and the unit that a length of time is best written with. */
export function inUnits(seconds: number): { count: number; unit: number } {
  const units = UNITS.map(([size]) => Number(size)).reverse();
  const unit = seconds === 0 ? 60 : (units.find((size) => seconds % size === 0) ?? 1);
  return { count: seconds / unit, unit };
}

/** A length of time: a number, and of what. */
export class DurationField extends Field {
  private readonly unit: HTMLSelectElement;

  constructor(id: string, label: string, seconds: number, options: FieldOptions = {}) {
    super(html("input", { id, type: "number", min: 0, step: "any" }), label, options);
    this.unit = choice(`${id}-unit`, UNITS);
    this.unit.setAttribute("aria-label", `${label}, unit`);
    const pair = html("div", { class: "pair" });
    this.control.replaceWith(pair);
    pair.append(this.control, this.unit);
    const best = inUnits(seconds);
    this.control.value = String(best.count);
    this.unit.value = String(best.unit);
  }

  /** In whole seconds; not a number if nothing is written. */
  get seconds(): number {
    const count = this.control.value === "" ? NaN : Number(this.control.value);
    return Math.round(count * Number(this.unit.value));
  }
}

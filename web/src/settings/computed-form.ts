import type { Resource } from "../api";
import type { Computation, ComputedStream, DeviceApi } from "../device-api";
import { html } from "../dom";
import { Field, textInput } from "../field";
import { formDialog } from "../form";
import { shown } from "../format";
import type { Desk } from "../page";
import { button } from "../panel";
import { InputRow } from "./computed-input";
import { ExpressionField } from "./expression-field";

const MOST_INPUTS = 16;
/** Devices that are offered by name; the name of any other can be typed. */
const MOST_OFFERED = 1_000;

/** Asks what computes a stream. While it is typed, the cloud says what is wrong with it. */
export function computedDialog(
  desk: Desk,
  device: DeviceApi,
  resource: Resource,
  all: readonly Resource[],
  present: ComputedStream | undefined,
  done: () => Promise<void>,
): void {
  const label = new Field(textInput("computed-label", { required: true, maxlength: 128 }), "Name", {
    about: /label/,
  });
  const unit = new Field(textInput("computed-unit", { maxlength: 32 }), "Unit", {
    hint: "Such as Cel, %RH or K. Empty for none.",
    about: /unit/,
  });
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zone = new Field(
    textInput("computed-zone", { value: present?.time_zone ?? "UTC", list: "zones", required: true }),
    "Time zone",
    {
      hint: 'In which the window "day" begins: UTC, +02:00, or a name such as Europe/Stockholm.',
      about: /time_zone/,
    },
  );
  const zones = [...new Set(["UTC", own])].map((value) => html("option", { value }));

  let rows: InputRow[] = [];
  const list = html("div", { class: "input-rows" });
  const changed = () => expression.check();
  const add = (name: string, of: Resource, stream?: string | number) => {
    const present = { number: (rows.at(-1)?.number ?? 0) + 1, name, device: of.label, stream };
    const row = new InputRow(desk.user.username, all, present, changed, remove);
    rows.push(row);
    list.append(row.root);
    more.disabled = rows.length >= MOST_INPUTS;
    return row;
  };
  const remove = (row: InputRow) => {
    rows = rows.filter((other) => other !== row);
    row.root.remove();
    more.disabled = false;
    more.focus();
    changed();
  };
  const more = button("Add an input", () => add("", resource).name.focus());
  const computation = (): Computation => ({
    expression: expression.control.value,
    time_zone: zone.text,
    inputs: Object.fromEntries(
      rows.flatMap(({ name, reference }) => (reference ? [[name.value.trim(), reference]] : [])),
    ),
  });
  const expression = new ExpressionField(present?.expression ?? "", device, () =>
    rows.length > 0 && rows.every(({ reference }) => reference) ? computation() : undefined,
  );
  zone.control.addEventListener("input", changed);

  const inputs = html("fieldset", {}, html("legend", {}, "Inputs"), list, more);
  const dialog = formDialog(desk, present ? `Change ${shown(present.label)}` : "Add a computed stream", {
    fields: [
      ...(present ? [] : [label, unit]),
      inputs,
      html("datalist", { id: "all-devices" }, ...offered(all)),
      expression,
      zone,
      html("datalist", { id: "zones" }, ...zones),
    ],
    action: present ? "Change" : "Add stream",
    send: async () => {
      await (present
        ? device.recompute(present.id, computation())
        : device.addComputed(label.text, unit.text, "", computation()));
      await done();
    },
  });
  dialog.addEventListener("close", () => expression.stop());
  for (const [name, { resource: id, stream }] of Object.entries(present?.inputs ?? {})) {
    add(name, all.find((known) => String(known.id) === String(id)) ?? resource, stream ?? undefined);
  }
  if (!present) add("", resource);
}

function offered(all: readonly Resource[]): HTMLElement[] {
  return all.slice(0, MOST_OFFERED).map(({ label }) => html("option", { value: label }));
}

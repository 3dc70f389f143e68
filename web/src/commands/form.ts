import type { CommandValue } from "../command-api";
import { html } from "../dom";
import { DurationField } from "../duration-field";
import { choice, Field, textInput } from "../field";
import { formDialog } from "../form";
import type { Desk } from "../page";
import type { ValueKind } from "./words";

const USUAL_EXPIRY_S = 3600;

/** Asks what of a device is to be set, and to what. */
export function commandDialog(
  desk: Desk,
  device: string,
  known: ReadonlyMap<string, ValueKind>,
  give: (actuator: string, value: CommandValue, expires_in: number) => Promise<void>,
): void {
  const first = [...known.keys()][0] ?? "";
  const actuator = new Field(
    textInput("command-actuator", { required: true, maxlength: 64, list: "actuators", value: first }),
    "What is set",
    { hint: "The name under /actuators/ at the device, such as led.", about: /actuator/ },
  );
  const kind = new Field(
    choice("command-kind", [
      ["boolean", "On or off"],
      ["number", "A number"],
      ["text", "A text"],
    ]),
    "Kind of value",
  );
  const state = new Field(
    choice("command-state", [
      ["true", "On"],
      ["false", "Off"],
    ]),
    "Value",
  );
  const number = new Field(html("input", { id: "command-number", type: "number", step: "any" }), "Value", {
    about: /number|value/,
  });
  const text = new Field(textInput("command-text", { maxlength: 160 }), "Value", {
    hint: "At most 160 characters.",
    about: /text|value/,
  });
  const expiry = new DurationField("command-expiry", "Given up after", USUAL_EXPIRY_S, {
    hint: "If the device is not heard until then. At most 30 days.",
    about: /expires_in/,
  });
  const choose = () => {
    const chosen = kind.control.value;
    state.root.hidden = chosen !== "boolean";
    number.root.hidden = chosen !== "number";
    text.root.hidden = chosen !== "text";
    number.control.required = !number.root.hidden;
  };
  const suit = () => {
    const usual = known.get(actuator.text);
    if (usual !== undefined) kind.control.value = usual;
    choose();
  };
  actuator.control.addEventListener("input", suit);
  kind.control.addEventListener("change", choose);
  suit();
  const value = (): CommandValue => {
    if (!state.root.hidden) return state.control.value === "true";
    return number.root.hidden ? text.control.value : Number(number.control.value);
  };
  formDialog(desk, `Set something of ${device}`, {
    fields: [
      actuator,
      html("datalist", { id: "actuators" }, ...[...known.keys()].map((value) => html("option", { value }))),
      kind,
      state,
      number,
      text,
      expiry,
    ],
    action: "Set",
    send: () => give(actuator.text, value(), expiry.seconds),
  });
}

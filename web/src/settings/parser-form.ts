import type { ValueType } from "../api";
import type { DeviceApi, NewParser, Parser } from "../device-api";
import { html } from "../dom";
import { choice, Field, textInput } from "../field";
import { formDialog } from "../form";
import { shown } from "../format";
import type { Desk } from "../page";
import { TryOut } from "./try-out";

const EXAMPLES: Record<string, string> = {
  "json-path": "Such as $.sensors[0].temperature",
  regex: "Such as temperature=(?<value>-?[0-9.]+)",
};

/** Asks what a parser is to be, and lets it be tried on a payload before. */
export function parserDialog(
  desk: Desk,
  device: DeviceApi,
  present: Parser | undefined,
  done: () => Promise<void>,
): void {
  const kind = new Field(
    choice("parser-kind", [
      ["json-path", "JSON path, for JSON and CBOR"],
      ["regex", "Regular expression, for text"],
    ]),
    "Kind",
  );
  const text = (id: string, value: string | null | undefined, more = {}) =>
    textInput(id, { value: value ?? "", ...more });
  const stream = new Field(
    text("parser-stream", present?.stream, { required: true, maxlength: 128 }),
    "Stream",
    {
      about: /^(stream|label)|label is in use/,
    },
  );
  const type = new Field(
    choice("parser-type", [
      ["number", "Numbers"],
      ["boolean", "True or false"],
      ["text", "Texts, of at most 160 characters"],
    ]),
    "Read values as",
    {
      hint: "A new stream is of this type; one that is there already takes values of its own.",
      about: /^value_type/,
    },
  );
  const expression = new Field(
    text("parser-expression", present?.expression, { required: true }),
    "Where the values are",
    { hint: EXAMPLES["json-path"]!, about: /^(?!time|stream|label)/ },
  );
  const format = new Field(
    text("parser-time-format", present?.time_format, { list: "time-formats" }),
    "Time format",
    {
      hint: "rfc3339, unix-s, unix-ms or a pattern such as %d.%m.%Y %H:%M. Empty: the time of arrival.",
      about: /^time_format/,
    },
  );
  const formats = ["rfc3339", "unix-s", "unix-ms"].map((value) => html("option", { value }));
  const time = new Field(text("parser-time", present?.time_expression), "Where the time is", {
    about: /^time/,
  });
  const required = new Field(
    html("input", { id: "parser-required", type: "checkbox", checked: present?.required ?? true }),
    "Refuse a payload without such a value",
  );
  if (present) kind.control.value = present.kind;
  if (present?.value_type) type.control.value = present.value_type;

  const parser = (): NewParser => ({
    ...(present ? { label: present.label } : {}),
    kind: kind.control.value,
    stream: stream.text,
    value_type: type.control.value as ValueType,
    expression: expression.control.value,
    required: required.control.checked,
    ...(format.text === "" ? {} : { time_format: format.text }),
    ...(time.text === "" ? {} : { time_expression: time.control.value }),
  });
  const trial = new TryOut("one-parser", device, parser);
  const choose = () => {
    const regex = kind.control.value === "regex";
    document.getElementById("parser-expression-hint")!.textContent = EXAMPLES[kind.control.value]!;
    time.root.hidden = regex;
    trial.suppose(regex ? "text/plain" : "application/json");
  };
  kind.control.addEventListener("change", choose);

  formDialog(desk, present ? `Change ${shown(present.label)}` : "Add a parser", {
    fields: [
      kind,
      stream,
      type,
      expression,
      format,
      html("datalist", { id: "time-formats" }, ...formats),
      time,
      required,
      html("h3", {}, "Try it"),
      trial.root,
    ],
    action: present ? "Change" : "Add parser",
    send: async () => {
      await (present ? device.replaceParser(present.id, parser()) : device.addParser(parser()));
      await done();
    },
  });
  choose();
}

import type { Channel, Condition, Operator, Rule, RuleSettings, Severity } from "../alert-api";
import { api, ApiError, type Resource, type Stream, type Value, type ValueType } from "../api";
import { html, setText } from "../dom";
import { DurationField } from "../duration-field";
import { choice, Field, textInput } from "../field";
import { formDialog } from "../form";
import { shown, unitSymbol } from "../format";
import type { Desk } from "../page";
import { LINKS } from "../route";
import { conditionWords } from "./words";

/** Devices that are offered by name; the name of any other can be typed. */
const MOST_OFFERED = 1_000;
/** Channels that a rule tells. */
const MOST_CHANNELS = 4;

const KINDS: readonly (readonly [Condition["kind"], string])[] = [
  ["threshold", "A value passes a threshold"],
  ["change", "A value changes"],
  ["silence", "Nothing is heard"],
];
const OPERATORS: readonly (readonly [Operator, string])[] = [
  [">", "above"],
  [">=", "at or above"],
  ["<", "below"],
  ["<=", "at or below"],
  ["=", "equal to"],
  ["!=", "not equal to"],
];
const TRUTHS = [
  ["true", "true"],
  ["false", "false"],
] as const;
const SEVERITIES: readonly (readonly [Severity, string])[] = [
  ["critical", "Critical: somebody is to act now"],
  ["warning", "Warning: somebody is to look at it"],
  ["information", "Information: it is good to know"],
];
const SILENCES = [
  ["periods", "of its usual intervals"],
  ["after", "a time that I set"],
] as const;

/** What is filled in; nothing as long as something is missing. */
export interface Filled {
  kind: string;
  operator: string;
  operand: Value;
  hysteresis: number;
  hold: number;
  /** Nothing for any change. */
  by: number | null;
  silence: string;
  periods: number;
  after: number;
}

/** The condition that is filled in; nothing as long as a number is missing. */
export function conditionOf(filled: Filled): Condition | undefined {
  const { kind, operand, hysteresis, hold, by, silence, periods, after } = filled;
  const operator = OPERATORS.find(([sign]) => sign === filled.operator)?.[0] ?? ">";
  const are = (...numbers: number[]) => numbers.every(Number.isFinite);
  if (kind === "threshold" && typeof operand !== "number" && are(hold)) {
    // A text, true and false are equal or not, and nothing between.
    const equality = operator === "!=" ? operator : "=";
    return { kind, operator: equality, operand, hysteresis: 0, hold_s: hold };
  }
  if (kind === "threshold" && typeof operand === "number" && are(operand, hysteresis, hold)) {
    return { kind, operator, operand, hysteresis: operator === "!=" ? 0 : hysteresis, hold_s: hold };
  }
  if (kind === "change" && (by === null || are(by))) return { kind, by };
  if (kind !== "silence") return undefined;
  if (silence === "periods") return are(periods) ? { kind, periods, after_s: null } : undefined;
  return are(after) ? { kind, periods: null, after_s: after } : undefined;
}

const numberInput = (id: string, value: number | undefined, more: Record<string, string | number> = {}) =>
  html("input", { id, type: "number", step: "any", value, ...more });
const numberOf = ({ control }: Field) => (control.value === "" ? NaN : Number(control.value));

/** Asks what a rule is to be, and says in one sentence what it will do. */
export function ruleDialog(
  desk: Desk,
  all: readonly Resource[],
  channels: readonly Channel[],
  present: Rule | undefined,
  set: (settings: RuleSettings) => Promise<void>,
): void {
  const condition = present?.condition;
  const threshold = condition?.kind === "threshold" ? condition : undefined;
  const silent = condition?.kind === "silence" ? condition : undefined;

  const label = new Field(
    textInput("rule-label", { required: true, maxlength: 64, value: present?.label ?? "" }),
    "Name",
    { hint: "What is told when it happens, such as: too warm.", about: /label/ },
  );
  const device = new Field(
    textInput("rule-device", { required: true, list: "rule-devices", value: present?.resource ?? "" }),
    "Device",
    { about: /resource/ },
  );
  const kind = new Field(choice("rule-kind", KINDS), "Alert when");
  const stream = new Field(choice("rule-stream", []), "Stream", { about: /stream|watch this/ });
  const operator = new Field(choice("rule-operator", OPERATORS), "The value is");
  const given = threshold?.operand;
  const operand = new Field(
    numberInput("rule-operand", typeof given === "number" ? given : undefined),
    "Threshold",
    { about: /operand/ },
  );
  const text = new Field(
    textInput("rule-text", { maxlength: 160, value: typeof given === "string" ? given : "" }),
    "Text",
    { hint: "All of it counts, capital letters and spaces, too.", about: /operand/ },
  );
  const truth = new Field(choice("rule-truth", TRUTHS), "Value", { about: /operand/ });
  if (typeof given === "boolean") truth.control.value = String(given);
  const hold = new DurationField("rule-hold", "For at least", threshold?.hold_s ?? 0, {
    hint: "0 alerts at the first reading. At most 7 days.",
    about: /hold_s/,
  });
  const hysteresis = new Field(
    numberInput("rule-hysteresis", threshold?.hysteresis ?? 0, { min: 0 }),
    "Clears when it has come back by",
    { hint: "So that a value which wavers at the threshold alerts once.", about: /hysteresis/ },
  );
  const by = new Field(
    numberInput("rule-by", condition?.kind === "change" ? (condition.by ?? undefined) : undefined),
    "It differs from the reading before by",
    { hint: "This much or more; more than 0. Empty for any change.", about: /\bby\b/ },
  );
  const silence = new Field(choice("rule-silence", SILENCES), "Silent for");
  const periods = new Field(
    numberInput("rule-periods", silent?.periods ?? 3, { min: 2, max: 1000, step: 1 }),
    "Usual intervals",
    { hint: "2 to 1,000. The usual interval is learnt from the latest readings.", about: /periods/ },
  );
  const after = new DurationField("rule-after", "Time", silent?.after_s ?? 600, {
    hint: "At most 31 days.",
    about: /after_s/,
  });
  const severity = new Field(choice("rule-severity", SEVERITIES), "Severity");
  const payload = new Field(
    html("textarea", { id: "rule-payload", rows: 2, maxlength: 1024 }, present?.payload ?? ""),
    "Text that is told besides",
    { hint: "Such as whom to call. Empty for none.", about: /payload/ },
  );
  const sentence = html("p", { class: "sentence", role: "status" });
  const boxes = channels.map((channel) => {
    const box = html("input", {
      id: `rule-channel-${channel.id}`,
      type: "checkbox",
      checked: present?.channels.includes(channel.label) ?? false,
    });
    return { channel, box, field: new Field(box, `${shown(channel.label)} (${channel.kind})`) };
  });
  const told = html(
    "fieldset",
    {},
    html("legend", {}, "Tell"),
    ...(boxes.length === 0
      ? [
          html(
            "p",
            { class: "hint" },
            "There is no channel yet: the alert is shown here and told nobody. ",
            html("a", { href: LINKS.channels }, "Channels"),
            " tell alerts by e-mail, webhook or ntfy.",
          ),
        ]
      : boxes.map(({ field }) => field.root)),
  );

  let streams: Stream[] = [];
  let wanted = present ? (present.stream ?? "") : undefined;
  const offerStreams = () => {
    const kept = wanted ?? stream.control.value;
    const whole: [string, string][] = kind.control.value === "silence" ? [["", "Any of the device"]] : [];
    const offered = [...whole, ...streams.map(({ label }): [string, string] => [label, shown(label)])];
    stream.control.replaceChildren(
      ...(offered.length === 0 ? [html("option", { value: "" }, "It has no stream yet")] : []),
      ...offered.map(([value, words]) => html("option", { value }, words)),
    );
    if (offered.some(([value]) => value === kept)) {
      stream.control.value = kept;
      if (streams.length > 0) wanted = undefined;
    }
    suit();
    say();
  };
  let turn = 0;
  const askStreams = async () => {
    const mine = ++turn;
    device.clear();
    streams = [];
    const found = all.find(({ label }) => label === device.text);
    if (!found) {
      if (device.text !== "") device.refuse("There is no device of this name.");
      offerStreams();
      return;
    }
    try {
      const answer = await api.streams(desk.user.username, found.id);
      if (mine === turn) streams = answer;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      device.refuse(error.words);
    }
    if (mine === turn) offerStreams();
  };

  /** What the values of the chosen stream are; numbers, as long as it is not known. */
  const typeOf = (): ValueType => {
    const chosen = streams.find(({ label }) => label === stream.control.value);
    if (chosen) return chosen.value_type;
    return typeof given === "string" ? "text" : typeof given === "boolean" ? "boolean" : "number";
  };
  const operandOf = (): Value => {
    // A number may be the threshold of truth values, too: one that was set so stays.
    if (typeOf() === "text") return text.control.value;
    return isOfTruths() ? truth.control.value === "true" : numberOf(operand);
  };
  const isOfTruths = () => typeOf() === "boolean" && typeof given !== "number";
  const filled = () =>
    conditionOf({
      kind: kind.control.value,
      operator: operator.control.value,
      operand: operandOf(),
      hysteresis: numberOf(hysteresis),
      hold: hold.seconds,
      by: by.control.value === "" || typeOf() === "text" ? null : numberOf(by),
      silence: silence.control.value,
      periods: numberOf(periods),
      after: after.seconds,
    });
  const say = () => {
    const condition = filled();
    const isWhole = kind.control.value === "silence" && stream.control.value === "";
    const name = isWhole ? null : stream.control.value;
    const unit = streams.find(({ label }) => label === name)?.unit ?? null;
    setText(
      sentence,
      condition && device.text !== "" && name !== ""
        ? shown(conditionWords(condition, { resource: device.text, stream: name, unit }))
        : "Fill in the fields to see what the rule will do.",
    );
    for (const [{ control }, words] of [
      [operand, "Threshold"],
      [hysteresis, "Clears when it has come back by"],
      [by, "It differs from the reading before by"],
    ] as const) {
      const symbol = unitSymbol(unit);
      const label = control.closest(".field")?.querySelector("label");
      if (label) setText(label, symbol === "" ? words : `${words} (${symbol})`);
    }
  };
  /** Shows the fields that are for what is chosen, and for the values of the stream. */
  const suit = () => {
    const chosen = kind.control.value;
    const type = typeOf();
    const isNumber = type !== "text" && !isOfTruths();
    for (const { root } of [operator, hold]) root.hidden = chosen !== "threshold";
    operand.root.hidden = chosen !== "threshold" || !isNumber;
    text.root.hidden = chosen !== "threshold" || type !== "text";
    truth.root.hidden = chosen !== "threshold" || !isOfTruths();
    hysteresis.root.hidden = operand.root.hidden || operator.control.value === "!=";
    for (const option of operator.control.options) {
      option.hidden = option.disabled = !isNumber && option.value !== "=" && option.value !== "!=";
    }
    if (operator.control.selectedOptions[0]?.disabled) operator.control.value = "=";
    by.root.hidden = chosen !== "change" || type === "text";
    silence.root.hidden = chosen !== "silence";
    periods.root.hidden = silence.root.hidden || silence.control.value !== "periods";
    after.root.hidden = silence.root.hidden || silence.control.value !== "after";
    for (const { control, root } of [operand, hold, hysteresis, periods, after]) {
      control.required = !root.hidden;
    }
    for (const { control, root } of [operand, text, hold, hysteresis, by, periods, after]) {
      // What is hidden and out of its limits would hold the form up.
      control.disabled = root.hidden;
    }
  };
  const choose = () => offerStreams();
  const limit = () => {
    const full = boxes.filter(({ box }) => box.checked).length >= MOST_CHANNELS;
    for (const { box } of boxes) box.disabled = full && !box.checked;
  };

  kind.control.value = condition?.kind ?? "threshold";
  operator.control.value = threshold?.operator ?? ">";
  silence.control.value = silent?.after_s != null ? "after" : "periods";
  severity.control.value = present?.severity ?? "warning";

  const dialog = formDialog(desk, present ? `Change ${shown(present.label)}` : "Make a rule", {
    fields: [
      label,
      device,
      html("datalist", { id: "rule-devices" }, ...offeredDevices(all)),
      kind,
      stream,
      operator,
      operand,
      text,
      truth,
      hold,
      hysteresis,
      by,
      silence,
      periods,
      after,
      severity,
      told,
      payload,
      sentence,
    ],
    action: present ? "Change" : "Make rule",
    send: async () => {
      const condition = filled();
      if (!condition) return;
      await set({
        label: label.text,
        severity: SEVERITIES.find(([value]) => value === severity.control.value)![0],
        resource: device.text,
        stream: stream.control.value === "" ? null : stream.control.value,
        condition,
        channels: boxes.filter(({ box }) => box.checked).map(({ channel }) => channel.label),
        payload: payload.text === "" ? null : payload.text,
        paused: present?.paused ?? false,
      });
    },
  });
  dialog.classList.add("rule-dialog");
  dialog.addEventListener("input", (event) => {
    if (event.target !== device.control) say();
  });
  device.control.addEventListener("change", () => void askStreams());
  for (const { control } of [kind, silence]) control.addEventListener("change", choose);
  stream.control.addEventListener("change", () => {
    wanted = undefined;
    suit();
    say();
  });
  operator.control.addEventListener("change", suit);
  told.addEventListener("change", limit);
  choose();
  limit();
  if (present) void askStreams();
}

function offeredDevices(all: readonly Resource[]): HTMLElement[] {
  return all.slice(0, MOST_OFFERED).map(({ label }) => html("option", { value: label }));
}

import { ApiError } from "../api";
import type { Computation, DeviceApi } from "../device-api";
import { html, setText } from "../dom";
import { Field } from "../field";

/** How long typing rests before the cloud is asked. */
const REST_MS = 300;

/** An expression that the cloud looks at while it is typed: what is wrong is marked at its place. */
export class ExpressionField extends Field<HTMLTextAreaElement> {
  private readonly place = html("p", { class: "place", hidden: true });
  private readonly good = html("p", { class: "hint", role: "status" });
  private timer: number | undefined;
  private turn = 0;

  constructor(
    present: string,
    private readonly device: DeviceApi,
    /** What is to be computed, once it is whole enough to be looked at. */
    private readonly computation: () => Computation | undefined,
  ) {
    const area = html(
      "textarea",
      {
        id: "computed-expression",
        rows: 3,
        required: true,
        maxlength: 1024,
        spellcheck: "false",
        class: "code",
      },
      present,
    );
    super(area, "Expression", {
      hint: 'Names of inputs, numbers, + - * / %, comparisons, and functions: mean(t, "10m"), min, max, median, sum, count, delta, rate, if(a > 1, a, b).',
      about: /^expression: (?!time_zone)/,
    });
    this.root.append(this.place, this.good);
    area.addEventListener("input", () => this.check());
  }

  /** Asks the cloud soon whether this can be computed. */
  check(): void {
    window.clearTimeout(this.timer);
    this.turn += 1;
    this.timer = window.setTimeout(() => void this.ask(this.turn), REST_MS);
  }

  stop(): void {
    window.clearTimeout(this.timer);
    this.turn += 1;
  }

  override refuse(words: string): void {
    super.refuse(words.replace(/^expression: /, ""));
    setText(this.good, "");
    const [before, wrong, after] = placeOf(words, this.control.value);
    this.place.hidden = wrong === "";
    this.place.replaceChildren(html("code", {}, before, html("mark", {}, wrong), after));
  }

  override clear(): void {
    super.clear();
    this.place.hidden = true;
    setText(this.good, "");
  }

  private async ask(turn: number): Promise<void> {
    const computation = this.computation();
    if (!computation || computation.expression.trim() === "") {
      this.clear();
      return;
    }
    try {
      await this.device.tryComputation(computation);
      if (turn !== this.turn) return;
      this.clear();
      setText(this.good, "This can be computed.");
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (turn !== this.turn) return;
      this.clear();
      if (this.about!.test(error.message)) this.refuse(error.message);
      else setText(this.good, error.message);
    }
  }
}

/** What stands before the character that a refusal is about, that character, and what is behind it. */
export function placeOf(words: string, expression: string): [string, string, string] {
  const position = Number(/character (\d+):/.exec(words)?.[1] ?? 0);
  if (position < 1) return [expression, "", ""];
  const characters = [...expression];
  const wrong = characters[position - 1];
  return [
    characters.slice(0, position - 1).join(""),
    // Something is missing at the end.
    wrong === undefined || wrong.trim() === "" ? "\u2423" : wrong,
    characters.slice(position).join(""),
  ];
}

import { ApiError } from "../api";
import type { DeviceApi, NewParser, Preview } from "../device-api";
import { html, setText } from "../dom";
import { choice, Field } from "../field";
import { formatDate, formatValue, shown, unitSymbol } from "../format";
import { button } from "../panel";

const TYPES = ["application/json", "text/plain", "application/senml+json"] as const;

/** Why a text is in no stream. */
function leftOutWords(why: string): string {
  return why === "too_long" ? "it has more than 160 characters" : "it has control characters";
}

/** A payload that is tried: it says what a post of it would store, and stores nothing. */
export class TryOut {
  readonly root: HTMLElement;
  private readonly type: Field<HTMLSelectElement>;
  private readonly payload: Field<HTMLTextAreaElement>;
  private readonly outcome = html("div", { class: "outcome", role: "status" });

  constructor(
    id: string,
    private readonly device: DeviceApi,
    /** The parser to try; without one, those that the device has. */
    private readonly parser: () => NewParser | undefined,
  ) {
    this.type = new Field(
      choice(
        `${id}-type`,
        TYPES.map((type) => [type, type]),
      ),
      "Media type",
    );
    this.payload = new Field(
      html("textarea", { id: `${id}-payload`, rows: 3, spellcheck: "false", class: "code" }),
      "Payload",
    );
    const go = button("Try", () => void this.try(go));
    this.root = html("div", { class: "try-out" }, this.type.root, this.payload.root, go, this.outcome);
  }

  /** Payloads are of this type, unless the person says otherwise. */
  suppose(type: (typeof TYPES)[number]): void {
    this.type.control.value = type;
  }

  private async try(go: HTMLButtonElement): Promise<void> {
    this.payload.clear();
    this.outcome.replaceChildren();
    go.disabled = true;
    try {
      const { value } = this.payload.control;
      this.show(await this.device.tryPayload(this.type.control.value, value, this.parser()));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.payload.refuse(error.words);
    } finally {
      go.disabled = false;
    }
  }

  private show({ readings, new_parsers }: Preview): void {
    const said = html("p", { class: "hint" });
    const made = new_parsers.map(({ stream }) => shown(stream)).join(", ");
    const more = made === "" ? "" : ` It would make parsers for ${made}.`;
    setText(said, `${readings.length === 0 ? "Nothing would be stored." : "This would be stored:"}${more}`);
    const items = readings.map(({ stream, unit, time, value, left_out }) =>
      html(
        "li",
        {},
        html("strong", {}, shown(stream)),
        ` ${formatValue(value)} ${unitSymbol(unit)}`.trimEnd(),
        html(
          "small",
          {},
          left_out === null ? ` at ${formatDate(time)}` : ` is left out: ${leftOutWords(left_out)}`,
        ),
      ),
    );
    this.outcome.append(said, html("ul", {}, ...items));
  }
}

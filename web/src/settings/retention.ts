import { ApiError, call, part, resource, send, type Resource, type Stream } from "../api";
import { confirm } from "../dialog";
import { html, setText } from "../dom";
import { Field, textInput } from "../field";
import { formDialog } from "../form";
import { formatDate, shown } from "../format";
import type { Desk } from "../page";
import { button, Panel, record, table } from "../panel";

/** How long the readings of a stream are kept. Times are milliseconds since 1970; null: for ever, or all. */
export interface Retention {
  stream: Stream["id"];
  label: string;
  keep_s: number | null;
  history_size: number | null;
  keep_rollups_s: number | null;
  kept_from: number | null;
  frozen: number | null;
}

export interface RetentionChange {
  keep_s: number | null;
  history_size: number | null;
  frozen: boolean;
  discard?: boolean;
}

const DAY_S = 86_400;

/** A time in days, as far as it is one. */
export function keepWords(seconds: number | null): string {
  if (seconds === null) return "for ever";
  const days = seconds / DAY_S;
  if (days >= 1 || seconds % 3_600 !== 0) return `${Number(days.toFixed(2))} d`;
  return `${seconds / 3_600} h`;
}

/** The number in a field, which is null where the field is empty; an error in words if there is none. */
export function numberIn(text: string, what: string): number | null {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  const number = Number(trimmed);
  if (!Number.isFinite(number) || number <= 0) {
    throw new ApiError(400, `${what} is not a number above 0.`, "Leave it empty to keep all.");
  }
  return number;
}

/** How long the readings of each stream are kept, and whether it takes any. */
export class RetentionPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly empty = html("p", { class: "note" });
  private readonly table = table("retention", ["Stream", "Keep for", "History size", "State"], this.rows);
  private readonly path: string;

  constructor(desk: Desk, device: Resource) {
    super(
      desk,
      "retention",
      "How long readings are kept",
      "Hourly summaries stay when readings go, so that long charts do, too.",
    );
    this.path = resource(desk.user.username, device.id);
    this.body.append(this.empty, this.table);
  }

  protected override async fill(): Promise<void> {
    this.show(await call<Retention[]>(`${this.path}/retention`));
  }

  private show(all: Retention[]): void {
    this.table.hidden = all.length === 0;
    setText(this.empty, all.length === 0 ? "No stream yet." : "");
    this.rows.replaceChildren(...all.map((retention) => this.row(retention)));
  }

  private row(retention: Retention): HTMLElement {
    const name = shown(retention.label);
    const { frozen, history_size } = retention;
    return record(
      name,
      [
        ["Keep for", keepWords(retention.keep_s)],
        ["History size", history_size === null ? "all" : `${history_size} readings`],
        ["State", frozen === null ? "takes readings" : `frozen since ${formatDate(frozen)}`],
      ],
      [button("Edit", () => this.edit(retention), "quiet", `Edit how long ${name} is kept`)],
    );
  }

  private edit(retention: Retention): void {
    const { keep_s, history_size } = retention;
    const days = new Field(
      textInput("keep-days", { value: keep_s === null ? "" : String(keep_s / DAY_S), inputmode: "decimal" }),
      "Keep for, in days",
      { hint: "Older readings are discarded, and not taken. Empty for ever.", about: /keep_s|Keep for/ },
    );
    const size = new Field(
      textInput("history-size", { value: String(history_size ?? ""), inputmode: "numeric" }),
      "History size",
      {
        hint: "So many of the newest readings are kept, by whole hours. Empty for all.",
        about: /history|History/,
      },
    );
    const frozen = new Field(
      html("input", { id: "frozen", type: "checkbox", checked: retention.frozen !== null }),
      "Frozen",
      { hint: "It takes no readings; those that are stored stay." },
    );
    formDialog(this.desk, `How long ${shown(retention.label)} is kept`, {
      fields: [days, size, frozen],
      action: "Save",
      send: async () => {
        const keep = numberIn(days.text, "Keep for");
        await this.save(retention, {
          keep_s: keep === null ? null : Math.round(keep * DAY_S),
          history_size: numberIn(size.text, "History size"),
          frozen: frozen.control.checked,
        });
      },
    });
  }

  /** Saves a change; one that discards readings is asked for once more. */
  private async save(retention: Retention, change: RetentionChange): Promise<void> {
    const url = `${this.path}/streams/${part(retention.stream)}/retention`;
    try {
      await send<Retention>("PUT", url, change);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "discards") throw error;
      // The form closes first.
      window.setTimeout(() =>
        this.discard(retention, () => send("PUT", url, { ...change, discard: true }), error),
      );
    }
    await this.load();
  }

  private discard(retention: Retention, act: () => Promise<unknown>, { message }: ApiError): void {
    confirm(
      `Discard readings of ${shown(retention.label)}?`,
      `${message} This cannot be undone.`,
      "Discard",
      async () => {
        await act();
        await this.load();
      },
      retention.label,
    );
  }
}

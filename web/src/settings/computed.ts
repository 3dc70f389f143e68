import type { Resource } from "../api";
import type { ComputedInput, ComputedStream, DeviceApi } from "../device-api";
import { confirm } from "../dialog";
import { html, setText } from "../dom";
import { formatDate, shown } from "../format";
import type { Desk } from "../page";
import { button, Panel, record, table } from "../panel";
import { computedDialog } from "./computed-form";

/** The streams of a device that are computed from others, and how far that has come for old points. */
export class ComputedPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly empty = html("p", { class: "note" });
  private readonly table = table("computed", ["Stream", "Expression", "Inputs", "Old points"], this.rows);
  private known = "";
  private busy = false;
  private isFilling = false;

  constructor(
    desk: Desk,
    private readonly device: DeviceApi,
    private readonly resource: Resource,
    /** All devices: inputs may be of any. */
    private readonly all: () => Resource[],
    /** A stream has come, changed or gone. */
    private readonly changed: () => void,
  ) {
    super(
      desk,
      "computed",
      "Computed streams",
      'A computed stream has a point whenever one of its inputs has one, such as mean(t, "10m") - outside.',
    );
    this.tools.append(button("Add a computed stream", () => this.edit()));
    this.body.append(this.empty, this.table);
  }

  /** Looks how far old points have come. */
  again(): void {
    if (this.isFilling && !this.busy) void this.load();
  }

  protected override async fill(): Promise<void> {
    this.busy = true;
    try {
      const computed = await this.device.computed();
      const done = this.isFilling;
      this.isFilling = computed.some(({ backfill }) => backfill !== null);
      // Rows that stay as they are keep the focus.
      const known = JSON.stringify(computed);
      if (known !== this.known) this.show(computed);
      this.known = known;
      if (done && !this.isFilling) this.changed();
    } finally {
      this.busy = false;
    }
  }

  private show(computed: ComputedStream[]): void {
    const focused = document.activeElement?.getAttribute("aria-label");
    this.table.hidden = computed.length === 0;
    setText(this.empty, computed.length === 0 ? "No computed stream yet." : "");
    this.rows.replaceChildren(...computed.map((stream) => this.row(stream)));
    for (const button of this.rows.querySelectorAll("button")) {
      if (focused && button.getAttribute("aria-label") === focused) button.focus();
    }
  }

  private row(stream: ComputedStream): HTMLElement {
    const name = shown(stream.label);
    const inputs = Object.entries(stream.inputs).map(([input, of]) =>
      html("li", { class: of.stream === null ? "missing" : undefined }, `${input}: ${this.words(of)}`),
    );
    return record(
      name,
      [
        ["Expression", html("code", {}, stream.expression)],
        ["Inputs", html("ul", { class: "inputs" }, ...inputs)],
        ["Old points", ...progress(stream)],
      ],
      [
        button("Change", () => this.edit(stream), "quiet", `Change ${name}`),
        button("Delete", () => this.remove(stream), "quiet destructive", `Delete computed stream ${name}`),
      ],
    );
  }

  private words({ resource, stream, label }: ComputedInput): string {
    if (stream === null) return "was deleted, choose another";
    const of = shown(label ?? String(stream));
    if (resource === null || String(resource) === String(this.resource.id)) return of;
    const other = this.all().find(({ id }) => String(id) === String(resource));
    return `${of} of ${shown(other?.label ?? String(resource))}`;
  }

  private edit(stream?: ComputedStream): void {
    computedDialog(this.desk, this.device, this.resource, this.all(), stream, async () => {
      await this.load();
      this.changed();
    });
  }

  private remove(stream: ComputedStream): void {
    confirm(
      `Delete ${shown(stream.label)}?`,
      "All its points are deleted with it, and what is computed from it is computed no more. This cannot be undone.",
      "Delete",
      async () => {
        await this.device.deleteStream(stream.id);
        await this.load();
        this.changed();
      },
      stream.label,
    );
  }
}

/** How far computing old points has come. */
function progress({ label, backfill }: ComputedStream): (Node | string)[] {
  if (backfill === null) return ["all computed"];
  const bar = html("progress", {
    max: 1,
    value: backfill.done,
    "aria-label": `Old points of ${shown(label)}`,
  });
  const upTo = backfill.at > 0 ? `, up to ${formatDate(backfill.at)}` : "";
  return [bar, ` ${Math.floor(backfill.done * 100)} %${upTo}`];
}

import { api, type Resource, type Stream, type ValueType } from "../api";
import type { DeviceApi } from "../device-api";
import { confirm } from "../dialog";
import { html, setText } from "../dom";
import { Field, textInput } from "../field";
import { formDialog } from "../form";
import { formatValue, formatWhen, shown, unitSymbol } from "../format";
import type { Desk } from "../page";
import { button, Panel, record, table } from "../panel";
import { shareDialog, sharingWords } from "./sharing";

/** What the values of a stream are, in words. */
const TYPES: Record<ValueType, string> = { number: "numbers", text: "texts", boolean: "true or false" };

/** The streams of a device: what each is measured in and described as, and the way to delete one. */
export class StreamsPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly empty = html("p", { class: "note" });
  private readonly table = table(
    "streams",
    ["Stream", "Values", "Unit", "Latest", "Description", "Shared"],
    this.rows,
  );

  constructor(
    desk: Desk,
    private readonly device: DeviceApi,
    private readonly resource: Resource,
    /** A stream is gone, and another may have lost its input. */
    private readonly gone: () => void,
  ) {
    super(
      desk,
      "streams",
      "Streams",
      "A stream keeps its name, as its readings are sent by that name. The first reading of a new name makes a stream.",
    );
    this.body.append(this.empty, this.table);
  }

  protected override async fill(): Promise<void> {
    this.show(await api.streams(this.desk.user.username, this.resource.id));
  }

  private show(streams: Stream[]): void {
    this.table.hidden = streams.length === 0;
    setText(this.empty, streams.length === 0 ? "No stream yet." : "");
    this.rows.replaceChildren(...streams.map((stream) => this.row(stream)));
  }

  private row(stream: Stream): HTMLElement {
    const { latest } = stream;
    const name = shown(stream.label);
    const value = latest
      ? `${formatValue(latest.value)} ${unitSymbol(stream.unit)}`.trim() + `, ${formatWhen(latest.time)}`
      : "no reading yet";
    return record(
      name,
      [
        ["Values", TYPES[stream.value_type]],
        ["Unit", stream.unit ?? "none"],
        ["Latest", value],
        ["Description", stream.description],
        ["Shared", sharingWords(stream)],
      ],
      [
        button(
          "Share",
          () => shareDialog(this.desk, this.resource, stream, () => void this.load()),
          "quiet",
          `Share ${name}`,
        ),
        button("Edit", () => this.edit(stream), "quiet", `Edit ${name}`),
        button("Delete", () => this.remove(stream), "quiet destructive", `Delete ${name}`),
      ],
    );
  }

  private edit(stream: Stream): void {
    const unit = new Field(
      textInput("stream-unit", { value: stream.unit ?? "", maxlength: 32, list: "units" }),
      "Unit",
      { hint: "As in SenML: Cel, %RH, lx, V. Values are not converted. Empty for none.", about: /unit/ },
    );
    const units = ["Cel", "%RH", "lx", "K", "Pa", "V", "A", "W", "m", "m/s2", "ppm", "%"];
    const description = new Field(
      html("textarea", { id: "stream-description", rows: 2, maxlength: 256 }, stream.description),
      "Description",
      { about: /description/ },
    );
    formDialog(this.desk, `Stream ${shown(stream.label)}`, {
      fields: [
        unit,
        html("datalist", { id: "units" }, ...units.map((value) => html("option", { value }))),
        description,
      ],
      action: "Save",
      send: async () => {
        await this.device.changeStream(stream.id, { unit: unit.text, description: description.text });
        await this.load();
      },
    });
  }

  private remove(stream: Stream): void {
    confirm(
      `Delete ${shown(stream.label)}?`,
      "All its readings are deleted with it, and what is computed from it is computed no more. This cannot be undone. " +
        "If its device goes on to send it, a new stream begins.",
      "Delete",
      async () => {
        await this.device.deleteStream(stream.id);
        await this.load();
        this.gone();
      },
      // What has no readings takes none along.
      stream.latest === null ? undefined : stream.label,
    );
  }
}

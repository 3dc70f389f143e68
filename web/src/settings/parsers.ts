import type { DeviceApi, Parser } from "../device-api";
import { confirm } from "../dialog";
import { html, setText } from "../dom";
import { shown } from "../format";
import type { Desk } from "../page";
import { button, Panel, record, table } from "../panel";
import { parserDialog } from "./parser-form";
import { TryOut } from "./try-out";

/** How values are found in the payloads of a device that does not send SenML. */
export class ParsersPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly empty = html("p", { class: "note" });
  private readonly table = table("parsers", ["Parser", "Stream", "Values", "Time"], this.rows);

  constructor(
    desk: Desk,
    private readonly device: DeviceApi,
  ) {
    super(
      desk,
      "parsers",
      "Parsers",
      "A parser finds the values of one stream in JSON, CBOR or text. SenML needs none.",
    );
    this.tools.append(button("Add a parser", () => this.edit()));
    const trial = new TryOut("all-parsers", device, () => undefined);
    this.body.append(
      this.empty,
      this.table,
      html("details", {}, html("summary", {}, "Try a payload with these parsers"), trial.root),
    );
  }

  protected override async fill(): Promise<void> {
    const parsers = await this.device.parsers();
    this.table.hidden = parsers.length === 0;
    setText(
      this.empty,
      parsers.length === 0
        ? "No parser yet. The first JSON or CBOR object with numbers that the device posts makes one for each of them."
        : "",
    );
    this.rows.replaceChildren(...parsers.map((parser) => this.row(parser)));
  }

  private row(parser: Parser): HTMLElement {
    const name = shown(parser.label);
    const time: [string, ...(Node | string)[]] =
      parser.time_format == null
        ? ["Time", "of arrival"]
        : ["Time", ...code(parser.time_expression), parser.time_format];
    return record(
      name,
      [
        ["Stream", shown(parser.stream)],
        ["Values", html("code", {}, parser.expression), parser.required ? "" : " may be missing"],
        time,
      ],
      [
        button("Change", () => this.edit(parser), "quiet", `Change ${name}`),
        button("Remove", () => this.remove(parser), "quiet destructive", `Remove ${name}`),
      ],
    );
  }

  private edit(parser?: Parser): void {
    parserDialog(this.desk, this.device, parser, () => this.load());
  }

  private remove(parser: Parser): void {
    confirm(
      `Remove ${shown(parser.label)}?`,
      "Its values are found in payloads no more. The stream and its readings stay.",
      "Remove",
      async () => {
        await this.device.removeParser(parser.id);
        await this.load();
      },
    );
  }
}

function code(expression: string | null | undefined): (Node | string)[] {
  return expression ? [html("code", {}, expression), " "] : [];
}

import { confirm } from "../dialog";
import { html } from "../dom";
import { formatCount, formatDuration, shown } from "../format";
import type { Desk } from "../page";
import { button, Panel, PanelPage, record, table } from "../panel";
import { profileApi, type NamedProfile } from "../profile-api";
import { LINKS } from "../route";

/** The list is asked for anew so often, in seconds. */
const AGAIN_S = 60;

/** What devices of one kind have in common, by which new ones are made. */
export class ProfilesPage extends PanelPage {
  constructor(desk: Desk) {
    super("Profiles", AGAIN_S, new ProfilesPanel(desk));
  }
}

class ProfilesPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly empty = html(
    "p",
    { class: "note" },
    "There are none yet. The settings of a device make one of it.",
  );
  private readonly table = table(
    "profiles",
    ["Profile", "Streams", "Parsers", "Folder and tags", "Reports every"],
    this.rows,
  );

  constructor(desk: Desk) {
    super(
      desk,
      "profiles",
      "Profiles",
      "A device that is made with a profile begins with its streams, parsers, tags, folder and period. A profile that is changed changes no device that is there.",
    );
    this.tools.append(html("a", { class: "secondary", href: LINKS.devices }, "Devices"));
    this.body.append(this.empty, this.table);
  }

  protected override async fill(): Promise<void> {
    const profiles = await profileApi(this.desk.user.username).all();
    this.empty.hidden = profiles.length > 0;
    this.table.hidden = profiles.length === 0;
    this.rows.replaceChildren(...profiles.map((profile) => this.row(profile)));
  }

  private row({ label, streams, parsers, folder, tags, period_s }: NamedProfile): HTMLElement {
    const name = shown(label);
    return record(
      name,
      [
        ["Streams", shown(streams.map((stream) => stream.label).join(", "))],
        ["Parsers", formatCount(parsers.length)],
        ["Folder and tags", shown([folder, ...tags].filter(Boolean).join(", "))],
        ["Reports every", period_s === null ? "not said" : formatDuration(period_s)],
      ],
      this.desk.mayChange ? [button("Remove", () => this.remove(label), "quiet", `Remove ${name}`)] : [],
    );
  }

  private remove(label: string): void {
    confirm(
      `Remove the profile ${shown(label)}?`,
      "Devices that were made with it stay as they are.",
      "Remove",
      async () => {
        await profileApi(this.desk.user.username).remove(label);
        await this.load();
      },
    );
  }
}

import { confirm } from "../dialog";
import { html, setText } from "../dom";
import { Field, textInput } from "../field";
import { formDialog } from "../form";
import { formatDate, shown } from "../format";
import { groupApi, type Group, type Membership } from "../group-api";
import { groupDialog } from "../groups/details";
import { accessWords, sizeWords } from "../groups/words";
import type { Desk, Page } from "../page";
import { button, Panel, record, table } from "../panel";
import { deviceLink, streamLink } from "../route";

/** What others do is looked for so often, in seconds. */
const AGAIN_S = 30;

/** One's own groups, those that one is in, and the devices and streams of others that these let one see. */
export class GroupsPage implements Page {
  readonly root: HTMLElement;
  readonly title = "Groups";
  private readonly panels: readonly Panel[];
  private ticks = 0;

  constructor(desk: Desk) {
    const ofOthers = [new DevicesPanel(desk), new StreamsPanel(desk)];
    const memberships = new MembershipsPanel(desk, () => {
      for (const panel of ofOthers) void panel.load();
      void desk.refresh();
    });
    this.panels = [memberships, new OwnPanel(desk), ...ofOthers];
    this.root = html(
      "div",
      { class: "account" },
      html("h2", {}, "Groups"),
      html(
        "p",
        { class: "hint" },
        "People in a group see the devices and streams that are given to it. A device is given under its settings, a stream alone under Share there.",
      ),
      ...this.panels.map((panel) => panel.root),
    );
    for (const panel of this.panels) void panel.load();
  }

  tick(): void {
    this.ticks += 1;
    if (this.ticks % AGAIN_S !== 0 || document.hidden) return;
    for (const panel of this.panels) void panel.load();
  }

  stop(): void {
    for (const panel of this.panels) panel.stop();
  }
}

class OwnPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly empty = html("p", { class: "note" });
  private readonly table = table("groups", ["Group", "In it", "Made"], this.rows);

  constructor(desk: Desk) {
    super(desk, "own-groups", "Your groups");
    if (desk.mayChange) this.tools.append(button("Make a group", () => this.make(), "primary"));
    this.body.append(this.empty, this.table);
  }

  protected override async fill(): Promise<void> {
    const groups = await groupApi(this.desk.user.username).all();
    this.table.hidden = groups.length === 0;
    setText(this.empty, groups.length === 0 ? "No group yet." : "");
    this.rows.replaceChildren(...groups.map((group) => this.row(group)));
  }

  private row(group: Group): HTMLElement {
    const name = shown(group.label);
    const open = () => groupDialog(this.desk, group, () => void this.load());
    return record(
      name,
      [
        ["In it", sizeWords(group)],
        ["Made", formatDate(group.created)],
      ],
      [
        button("Members", open, "quiet", `Members of ${name}`),
        ...(this.desk.mayChange
          ? [button("Delete", () => this.remove(group), "quiet destructive", `Delete ${name}`)]
          : []),
      ],
    );
  }

  private make(): void {
    const label = new Field(textInput("group-label", { required: true, maxlength: 64 }), "Name", {
      about: /label|name/,
    });
    formDialog(this.desk, "Make a group", {
      fields: [label],
      action: "Make group",
      send: async () => {
        const group = await groupApi(this.desk.user.username).make(label.text);
        await this.load();
        groupDialog(this.desk, group, () => void this.load());
      },
    });
  }

  private remove({ id, label }: Group): void {
    confirm(
      `Delete the group ${shown(label)}?`,
      "Its members see the devices and streams that are given to it no more. These stay as they are.",
      "Delete",
      async () => {
        await groupApi(this.desk.user.username).remove(id);
        await this.load();
        await this.desk.refresh();
      },
    );
  }
}

class MembershipsPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly empty = html("p", { class: "note" });
  private readonly table = table("memberships", ["Group", "Of", "You may", "Since"], this.rows);

  constructor(
    desk: Desk,
    private readonly changed: () => void,
  ) {
    super(
      desk,
      "memberships",
      "Groups that you are in",
      "Groups of others, and those that you are invited to.",
    );
    this.body.append(this.empty, this.table);
  }

  protected override async fill(): Promise<void> {
    const memberships = await groupApi(this.desk.user.username).memberships();
    this.table.hidden = memberships.length === 0;
    setText(this.empty, memberships.length === 0 ? "You are in no group of others." : "");
    this.rows.replaceChildren(...memberships.map((membership) => this.row(membership)));
  }

  private row({ id, label, owner, access, joined, since }: Membership): HTMLElement {
    const name = `${shown(label)} of ${shown(owner)}`;
    const api = groupApi(this.desk.user.username);
    return record(
      shown(label),
      [
        ["Of", shown(owner)],
        ["You may", accessWords(access)],
        ["Since", joined ? formatDate(since) : "you are invited"],
      ],
      joined
        ? [button("Leave", () => this.leave(id, name), "quiet destructive", `Leave ${name}`)]
        : [
            button("Join", () => void this.act(() => api.join(id)), "quiet", `Join ${name}`),
            button(
              "Decline",
              () => void this.act(() => api.leave(id)),
              "quiet destructive",
              `Decline ${name}`,
            ),
          ],
    );
  }

  private leave(id: Group["id"], name: string): void {
    confirm(
      `Leave ${name}?`,
      "You see its devices and streams no more, and what you gave to it is taken back.",
      "Leave",
      async () => {
        await groupApi(this.desk.user.username).leave(id);
        await this.load();
        this.changed();
      },
    );
  }

  private async act(deed: () => Promise<unknown>): Promise<void> {
    try {
      await deed();
    } catch (error) {
      this.desk.fail(error);
    }
    await this.load();
    this.changed();
  }
}

/** The devices of others that groups let the user see. */
class DevicesPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly empty = html("p", { class: "note" });
  private readonly table = table("given-devices", ["Device", "Of", "You may", "Description"], this.rows);

  constructor(desk: Desk) {
    super(desk, "given-devices", "Devices of others");
    this.body.append(this.empty, this.table);
  }

  protected override async fill(): Promise<void> {
    const devices = await groupApi(this.desk.user.username).devices();
    this.table.hidden = devices.length === 0;
    setText(this.empty, devices.length === 0 ? "Nobody has given a device to a group that you are in." : "");
    this.rows.replaceChildren(
      ...devices.map((device) =>
        record(
          html("a", { href: deviceLink(device.id) }, shown(device.label)),
          [
            ["Of", shown(device.owner)],
            ["You may", accessWords(device.access)],
            ["Description", shown(device.description)],
          ],
          [],
        ),
      ),
    );
  }
}

/** The single streams of others that groups let the user read. */
class StreamsPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly table = table("given-streams", ["Stream", "Device", "Of", "Description"], this.rows);

  constructor(desk: Desk) {
    super(desk, "given-streams", "Single streams of others");
    this.body.append(this.table);
  }

  protected override async fill(): Promise<void> {
    const streams = await groupApi(this.desk.user.username).streams();
    this.root.hidden = streams.length === 0;
    this.rows.replaceChildren(
      ...streams.map(({ id, label, device, owner, description }) =>
        record(
          html("a", { href: streamLink(id) }, shown(label)),
          [
            ["Device", shown(device)],
            ["Of", shown(owner)],
            ["Description", shown(description)],
          ],
          [],
        ),
      ),
    );
  }
}

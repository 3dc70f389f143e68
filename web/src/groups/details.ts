import { confirm, openDialog } from "../dialog";
import { html } from "../dom";
import { choice, Field, textInput } from "../field";
import { Form } from "../form";
import { formatDate, shown } from "../format";
import { groupApi, type Group, type GroupAccess, type GroupDetails, type GroupMember } from "../group-api";
import type { Desk } from "../page";
import { button, Panel, record, table } from "../panel";
import { nameWords } from "../users/words";
import { ACCESS, accessWords } from "./words";

/** Who is in a group of one's own, and what is given to it. `changed` is told when that is otherwise than before. */
export function groupDialog(desk: Desk, group: Group, changed: () => void): void {
  const panel = new DetailsPanel(desk, group, changed);
  const done = button("Close", () => dialog.close(), "secondary");
  const dialog = openDialog(
    `Group ${shown(group.label)}`,
    panel.root,
    html("div", { class: "buttons" }, done),
  );
  dialog.classList.add("wide");
  dialog.addEventListener("close", () => panel.stop());
  void panel.load();
  done.focus();
}

class DetailsPanel extends Panel {
  private readonly people = html("tbody");
  private readonly devices = html("tbody");
  private readonly deviceTable = table("group-devices", ["Device", "Of", "Since"], this.devices);
  private readonly streams = html("tbody");
  private readonly streamTable = table("group-streams", ["Stream", "Device", "Of", "Since"], this.streams);
  private readonly username = new Field(
    textInput("member-name", { required: true, maxlength: 64 }),
    "User name",
    {
      hint: "The user sees the invitation under Groups. You are not told whether there is such a user.",
      about: /name/,
    },
  );
  private readonly access = new Field(choice("member-access", ACCESS), "May", { about: /access/ });
  private readonly form: Form;

  constructor(
    desk: Desk,
    private readonly group: Group,
    private readonly changed: () => void,
  ) {
    super(
      desk,
      "group",
      "Members",
      "Who has joined sees the devices and streams that are given to the group.",
    );
    this.form = new Form(desk, {
      fields: [this.username, this.access],
      action: "Invite",
      send: () => this.invite(),
    });
    this.body.append(
      table("group-people", ["User", "May", "Since"], this.people),
      ...(desk.mayChange ? [this.form.root] : []),
      this.deviceTable,
      this.streamTable,
    );
  }

  override stop(): void {
    super.stop();
    this.form.stop();
  }

  protected override async fill(): Promise<void> {
    const details = await this.api.show(this.group.id);
    this.people.replaceChildren(...details.people.map((member) => this.person(member, details)));
    this.deviceTable.hidden = details.given.length === 0;
    this.devices.replaceChildren(...details.given.map((device) => this.device(device)));
    this.streamTable.hidden = details.given_streams.length === 0;
    this.streams.replaceChildren(...details.given_streams.map((stream) => this.stream(stream)));
  }

  private get api() {
    return groupApi(this.desk.user.username);
  }

  private person(member: GroupMember, { owner }: GroupDetails): HTMLElement {
    const { username, access, joined, since } = member;
    const [name, called] = [shown(username), nameWords(member)];
    const cells: [string, string][] = [
      ["May", username === owner ? "all, as its owner" : accessWords(access)],
      ["Since", joined ? formatDate(since) : "invited"],
    ];
    if (username === owner || !this.desk.mayChange) return record(called, cells, []);
    const other: GroupAccess = access === "read" ? "change" : "read";
    return record(called, cells, [
      button(
        `Let ${accessWords(other)}`,
        () => void this.act(() => this.api.setMember(this.group.id, username, other)),
        "quiet",
        `Let ${accessWords(other)}: ${name}`,
      ),
      button(
        joined ? "Remove" : "Withdraw",
        () => this.removeMember(username, joined),
        "quiet destructive",
        joined ? `Remove ${name}` : `Withdraw the invitation of ${name}`,
      ),
    ]);
  }

  private device({ id, label, owner, since }: GroupDetails["given"][number]): HTMLElement {
    return record(
      shown(label),
      [
        ["Of", shown(owner)],
        ["Since", formatDate(since)],
      ],
      this.desk.mayChange
        ? [
            button(
              "Remove",
              () => void this.act(() => this.api.removeDevice(this.group.id, id)),
              "quiet destructive",
              `Remove ${shown(label)} of ${shown(owner)}`,
            ),
          ]
        : [],
    );
  }

  private stream({ id, label, device, owner, since }: GroupDetails["given_streams"][number]): HTMLElement {
    const name = shown(label);
    return record(
      name,
      [
        ["Device", shown(device)],
        ["Of", shown(owner)],
        ["Since", formatDate(since)],
      ],
      this.desk.mayChange
        ? [
            button(
              "Remove",
              () => void this.act(() => this.api.removeStream(this.group.id, id)),
              "quiet destructive",
              `Remove ${name} of ${shown(device)} of ${shown(owner)}`,
            ),
          ]
        : [],
    );
  }

  private async invite(): Promise<void> {
    await this.api.setMember(this.group.id, this.username.text, this.access.control.value as GroupAccess);
    this.username.control.value = "";
    await this.load();
    this.changed();
  }

  private removeMember(username: string, joined: boolean): void {
    const gone = async () => {
      await this.api.removeMember(this.group.id, username);
      await this.load();
      this.changed();
    };
    if (!joined) {
      void this.act(gone);
      return;
    }
    confirm(
      `Remove ${shown(username)}?`,
      "The user sees what is given to the group no more, and what the user gave to it is taken back.",
      "Remove",
      gone,
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

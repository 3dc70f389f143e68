import { html, setText } from "../dom";
import { choice, Field } from "../field";
import { Form } from "../form";
import { formatDate, shown } from "../format";
import { groupApi, type Gift, type Membership } from "../group-api";
import type { Desk } from "../page";
import { button, Panel, record, table } from "../panel";
import { LINKS } from "../route";

/** The groups that a device, or a stream alone, is given to. */
export class GroupsPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly empty = html("p", { class: "note" });
  private readonly table: HTMLElement;
  private readonly none = html("p", { class: "note" });
  private readonly group: Field<HTMLSelectElement>;
  private readonly form: Form;

  constructor(
    desk: Desk,
    private readonly gift: Gift,
  ) {
    const what = gift.stream === undefined ? "device" : "stream";
    const seen = what === "device" ? "see the devices" : "read the streams";
    super(desk, `${what}-groups`, "Groups", `The members of a group ${seen} that are given to it.`);
    this.table = table(`${what}-groups`, ["Group", "Of", "Since"], this.rows);
    this.group = new Field(choice(`${what}-group`, []), "Group", { about: /group|devices|streams/ });
    this.form = new Form(desk, {
      fields: [this.group],
      action: "Give it to the group",
      send: async () => {
        await this.api.give(this.gift, Number(this.group.control.value));
        await this.load();
      },
    });
    this.none.append("You are in no other group. ", html("a", { href: LINKS.groups }, "Make one"), ".");
    this.body.append(this.empty, this.table, ...(desk.mayChange ? [this.none, this.form.root] : []));
  }

  override stop(): void {
    super.stop();
    this.form.stop();
  }

  protected override async fill(): Promise<void> {
    const [given, own, memberships] = await Promise.all([
      this.api.of(this.gift),
      this.api.all(),
      this.api.memberships(),
    ]);
    this.table.hidden = given.length === 0;
    setText(this.empty, given.length === 0 ? "It is given to no group." : "");
    this.rows.replaceChildren(...given.map((group) => this.row(group)));
    const known = new Set(given.map(({ id }) => id));
    const others = [
      ...own.map(({ id, label }) => ({ id, name: shown(label) })),
      ...memberships
        .filter(({ joined }) => joined)
        .map(({ id, label, owner }) => ({ id, name: `${shown(label)} of ${shown(owner)}` })),
    ].filter(({ id }) => !known.has(id));
    this.group.control.replaceChildren(...others.map(({ id, name }) => html("option", { value: id }, name)));
    this.form.root.hidden = others.length === 0;
    this.none.hidden = others.length > 0;
  }

  private get api() {
    return groupApi(this.desk.user.username);
  }

  private row({
    id,
    label,
    owner,
    since,
  }: Pick<Membership, "id" | "label" | "owner" | "since">): HTMLElement {
    const name = shown(label);
    return record(
      name,
      [
        ["Of", shown(owner)],
        ["Since", formatDate(since)],
      ],
      this.desk.mayChange
        ? [
            button(
              "Take back",
              () => void this.take(id),
              "quiet destructive",
              `Take back from ${name} of ${shown(owner)}`,
            ),
          ]
        : [],
    );
  }

  private async take(id: Membership["id"]): Promise<void> {
    try {
      await this.api.take(this.gift, id);
    } catch (error) {
      this.desk.fail(error);
    }
    await this.load();
  }
}

import type { Resource, Stream } from "../api";
import { copyField } from "../copy";
import { confirm, openDialog } from "../dialog";
import { html, setText } from "../dom";
import { choice, Field, textInput } from "../field";
import { Form } from "../form";
import { formatDate, shown } from "../format";
import type { Desk } from "../page";
import { button, Panel, record, table } from "../panel";
import { streamLink } from "../route";
import { sharedApi, type StreamToken } from "../shared-api";
import { DAY_MS } from "../time";

const LIVES: readonly (readonly [string, string])[] = [
  ["30", "in 30 days"],
  ["7", "in 7 days"],
  ["365", "in a year"],
  ["", "not by itself"],
];

/** With whom a stream is shared, in few words. */
export function sharingWords({ public_access, public_search }: Stream): string {
  if (public_search) return "public, found by all";
  return public_access ? "public" : "no";
}

/** The address of a link by which whoever has it reads a stream. What stands behind its `#` is sent to no server. */
export function shareAddress(stream: Stream["id"], token: string, here: string): string {
  return `${here.split("#")[0]!}${streamLink(stream, token)}`;
}

/** Who may read a stream: all, or whoever has a link. `changed` is told when that is otherwise than before. */
export function shareDialog(desk: Desk, device: Resource, stream: Stream, changed: () => void): void {
  const name = shown(stream.label);
  const access = check("share-access", "Public to read", stream.public_access ?? false, {
    hint:
      "Everybody, also without signing in, may read it: its name, unit and description, the name of the device, your " +
      "user name, and all its readings.",
    about: /public_access/,
  });
  const search = check("share-search", "Public to find", stream.public_search ?? false, {
    hint: "It is in the list of public streams, with the tags of the device.",
    about: /public_search|found|find/,
  });
  const follow = () => {
    search.control.disabled = !access.control.checked;
    if (!access.control.checked) search.control.checked = false;
  };
  access.control.addEventListener("input", follow);
  follow();
  const form = new Form(desk, {
    fields: [access, search],
    action: "Save",
    done: "Saved.",
    send: async () => {
      const sharing = { public_access: access.control.checked, public_search: search.control.checked };
      await sharedApi.share(desk.user.username, device.id, stream.id, sharing);
      setPublicLink(sharing.public_access);
      changed();
    },
  });
  const publicLink = html("div", {});
  const setPublicLink = (isPublic: boolean) =>
    publicLink.replaceChildren(
      ...(isPublic
        ? [copyField("the address", window.location.href.split("#")[0]! + streamLink(stream.id))]
        : []),
    );
  setPublicLink(stream.public_access ?? false);
  const links = new LinksPanel(desk, device, stream);
  const done = button("Close", () => dialog.close(), "secondary");
  const dialog = openDialog(
    `Share ${name}`,
    form.root,
    publicLink,
    links.root,
    html("div", { class: "buttons" }, done),
  );
  dialog.classList.add("wide");
  dialog.addEventListener("close", () => {
    form.stop();
    links.stop();
  });
  void links.load();
  access.control.focus();
}

function check(id: string, label: string, checked: boolean, options: { hint: string; about: RegExp }): Field {
  const field = new Field(html("input", { id, type: "checkbox" }), label, options);
  field.control.checked = checked;
  return field;
}

/** The links that were made for a stream, and a form for another. */
class LinksPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly table = table("links", ["Link", "Made", "Ends"], this.rows);
  private readonly label = new Field(
    textInput("link-label", { required: true, maxlength: 64, placeholder: "Who gets it" }),
    "Name",
    { about: /label|name/ },
  );
  private readonly life = new Field(choice("link-life", LIVES), "It ends", { about: /ends/ });
  private readonly made = html("div", { role: "status" });
  private readonly form: Form;

  constructor(
    desk: Desk,
    private readonly device: Resource,
    private readonly stream: Stream,
  ) {
    super(
      desk,
      "links",
      "Links",
      "Whoever has a link reads this stream and nothing else, public or not, until you revoke it.",
    );
    this.form = new Form(desk, {
      fields: [this.label, this.life],
      action: "Make a link",
      send: () => this.make(),
    });
    this.body.append(this.made, this.table, this.form.root);
  }

  override stop(): void {
    super.stop();
    this.form.stop();
  }

  protected override async fill(): Promise<void> {
    const tokens = await sharedApi.tokens(this.desk.user.username, this.stream.id);
    this.table.hidden = tokens.length === 0;
    this.rows.replaceChildren(...tokens.map((token) => this.row(token)));
  }

  private row(token: StreamToken): HTMLElement {
    const name = shown(token.label);
    return record(
      name,
      [
        ["Made", formatDate(token.created)],
        ["Ends", token.expires === null ? "not by itself" : formatDate(token.expires)],
      ],
      [button("Revoke", () => this.revoke(token), "quiet destructive", `Revoke ${name}`)],
    );
  }

  private async make(): Promise<void> {
    const days = Number(this.life.control.value);
    const expires = days > 0 ? Date.now() + days * DAY_MS : undefined;
    const { username } = this.desk.user;
    const { token, label } = await sharedApi.makeToken(
      username,
      this.label.text,
      this.device.id,
      this.stream.id,
      expires,
    );
    const address = shareAddress(this.stream.id, token, window.location.href);
    const hint = html("p", { class: "hint" });
    setText(hint, `The link ${shown(label)}, shown this once:`);
    this.made.replaceChildren(hint, copyField("the link", address));
    this.label.control.value = "";
    await this.load();
  }

  private revoke(token: StreamToken): void {
    confirm(
      `Revoke ${shown(token.label)}?`,
      "Whoever has the link is refused from now on, and live charts opened by it end.",
      "Revoke",
      async () => {
        await sharedApi.revokeToken(this.desk.user.username, token.id);
        this.made.replaceChildren();
        await this.load();
      },
    );
  }
}

import type { Token } from "../account-api";
import { part, ROOT, type Resource, type Stream } from "../api";
import { shellWord } from "../command";
import { copyField } from "../copy";
import { confirm, openDialog } from "../dialog";
import { html, setText } from "../dom";
import { choice, Field, textInput } from "../field";
import { Form } from "../form";
import { formatDate, shown } from "../format";
import type { Desk } from "../page";
import { button, Panel, record, table } from "../panel";
import { streamLink } from "../route";
import { sharedApi, type Use } from "../shared-api";
import { DAY_MS } from "../time";
import { GroupsPanel } from "./groups";

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

/** A command line by which whoever has the key `token` posts to a stream, named by ids alone. */
export function postCommand(
  user: string,
  device: Resource["id"],
  stream: Stream["id"],
  token: string,
  here: string,
): string {
  const path = `${ROOT}/users/${part(user)}/resources/${part(device)}/streams/${part(stream)}/data`;
  const address = new URL(path, here).href;
  return `curl -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"value":1}' ${shellWord(address)}`;
}

/** Who may read a stream: all, whoever has a link, or a group; and what may post to it alone. `changed` is told when that is otherwise than before. */
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
  const panels = [
    ...(["read", "post"] as const).map((use) => new StreamTokensPanel(desk, device, stream, use)),
    new GroupsPanel(desk, { device: device.id, stream: stream.id }),
  ];
  const done = button("Close", () => dialog.close(), "secondary");
  const dialog = openDialog(
    `Share ${name}`,
    form.root,
    publicLink,
    ...panels.map((panel) => panel.root),
    html("div", { class: "buttons" }, done),
  );
  dialog.classList.add("wide");
  dialog.addEventListener("close", () => {
    form.stop();
    for (const panel of panels) panel.stop();
  });
  for (const panel of panels) void panel.load();
  access.control.focus();
}

function check(id: string, label: string, checked: boolean, options: { hint: string; about: RegExp }): Field {
  const field = new Field(html("input", { id, type: "checkbox" }), label, options);
  field.control.checked = checked;
  return field;
}

/** What is said of tokens of each use. */
const WORDS: Record<Use, { name: string; one: string; what: string; maker: string; ends: string }> = {
  read: {
    name: "Links",
    one: "link",
    what: "Whoever has a link reads this stream and nothing else, public or not, until you revoke it.",
    maker: "Who gets it",
    ends: "Whoever has the link is refused from now on, and live charts opened by it end.",
  },
  post: {
    name: "Keys",
    one: "key",
    what: "A program that has a key posts to this stream, and reads nothing, until you revoke it.",
    maker: "What posts by it",
    ends: "Whatever posts by this key is refused from now on.",
  },
};

/** The tokens that were made for a stream, for one use of it, and a form for another. */
class StreamTokensPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly table: HTMLElement;
  private readonly label: Field;
  private readonly life: Field<HTMLSelectElement>;
  private readonly made = html("div", { role: "status" });
  private readonly form: Form;

  constructor(
    desk: Desk,
    private readonly device: Resource,
    private readonly stream: Stream,
    private readonly use: Use,
  ) {
    const { name, one, what, maker } = WORDS[use];
    super(desk, `${one}s`, name, what);
    this.table = table(`${one}s`, [name.slice(0, -1), "Made", "Ends"], this.rows);
    this.label = new Field(
      textInput(`${one}-label`, { required: true, maxlength: 64, placeholder: maker }),
      "Name",
      { about: /label|name/ },
    );
    this.life = new Field(choice(`${one}-life`, LIVES), "It ends", { about: /ends/ });
    this.form = new Form(desk, {
      fields: [this.label, this.life],
      action: `Make a ${one}`,
      send: () => this.make(),
    });
    this.body.append(this.made, this.table, this.form.root);
  }

  override stop(): void {
    super.stop();
    this.form.stop();
  }

  protected override async fill(): Promise<void> {
    const tokens = await sharedApi.tokens(this.desk.user.username, this.stream.id, this.use);
    this.table.hidden = tokens.length === 0;
    this.rows.replaceChildren(...tokens.map((token) => this.row(token)));
  }

  private row(token: Token): HTMLElement {
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
    const { one } = WORDS[this.use];
    const { token, label } = await sharedApi.makeToken(
      username,
      this.label.text,
      this.device.id,
      this.stream.id,
      expires,
      this.use,
    );
    const here = window.location.href;
    const hint = html("p", { class: "hint" });
    setText(hint, `The ${one} ${shown(label)}, shown this once:`);
    this.made.replaceChildren(
      hint,
      copyField(`the ${one}`, this.use === "read" ? shareAddress(this.stream.id, token, here) : token),
    );
    if (this.use === "post") {
      const command = postCommand(username, this.device.id, this.stream.id, token, here);
      this.made.append(
        html("p", { class: "hint" }, "A program posts with it so:"),
        copyField("how", command),
      );
    }
    this.label.control.value = "";
    await this.load();
  }

  private revoke(token: Token): void {
    confirm(`Revoke ${shown(token.label)}?`, WORDS[this.use].ends, "Revoke", async () => {
      await sharedApi.revokeToken(this.desk.user.username, token.id);
      this.made.replaceChildren();
      await this.load();
    });
  }
}

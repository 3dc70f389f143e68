import { accountApi, type Scope, type Token } from "../account-api";
import type { Resource } from "../api";
import { copyField } from "../copy";
import { confirm, openDialog } from "../dialog";
import { html, setText } from "../dom";
import { choice, Field, textInput } from "../field";
import { formDialog } from "../form";
import { formatDate, shown } from "../format";
import type { Desk } from "../page";
import { button, Panel, record, table } from "../panel";
import { LINKS } from "../route";
import { DAY_MS } from "../time";

/** Devices that are offered by name; the name of any other can be typed. */
export const MOST_OFFERED = 1_000;
/** When a token or an identity ends by itself, in days. */
export const LIVES: readonly (readonly [string, string])[] = [
  ["90", "in 90 days"],
  ["30", "in 30 days"],
  ["365", "in a year"],
  ["", "not by itself"],
];

/** The tokens by which programs act for the user. A token is shown when it is made, and never again. */
export class TokensPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly empty = html("p", { class: "note" });
  /** The names of the devices, by their ids. */
  private devices = new Map<string, string>();
  private tokens: Token[] = [];
  private readonly table = table("tokens", ["Token", "May", "Made", "Ends"], this.rows);

  constructor(desk: Desk) {
    super(
      desk,
      "tokens",
      "Tokens of programs",
      "A program that has a token acts for you, or for less. Sessions of browsers are not among them.",
    );
    this.tools.append(html("a", { class: "secondary", href: LINKS.api }, "API help"));
    if (desk.mayChange) this.tools.append(button("Make a token", () => this.make()));
    this.body.append(this.empty, this.table);
  }

  know(resources: Resource[]): void {
    this.devices = new Map(resources.map(({ id, label }) => [String(id), label]));
    if (this.tokens.some(({ resource }) => resource !== null)) this.show();
  }

  protected override async fill(): Promise<void> {
    this.tokens = await accountApi.tokens(this.desk.user.username);
    this.show();
  }

  private show(): void {
    this.table.hidden = this.tokens.length === 0;
    setText(this.empty, this.tokens.length === 0 ? "No token yet." : "");
    this.rows.replaceChildren(...this.tokens.map((token) => this.row(token)));
  }

  private row(token: Token): HTMLElement {
    const name = shown(token.label);
    return record(
      name,
      [
        ["May", mayWords(token, this.devices.get(String(token.resource)))],
        ["Made", formatDate(token.created)],
        ["Ends", token.expires === null ? "not by itself" : formatDate(token.expires)],
      ],
      this.desk.mayChange
        ? [button("Revoke", () => this.revoke(token), "quiet destructive", `Revoke ${name}`)]
        : [],
    );
  }

  private make(): void {
    const label = new Field(textInput("token-label", { required: true, maxlength: 64 }), "Name", {
      hint: "Which program has it, such as export-script.",
      about: /label|name/,
    });
    const life = new Field(choice("token-life", LIVES), "It ends", { about: /ends/ });
    const may = new Field(
      choice("token-may", [
        ["all", "Do what I may"],
        ["read", "Only read"],
      ]),
      "It may",
    );
    const device = new Field(
      textInput("token-device", { maxlength: 64, list: "token-devices" }),
      "Only for the device",
      {
        hint: "Empty for all. A token for one device goes with it.",
        about: /resource/,
      },
    );
    const names = [...this.devices.values()].slice(0, MOST_OFFERED);
    formDialog(this.desk, "Make a token", {
      fields: [
        label,
        may,
        device,
        html("datalist", { id: "token-devices" }, ...names.map((value) => html("option", { value }))),
        life,
      ],
      action: "Make token",
      send: async () => {
        const days = Number(life.control.value);
        const expires = days > 0 ? Date.now() + days * DAY_MS : undefined;
        const scope: Scope = { read_only: may.control.value === "read" };
        if (device.text !== "") scope.resource = device.text;
        const made = await accountApi.makeToken(this.desk.user.username, label.text, expires, scope);
        showOnce(made.label, made.token);
        await this.load();
      },
    });
  }

  private revoke(token: Token): void {
    confirm(
      `Revoke ${shown(token.label)}?`,
      "Programs that have it are refused from now on, and their live feeds end.",
      "Revoke",
      async () => {
        await accountApi.revokeToken(this.desk.user.username, token.id);
        await this.load();
      },
    );
  }
}

/** What a token or an identity may do; `device` is the name of the only one that it is for. */
export function mayWords(
  { read_only, resource, stream, write_only }: Pick<Token, "read_only" | "resource"> & Partial<Token>,
  device: string | undefined,
): string {
  const of = typeof stream === "number" || typeof stream === "string" ? " one stream" : "";
  const what = write_only ? "post to" : read_only ? "read" : "do all";
  if (of !== "") return `${what}${of} of ${shown(device ?? `device ${resource}`)}`;
  return resource === null ? what : `${what} of ${shown(device ?? `device ${resource}`)}`;
}

function showOnce(label: string, token: string): void {
  const done = button("Done", () => dialog.close(), "primary");
  const dialog = openDialog(
    `The token ${shown(label)}`,
    html("p", { class: "hint" }, "Shown this once. The cloud keeps only what it is known by."),
    copyField("the token", token),
    html(
      "p",
      { class: "hint" },
      "A program sends it as the header ",
      html("code", {}, "Authorization: Bearer TOKEN"),
      ".",
    ),
    html("div", { class: "buttons" }, done),
  );
  done.focus();
}

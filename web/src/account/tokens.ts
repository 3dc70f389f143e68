import { accountApi, type Token } from "../account-api";
import { copyField } from "../copy";
import { confirm, openDialog } from "../dialog";
import { html, setText } from "../dom";
import { choice, Field, textInput } from "../field";
import { formDialog } from "../form";
import { formatDate, shown } from "../format";
import type { Desk } from "../page";
import { button, Panel, record, table } from "../panel";
import { DAY_MS } from "../time";

const LIVES: readonly (readonly [string, string])[] = [
  ["90", "in 90 days"],
  ["30", "in 30 days"],
  ["365", "in a year"],
  ["", "not by itself"],
];

/** The tokens by which programs act for the user. A token is shown when it is made, and never again. */
export class TokensPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly empty = html("p", { class: "note" });
  private readonly table = table("tokens", ["Token", "Made", "Ends"], this.rows);

  constructor(desk: Desk) {
    super(
      desk,
      "tokens",
      "Tokens of programs",
      "A program that has a token may do whatever you may. Sessions of browsers are not among them.",
    );
    this.tools.append(button("Make a token", () => this.make()));
    this.body.append(this.empty, this.table);
  }

  protected override async fill(): Promise<void> {
    const tokens = await accountApi.tokens(this.desk.user.username);
    this.table.hidden = tokens.length === 0;
    setText(this.empty, tokens.length === 0 ? "No token yet." : "");
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

  private make(): void {
    const label = new Field(textInput("token-label", { required: true, maxlength: 64 }), "Name", {
      hint: "Which program has it, such as export-script.",
      about: /label|name/,
    });
    const life = new Field(choice("token-life", LIVES), "It ends", { about: /ends/ });
    formDialog(this.desk, "Make a token", {
      fields: [label, life],
      action: "Make token",
      send: async () => {
        const days = Number(life.control.value);
        const expires = days > 0 ? Date.now() + days * DAY_MS : undefined;
        const made = await accountApi.makeToken(this.desk.user.username, label.text, expires);
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

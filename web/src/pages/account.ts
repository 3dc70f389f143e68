import { EmailPanel } from "../account/email";
import { PasswordPanel } from "../account/password";
import { TokensPanel } from "../account/tokens";
import { html } from "../dom";
import { shown } from "../format";
import type { Desk, Page } from "../page";

/** The user's own account. */
export class AccountPage implements Page {
  readonly root: HTMLElement;
  readonly title = "Account";
  private readonly password: PasswordPanel;
  private readonly email: EmailPanel;
  private readonly tokens: TokensPanel;

  constructor(desk: Desk) {
    const { username, admin } = desk.user;
    this.password = new PasswordPanel(desk);
    this.email = new EmailPanel(desk);
    this.tokens = new TokensPanel(desk);
    this.root = html(
      "div",
      { class: "account" },
      html("h2", {}, "Account"),
      html(
        "p",
        { class: "hint" },
        `You are signed in as ${shown(username)}${admin ? ", an administrator" : ""}.`,
      ),
      html("div", { class: "beside" }, this.password.root, this.email.root),
      this.tokens.root,
    );
    void this.email.load();
    void this.tokens.load();
  }

  stop(): void {
    for (const panel of [this.password, this.email, this.tokens]) panel.stop();
  }
}

import { accountApi } from "../account-api";
import { confirm } from "../dialog";
import { html } from "../dom";
import type { Desk } from "../page";
import { button, Panel } from "../panel";
import { usageWords } from "../users/quotas";

/** What is kept of the user: how much, all of it to take along, and its end. */
export class OwnDataPanel extends Panel {
  private readonly facts = html("dl", { class: "facts" });

  constructor(desk: Desk) {
    super(desk, "own-data", "Your data", "What you have, and how much you may have.");
    const { username } = desk.user;
    this.tools.append(
      html(
        "a",
        { class: "secondary", href: accountApi.exportUrl(username), download: "sixlock-export.jsonl" },
        "Export all",
      ),
    );
    // A viewer changes nothing of theirs, and so does not end it.
    if (desk.mayChange)
      this.tools.append(button("Erase account", () => this.erase(), "secondary destructive"));
    this.body.append(this.facts);
  }

  protected override async fill(): Promise<void> {
    const usage = usageWords(await accountApi.quotas(this.desk.user.username));
    this.facts.replaceChildren(
      ...usage.map(([name, words]) => html("div", {}, html("dt", {}, name), html("dd", {}, words))),
    );
  }

  private erase(): void {
    const { username } = this.desk.user;
    confirm(
      "Erase your account?",
      "All your devices, readings, rules, tokens and keys are deleted with it, and you are signed out. This cannot be undone.",
      "Erase",
      async () => {
        await accountApi.deleteUser(username);
        this.desk.leave("Your account and all that was in it are erased.");
      },
      username,
    );
  }
}

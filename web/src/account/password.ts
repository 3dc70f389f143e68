import { api, ApiError } from "../api";
import { html, setText } from "../dom";
import type { Desk } from "../page";
import { Refusal } from "../refusal";

export const SHORTEST_PASSWORD = 8;

/** Here a user changes their own password. */
export class PasswordPanel {
  readonly root: HTMLElement;
  private readonly current = password("current-password", "current-password");
  private readonly chosen = password("new-password", "new-password");
  private readonly again = password("new-password-again", "new-password");
  private readonly change = html("button", { type: "submit", class: "primary" }, "Change password");
  private readonly refusal = new Refusal(this.change);
  private readonly done = html("p", { class: "done", role: "status", hidden: true });

  constructor(private readonly desk: Desk) {
    const { username } = desk.user;
    const form = html(
      "form",
      {},
      // Password managers want to know whose password it is.
      html("input", { autocomplete: "username", value: username, hidden: true }),
      html("label", { for: this.current.id }, "Present password"),
      this.current,
      html("label", { for: this.chosen.id }, "New password"),
      this.chosen,
      html("p", { class: "hint" }, `At least ${SHORTEST_PASSWORD} characters.`),
      html("label", { for: this.again.id }, "New password again"),
      this.again,
      this.refusal.root,
      this.done,
      html("div", { class: "buttons" }, this.change),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.send();
    });
    this.root = html(
      "section",
      { class: "panel password", "aria-labelledby": "password-heading" },
      html("h2", { id: "password-heading" }, "Change the password"),
      html("p", { class: "hint" }, "Your sessions in other browsers end. Tokens of programs stay good."),
      form,
    );
  }

  stop(): void {
    this.refusal.clear();
  }

  private async send(): Promise<void> {
    this.refusal.clear();
    this.done.hidden = true;
    const { username } = this.desk.user;
    const wrong = mistake(username, this.chosen.value, this.again.value);
    if (wrong) {
      this.refusal.say(wrong);
      this.chosen.focus();
      return;
    }
    this.change.disabled = true;
    try {
      await api.changePassword(username, this.current.value, this.chosen.value);
      for (const field of [this.current, this.chosen, this.again]) field.value = "";
      this.change.disabled = false;
      this.done.hidden = false;
      setText(this.done, "Your password is changed. Your sessions in other browsers have ended.");
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.refusal.show(error);
      if (error.code === "wrong_password") {
        this.refusal.say("The present password is not right.");
        this.current.value = "";
        this.current.focus();
      }
      if (error.signedOut) this.desk.fail(error);
    }
  }
}

/** What can be said of a new password without asking the cloud. */
export function mistake(username: string, chosen: string, again: string): string | undefined {
  if (new TextEncoder().encode(chosen).length < SHORTEST_PASSWORD) {
    return `The new password is too short: take ${SHORTEST_PASSWORD} characters or more.`;
  }
  if (chosen === username) return "The new password is your user name: take another.";
  if (chosen !== again) return "The two new passwords differ.";
  return undefined;
}

function password(id: string, autocomplete: string): HTMLInputElement {
  return html("input", { id, type: "password", autocomplete, required: true, maxlength: 256 });
}

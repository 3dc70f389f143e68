import { accountApi, type SecondFactor } from "../account-api";
import { copyField } from "../copy";
import { openDialog } from "../dialog";
import { html, setText } from "../dom";
import { Field, textInput } from "../field";
import { formDialog } from "../form";
import type { Desk } from "../page";
import { button, Panel } from "../panel";

/** One-time codes, which are asked for beside the password. */
export class SecondFactorPanel extends Panel {
  private readonly state = html("p", { class: "note", role: "status" });

  constructor(desk: Desk) {
    super(
      desk,
      "second-factor",
      "One-time codes",
      "A program on your telephone shows a code, which is asked for beside your password (TOTP).",
    );
    this.body.append(this.state);
  }

  protected override async fill(): Promise<void> {
    const state = await accountApi.secondFactor(this.desk.user.username);
    setText(this.state, stateWords(state));
    this.tools.replaceChildren(
      state.confirmed
        ? button("Stop asking for codes", () => this.remove(), "secondary destructive")
        : button("Set up one-time codes", () => this.begin()),
    );
  }

  private begin(): void {
    const { username } = this.desk.user;
    const password = passwordField();
    formDialog(this.desk, "Set up one-time codes", {
      fields: [
        ownerOf(username),
        html("p", { class: "hint" }, "It is your account: type your password first."),
        password,
      ],
      action: "Go on",
      send: async () => {
        const made = await accountApi.beginSecondFactor(username, password.control.value);
        this.confirm(made.secret, made.uri);
      },
    });
  }

  /** Shows the secret, and asks for its present code. */
  private confirm(secret: string, uri: string): void {
    const code = new Field(
      textInput("first-code", { autocomplete: "one-time-code", inputmode: "numeric", required: true }),
      "The six digits that it shows now",
      { about: /code/ },
    );
    formDialog(this.desk, "Set up one-time codes", {
      fields: [
        html(
          "p",
          { class: "hint" },
          "On a telephone, ",
          html("a", { href: uri }, "open this in the program for codes"),
          ". Elsewhere, type the secret into it, or copy the address if it takes one. Both are shown this once.",
        ),
        html("h3", {}, "Secret"),
        copyField("the secret", secret),
        html("h3", {}, "Address"),
        copyField("the address", uri),
        code,
      ],
      action: "Ask for codes",
      send: async () => {
        const { recovery_codes } = await accountApi.confirmSecondFactor(
          this.desk.user.username,
          code.text.replaceAll(" ", ""),
        );
        showRecoveryCodes(recovery_codes);
        await this.load();
      },
    });
    code.control.focus();
  }

  private remove(): void {
    const password = passwordField();
    formDialog(this.desk, "Stop asking for codes?", {
      fields: [
        ownerOf(this.desk.user.username),
        html("p", { class: "hint" }, "Your password alone is enough from then on. Recovery codes end, too."),
        password,
      ],
      action: "Stop asking",
      send: async () => {
        await accountApi.removeSecondFactor(this.desk.user.username, password.control.value);
        await this.load();
      },
    });
  }
}

/** Password managers want to know whose password it is. */
function ownerOf(username: string): HTMLElement {
  return html("input", { autocomplete: "username", value: username, hidden: true });
}

function passwordField(): Field {
  return new Field(
    html("input", {
      id: "present-password",
      type: "password",
      autocomplete: "current-password",
      required: true,
      maxlength: 256,
    }),
    "Present password",
    { about: /password/ },
  );
}

/** Whether codes are asked for, in words. */
export function stateWords({ confirmed, recovery_codes }: SecondFactor): string {
  if (!confirmed) return "Your password alone is enough to sign in.";
  const left =
    recovery_codes === 0
      ? "No recovery code is left: set codes up anew to have ten."
      : `${recovery_codes} recovery ${recovery_codes === 1 ? "code is" : "codes are"} left.`;
  return `A code is asked for when you sign in. ${left}`;
}

function showRecoveryCodes(codes: string[]): void {
  const done = button("Done", () => dialog.close(), "primary");
  const dialog = openDialog(
    "Recovery codes",
    html(
      "p",
      { class: "hint" },
      "Codes are asked for from now on. If you lose the telephone, each of these is good once in place of a code. Shown this once: keep them elsewhere.",
    ),
    copyField("the recovery codes", codes.join("\n")),
    html("div", { class: "buttons" }, done),
  );
  done.focus();
}

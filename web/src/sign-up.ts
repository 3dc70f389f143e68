import { accountApi } from "./account-api";
import { mistake } from "./account/password";
import { api, ApiError } from "./api";
import { html, mark } from "./dom";
import { Field, textInput } from "./field";
import { Form } from "./form";

/** The page on which people make an account for themselves; `back` leads to signing in. */
export function signUpPage(signedIn: () => void, back: () => void): HTMLElement {
  const username = new Field(
    textInput("sign-up-name", { autocomplete: "username", required: true, maxlength: 64 }),
    "User name",
    {
      hint: "Letters of the English alphabet, digits, dots, hyphens and underscores.",
      about: /^(a|this) username/,
    },
  );
  const email = new Field(
    html("input", { id: "sign-up-email", type: "email", autocomplete: "email", maxlength: 254 }),
    "E-mail address",
    { hint: "Empty for none.", about: /email/ },
  );
  const secret = (id: string, label: string, hint?: string) =>
    new Field(
      html("input", { id, type: "password", autocomplete: "new-password", required: true, maxlength: 256 }),
      label,
      hint === undefined ? {} : { hint, about: /password/ },
    );
  const password = secret("sign-up-password", "Password", "At least 8 characters.");
  const again = secret("sign-up-again", "Password again");
  const form = new Form(
    { fail: () => undefined },
    {
      fields: [username, email, password, again],
      action: "Make the account",
      send: async () => {
        const wrong = mistake(username.text, password.control.value, again.control.value);
        if (wrong) throw new ApiError(0, wrong);
        await accountApi.signUp(username.text, password.control.value, email.text);
        await api.login(username.text, password.control.value);
        form.stop();
        signedIn();
      },
    },
  );
  const other = html("button", { type: "button", class: "quiet" }, "Sign in");
  other.addEventListener("click", () => {
    form.stop();
    back();
  });
  return html(
    "main",
    { class: "sign-in" },
    html("div", { class: "brand" }, mark(), html("h1", {}, "Sixlock")),
    html("h2", {}, "Make an account"),
    form.root,
    html("p", {}, "You have one already? ", other),
  );
}

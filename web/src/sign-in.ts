import { accountApi } from "./account-api";
import { api, ApiError } from "./api";
import { html, mark } from "./dom";
import { shown } from "./format";
import { Refusal } from "./refusal";
import { signUpPage } from "./sign-up";

/**
 * The page for those whom the cloud does not know: it says how to sign in, and lets them. Who was in before is
 * told `why` they no longer are.
 */
export function signInPage(why: string, signedIn: () => void): HTMLElement {
  const username = html("input", {
    id: "username",
    name: "username",
    autocomplete: "username",
    autocapitalize: "none",
    spellcheck: "false",
    required: true,
  });
  const password = html("input", {
    id: "password",
    name: "password",
    type: "password",
    autocomplete: "current-password",
    required: true,
  });
  const code = html("input", {
    id: "code",
    name: "code",
    autocomplete: "one-time-code",
    autocapitalize: "none",
    spellcheck: "false",
  });
  // Only who has a second factor is asked for a code.
  const second = html("div", { hidden: true }, html("label", { for: "code" }, "One-time code"), code);
  const button = html("button", { type: "submit", class: "primary" }, "Sign in");
  const refusal = new Refusal(button);
  const form = html(
    "form",
    {},
    html("label", { for: "username" }, "User name"),
    username,
    html("label", { for: "password" }, "Password"),
    password,
    second,
    refusal.root,
    button,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    refusal.clear();
    try {
      await api.login(username.value, password.value, second.hidden ? undefined : code.value);
      signedIn();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusal.show(error);
      if (error.code === "code_needed" || error.code === "wrong_code") {
        if (second.hidden) refusal.say("Type the code that your phone shows, or a recovery code.");
        second.hidden = false;
        code.value = "";
        code.focus();
        return;
      }
      if (error.code === "wrong_password") refusal.say("User name or password is wrong.");
      password.value = "";
      password.focus();
    }
  });
  const signUp = html("button", { type: "button", class: "quiet" }, "Make an account");
  const provider = html("p", { class: "provider", hidden: true });
  const newcomers = html("p", { hidden: true }, "You have none yet? ", signUp);
  const page = html(
    "main",
    { class: "sign-in" },
    html("div", { class: "brand" }, mark(), html("h1", {}, "Sixlock")),
    html("p", { class: "why", role: "status", hidden: why === "" }, why),
    html("h2", {}, "Sign in to see your devices"),
    form,
    provider,
    newcomers,
    html("p", { class: "or", "aria-hidden": "true" }, html("span", {}, "or without a password")),
    html(
      "p",
      {},
      "When ",
      html("code", {}, "sixlock"),
      " starts, it says where its sign-in link is. Open that in this browser: it works once.",
    ),
  );
  signUp.addEventListener("click", () => {
    const other = signUpPage(signedIn, () => {
      other.replaceWith(page);
      username.focus();
    });
    page.replaceWith(other);
    other.querySelector("input")?.focus();
  });
  accountApi.waysIn().then(
    ({ allowed, oidc }) => {
      newcomers.hidden = !allowed;
      if (oidc === undefined) return;
      provider.replaceChildren(
        html("a", { class: "secondary", href: oidc.path }, `Sign in with ${shown(oidc.label)}`),
      );
      provider.hidden = false;
    },
    // Whoever has an account signs in all the same.
    () => undefined,
  );
  return page;
}

/** The page while the cloud cannot be reached at all. */
export function unreachablePage(error: ApiError, retry: () => void): HTMLElement {
  const button = html("button", { type: "button", class: "primary" }, "Try now");
  button.addEventListener("click", retry);
  return html(
    "main",
    { class: "sign-in" },
    html("div", { class: "brand" }, mark(), html("h1", {}, "Sixlock")),
    html("h2", {}, "The dashboard has no connection"),
    html("p", { role: "alert" }, error.words),
    html(
      "p",
      {},
      "Check that ",
      html("code", {}, "sixlock"),
      " is running. This page tries again every few seconds.",
    ),
    button,
  );
}

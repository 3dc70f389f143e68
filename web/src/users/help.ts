import { accountApi } from "../account-api";
import { ApiError, type User } from "../api";
import { copyField } from "../copy";
import { openDialog } from "../dialog";
import { html, setText } from "../dom";
import { formatWhen, shown } from "../format";
import type { Desk } from "../page";
import { button } from "../panel";

/** For a user who cannot sign in: a link that sets a new password, and the end of a second factor that was lost. */
export function helpDialog(desk: Desk, { username }: User): void {
  const problem = html("p", { class: "problem", role: "alert" });
  const link = html("div", {});
  const make = button("Make a reset link", () => void makeLink(), "primary");
  const factor = html("p", { class: "hint", role: "status" }, "Looking for a second factor.");
  const remove = button("Remove the second factor", () => void removeFactor(), "secondary destructive");
  remove.hidden = true;
  const accounts = html("p", { class: "hint", role: "status" }, "Looking for accounts at providers.");
  const unlink = button("Unlink the provider", () => void unlinkProvider(), "secondary destructive");
  unlink.hidden = true;
  const close = button("Close", () => dialog.close());
  const dialog = openDialog(
    `${shown(username)} cannot sign in`,
    html(
      "p",
      { class: "hint" },
      "Whoever opens the link sets a new password, once and within an hour. A link that was made before ends. " +
        "Hand it over by a way that you trust: the cloud sends nothing.",
    ),
    link,
    html("h3", {}, "Second factor"),
    factor,
    html("h3", {}, "Provider"),
    accounts,
    problem,
    html("div", { class: "buttons" }, close, unlink, remove, make),
  );
  make.focus();

  const attempt = async (act: () => Promise<void>) => {
    setText(problem, "");
    try {
      await act();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setText(problem, error.words);
      desk.fail(error);
    }
  };
  const look = () =>
    attempt(async () => {
      const { confirmed, recovery_codes } = await accountApi.secondFactor(username);
      remove.hidden = !confirmed;
      setText(
        factor,
        confirmed
          ? `One-time codes are asked for; ${recovery_codes} recovery codes are left. Remove it if the user has lost both.`
          : "None: no one-time code is asked for.",
      );
    });
  const makeLink = () =>
    attempt(async () => {
      const { path, expires } = await accountApi.makeResetLink(username);
      link.replaceChildren(
        copyField("the link", `${window.location.origin}${path}`),
        html("p", { class: "hint" }, `Shown this once. Good until ${formatWhen(expires)}.`),
      );
      setText(make, "Make another link");
    });
  const removeFactor = () =>
    attempt(async () => {
      await accountApi.removeSecondFactor(username);
      close.focus();
      await look();
    });
  const lookForAccounts = () =>
    attempt(async () => {
      const { links } = await accountApi.oidcLinks(username);
      unlink.hidden = links.length === 0;
      const named = links.map(({ issuer, subject }) => `${shown(subject)} at ${shown(issuer)}`);
      setText(
        accounts,
        links.length === 0
          ? "None: the user signs in by the password alone."
          : `The user signs in as ${named.join(", and as ")}.`,
      );
    });
  const unlinkProvider = () =>
    attempt(async () => {
      await accountApi.unlinkOidc(username);
      close.focus();
      await lookForAccounts();
    });
  void look();
  void lookForAccounts();
}

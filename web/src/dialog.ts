import { ApiError } from "./api";
import { html, setText } from "./dom";

/** Opens a dialog; it leaves the page when it is closed. */
export function openDialog(title: string, ...content: (Node | string)[]): HTMLDialogElement {
  const heading = html("h2", { id: "dialog-heading" }, title);
  const dialog = html("dialog", { "aria-labelledby": "dialog-heading" }, heading, ...content);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Closes what is open: the page that opened it is left. */
export function closeDialogs(): void {
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
}

/** Asks before something is done that cannot be undone. `act` does it; what it refuses is shown. */
export function confirm(title: string, words: string, action: string, act: () => Promise<void>): void {
  const problem = html("p", { class: "problem", role: "alert" });
  const cancel = html("button", { type: "button", class: "secondary" }, "Cancel");
  const go = html("button", { type: "button", class: "danger" }, action);
  const dialog = openDialog(
    title,
    html("p", {}, words),
    problem,
    html("div", { class: "buttons" }, cancel, go),
  );
  cancel.addEventListener("click", () => dialog.close());
  go.addEventListener("click", async () => {
    go.disabled = true;
    setText(problem, "");
    try {
      await act();
      dialog.close();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setText(problem, error.words);
      go.disabled = false;
    }
  });
}

import { html } from "./dom";

/** Opens a dialog; it leaves the page when it is closed. */
export function openDialog(title: string, ...content: (Node | string)[]): HTMLDialogElement {
  const heading = html("h2", { id: "dialog-heading" }, title);
  const dialog = html("dialog", { "aria-labelledby": "dialog-heading" }, heading, ...content);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

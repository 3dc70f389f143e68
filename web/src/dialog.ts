import { ApiError } from "./api";
import { html, setText } from "./dom";
import { shown } from "./format";

/** Opens a dialog; it leaves the page when it is closed, and the focus goes back to where it came from. */
export function openDialog(title: string, ...content: (Node | string)[]): HTMLDialogElement {
  const heading = html("h2", { id: "dialog-heading" }, title);
  const dialog = html("dialog", { "aria-labelledby": "dialog-heading" }, heading, ...content);
  const opener = document.activeElement;
  dialog.addEventListener("close", () => {
    dialog.remove();
    // The browser gives the focus back to the opener, unless that was replaced meanwhile.
    if (opener && !opener.isConnected) successor(opener)?.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** What stands in the place of a button that is gone: one of the same name, or else the content of the page. */
function successor(gone: Element): HTMLElement | null {
  const content = document.getElementById("content");
  const name = gone.getAttribute("aria-label");
  const same =
    name === null ? null : content?.querySelector<HTMLElement>(`[aria-label="${CSS.escape(name)}"]`);
  return same ?? content;
}

/** Closes what is open: the page that opened it is left. */
export function closeDialogs(): void {
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
}

/**
 * Asks before something is done that cannot be undone. `act` does it; what it refuses is shown. With a `name`, that
 * must be typed first; `what` says what it is.
 */
export function confirm(
  title: string,
  words: string,
  action: string,
  act: () => Promise<void>,
  name?: string,
  what = "its name",
): void {
  const problem = html("p", { class: "problem", role: "alert" });
  const cancel = html("button", { type: "button", class: "secondary" }, "Cancel");
  // A name with characters that cannot be seen cannot be typed.
  const must = name !== undefined && shown(name) === name;
  const go = html("button", { type: "submit", class: "danger", disabled: must }, action);
  const form = html(
    "form",
    {},
    html("p", {}, words),
    ...(must ? typed(name, what, go) : []),
    problem,
    html("div", { class: "buttons" }, cancel, go),
  );
  const dialog = openDialog(title, form);
  cancel.addEventListener("click", () => dialog.close());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
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

/** A field for the name of what is to go: with it, `go` may be pressed. */
function typed(name: string, what: string, go: HTMLButtonElement): HTMLElement[] {
  const field = html("input", {
    id: "typed-name",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
  });
  field.addEventListener("input", () => {
    go.disabled = field.value.trim() !== name.trim();
  });
  const label = html("label", { for: "typed-name" }, `To go on, type ${what}: `, html("strong", {}, name));
  return [label, field];
}

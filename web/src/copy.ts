import { html, setText } from "./dom";

const SAID_MS = 2_000;

/** A text to take along, with a button that copies it. */
export function copyField(name: string, text: string): HTMLElement {
  const code = html("code", { class: "copy-text", tabindex: 0 }, text);
  const button = html("button", { type: "button", class: "secondary", "aria-label": `Copy ${name}` }, "Copy");
  const said = html("span", { class: "spoken", role: "status" });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      setText(button, "Copied");
      setText(said, `Copied ${name}`);
    } catch {
      // Only pages at loopback or over HTTPS may write to the clipboard: by hand, then.
      window.getSelection()?.selectAllChildren(code);
      setText(button, "Selected");
      setText(said, `Selected ${name}`);
    }
    window.setTimeout(() => {
      setText(button, "Copy");
      setText(said, "");
    }, SAID_MS);
  });
  return html("div", { class: "copy" }, code, button, said);
}

import { html, padlock } from "./dom";

/** A security mode in its spelling of the command line, with an open or a closed padlock. */
export class ModeBadge {
  readonly root = html("span", { class: "badge", hidden: true });
  private mode: string | undefined;

  update(mode: string): void {
    if (mode === this.mode) return;
    this.mode = mode;
    this.root.hidden = false;
    const open = mode === "none" || mode === "";
    const text = open ? "no security" : mode;
    this.root.classList.toggle("open", open);
    this.root.replaceChildren(
      padlock(!open),
      html("span", { class: "spoken" }, "Security mode: "),
      html("span", {}, text),
    );
  }
}

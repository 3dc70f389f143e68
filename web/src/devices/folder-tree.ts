import { ApiError } from "../api";
import { html, setText } from "../dom";
import { fleetApi, type Group } from "../fleet-api";
import { formatCount, shown } from "../format";
import type { Desk } from "../page";

/** The folders that devices are in, each opened when a person wants to see what is in it. */
export class FolderTree {
  readonly root = html("nav", { class: "folders", "aria-label": "Folders", hidden: true });
  private readonly open = new Set<string>();

  /** `chosen` is told which folder a person wants to see the devices of. */
  constructor(
    private readonly desk: Desk,
    private readonly chosen: (folder: string) => void,
  ) {}

  /** Shows the folders right below the top; `current` is the one whose devices are shown. */
  show(top: readonly Group[], current: string): void {
    // Also where the last one is gone, as long as it is chosen.
    this.root.hidden = top.length === 0 && current === "";
    for (const folder of ancestors(current)) this.open.add(folder);
    this.root.replaceChildren(
      html("ul", {}, html("li", {}, this.link("", "All folders", current)), ...this.items(top, "", current)),
    );
  }

  private items(groups: readonly Group[], above: string, current: string): HTMLElement[] {
    return groups.map((group) => {
      const folder = above === "" ? group.name : `${above}/${group.name}`;
      const below = html("div");
      const toggle = html("button", { type: "button", class: "quiet toggle" });
      const turn = (open: boolean) => {
        toggle.setAttribute("aria-expanded", String(open));
        toggle.setAttribute("aria-label", `Folders in ${shown(folder)}`);
        setText(toggle, open ? "▾" : "▸");
        below.hidden = !open;
        if (open) this.open.add(folder);
        else this.open.delete(folder);
        if (open && below.childElementCount === 0) void this.fill(below, folder, current);
      };
      toggle.addEventListener("click", () => turn(below.hidden));
      turn(this.open.has(folder));
      const words = html("span", { class: "counted" }, ` ${counted(group)}`);
      return html("li", {}, toggle, this.link(folder, group.name, current), words, below);
    });
  }

  /** Fetches the folders below `folder`. */
  private async fill(below: HTMLElement, folder: string, current: string): Promise<void> {
    try {
      const { folders } = await fleetApi(this.desk.user.username).look({ folder }, { limit: 1 });
      below.replaceChildren(
        folders.length === 0
          ? html("p", { class: "hint" }, "No folders in it")
          : html("ul", {}, ...this.items(folders, folder, current)),
      );
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      below.replaceChildren(html("p", { class: "problem" }, error.words));
      this.desk.fail(error);
    }
  }

  private link(folder: string, name: string, current: string): HTMLElement {
    const pressed = folder === current;
    const button = html(
      "button",
      { type: "button", class: "quiet", "aria-pressed": String(pressed) },
      shown(name),
    );
    button.addEventListener("click", () => this.chosen(folder));
    return button;
  }
}

/** How many devices are below a folder, and how many of them are silent. */
export function counted({ devices, silent }: Group): string {
  return silent === 0 ? formatCount(devices) : `${formatCount(devices)}, ${formatCount(silent)} silent`;
}

/** The folders above a folder, the highest first. */
export function ancestors(folder: string): string[] {
  const names = folder.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

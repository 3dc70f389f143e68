import { ApiError } from "../api";
import { html, setText } from "../dom";
import { fleetApi, type Group } from "../fleet-api";
import { formatCount, shown } from "../format";
import type { Desk } from "../page";

/** The folders that devices are in, each opened when a person wants to see what is in it. */
export class FolderTree {
  readonly root = html("nav", { class: "folders", "aria-label": "Folders", hidden: true });
  private readonly open = new Set<string>();
  private readonly known = new KnownFolders();
  private current: { folder: string; below: readonly Group[] } = { folder: "", below: [] };

  /** `chosen` is told which folder a person wants to see the devices of. */
  constructor(
    private readonly desk: Desk,
    private readonly chosen: (folder: string) => void,
  ) {}

  /** Devices have changed: what is below folders that are open is asked for again. */
  forget(): void {
    this.known.forget();
  }

  /** Shows the folders right below the top; `current` is the one whose devices are shown, and `below` the folders right below that. */
  show(top: readonly Group[], current: string, below: readonly Group[]): void {
    this.current = { folder: current, below };
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
        if (open && below.childElementCount === 0) void this.fill(below, folder, group);
      };
      toggle.addEventListener("click", () => turn(below.hidden));
      turn(this.open.has(folder));
      const words = html("span", { class: "counted" }, ` ${counted(group)}`);
      return html("li", {}, toggle, this.link(folder, group.name, current), words, below);
    });
  }

  /** Shows the folders below `folder`, which are fetched where nobody has told them. */
  private async fill(below: HTMLElement, folder: string, group: Group): Promise<void> {
    const { current } = this;
    if (folder === current.folder) this.known.keep(folder, group, current.below);
    try {
      let folders = this.known.below(folder, group);
      if (!folders) {
        ({ folders } = await fleetApi(this.desk.user.username).look({ folder }, { limit: 1 }));
        this.known.keep(folder, group, folders);
      }
      below.replaceChildren(
        folders.length === 0
          ? html("p", { class: "hint" }, "No folders in it")
          : html("ul", {}, ...this.items(folders, folder, this.current.folder)),
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

/** What the cloud has told of folders below others. It stands for as long as no number of the folder above them changes. */
export class KnownFolders {
  private readonly known = new Map<string, { numbers: string; below: readonly Group[] }>();

  /** `group` is `folder` with its numbers, as they are now. */
  below(folder: string, group: Group): readonly Group[] | undefined {
    const known = this.known.get(folder);
    return known?.numbers === JSON.stringify(group) ? known.below : undefined;
  }

  keep(folder: string, group: Group, below: readonly Group[]): void {
    this.known.set(folder, { numbers: JSON.stringify(group), below });
  }

  forget(): void {
    this.known.clear();
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

import { api, type Resource } from "./api";
import { confirm } from "./dialog";
import { html } from "./dom";
import { shown } from "./format";
import type { Desk } from "./page";
import { button } from "./panel";
import { replaceKey } from "./replace-key";
import { LINKS, settingsLink } from "./route";

/** What can be done with a device, beside its name. */
export function deviceActions(desk: Desk, device: () => Resource): HTMLElement {
  return html(
    "div",
    { class: "actions" },
    html("a", { class: "secondary", href: settingsLink(device().id) }, "Settings"),
    ...(desk.mayChange
      ? [
          button("Replace key", () => replaceKey(desk, device())),
          button("Delete device", () => deleteDevice(desk, device()), "secondary destructive"),
        ]
      : []),
  );
}

function deleteDevice(desk: Desk, { id, label, heard }: Resource): void {
  confirm(
    `Delete ${shown(label)}?`,
    "Its readings are deleted with it, and its key opens nothing any more. This cannot be undone.",
    "Delete",
    async () => {
      await api.deleteResource(desk.user.username, id);
      // The list first: the next page asks for what is in it.
      await desk.refresh();
      desk.go(LINKS.devices);
    },
    // What was never heard takes no readings along.
    heard === null ? undefined : label,
  );
}

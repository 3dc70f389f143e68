import { accountApi } from "../account-api";
import type { Role, User } from "../api";
import { html } from "../dom";
import { choice, Field } from "../field";
import { formDialog } from "../form";
import { shown } from "../format";
import type { Desk } from "../page";

export const ROLES: readonly (readonly [Role, string])[] = [
  ["administrator", "Administrator: everything, of everybody"],
  ["member", "Member: reads and changes their own"],
  ["viewer", "Viewer: reads their own"],
];

/** Asks what a user may do. */
export function roleDialog(desk: Desk, user: User, done: () => Promise<void>): void {
  const role = new Field(choice("role", ROLES), "Role", { about: /administrator|role/ });
  role.control.value = user.role;
  formDialog(desk, `What ${shown(user.username)} may do`, {
    fields: [
      role,
      html(
        "p",
        { class: "hint" },
        "It takes effect at once. A viewer changes nothing but their own password, address and second factor; their devices go on.",
      ),
    ],
    action: "Set role",
    send: async () => {
      await accountApi.setRole(user.username, role.control.value as Role);
      await done();
    },
  });
}

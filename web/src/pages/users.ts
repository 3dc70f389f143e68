import { accountApi } from "../account-api";
import type { Role, User } from "../api";
import { confirm } from "../dialog";
import { html, setText } from "../dom";
import { choice, Field, textInput } from "../field";
import { formDialog } from "../form";
import { formatCount, formatDate, shown } from "../format";
import type { Desk, Page } from "../page";
import { button, Panel, record, table } from "../panel";
import { LINKS } from "../route";
import { helpDialog } from "../users/help";
import { quotasDialog } from "../users/quotas";
import { roleDialog, ROLES } from "../users/role";
import { nameWords } from "../users/words";

/** Rows shown at first, and more with each step. */
const STEP = 100;

/** All users, for administrators. */
export class UsersPage implements Page {
  readonly root: HTMLElement;
  readonly title = "Users";
  private readonly panel: UsersPanel;

  constructor(desk: Desk) {
    this.panel = new UsersPanel(desk);
    this.root = this.panel.root;
    void this.panel.load();
  }

  stop(): void {
    this.panel.stop();
  }
}

class UsersPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly table = table("users", ["User", "E-mail", "Role", "Added", "Last sign-in"], this.rows);
  private readonly count = html("p", { class: "count", role: "status" });
  private readonly more = button("", () => this.showMore(), "secondary more");
  private readonly search = html("input", {
    type: "search",
    id: "user-search",
    placeholder: "Name or e-mail",
  });
  private users: User[] = [];
  private most = STEP;

  constructor(desk: Desk) {
    super(desk, "users", "Users");
    this.tools.append(
      html("label", { for: "user-search", class: "spoken" }, "Search"),
      this.search,
      html("a", { class: "secondary", href: LINKS.statistics }, "Statistics"),
      button("Add a user", () => this.add(), "primary"),
    );
    this.body.append(this.count, this.table, this.more);
    this.search.addEventListener("input", () => {
      this.most = STEP;
      this.show();
    });
  }

  protected override async fill(): Promise<void> {
    this.users = await accountApi.users();
    this.show();
  }

  private showMore(): void {
    this.most += STEP;
    this.show();
  }

  private show(): void {
    const found = matchingUsers(this.users, this.search.value);
    const all = formatCount(this.users.length);
    setText(
      this.count,
      found.length === this.users.length ? `${all} in all` : `${formatCount(found.length)} of ${all}`,
    );
    this.table.hidden = found.length === 0;
    this.rows.replaceChildren(...found.slice(0, this.most).map((user) => this.row(user)));
    this.more.hidden = found.length <= this.most;
    setText(this.more, `Show ${formatCount(Math.min(STEP, found.length - this.most))} more`);
  }

  private row(user: User): HTMLElement {
    const name = shown(user.username);
    const called = nameWords(user);
    const own = user.username === this.desk.user.username;
    const cells: [string, string][] = [
      ["E-mail", shown(user.email)],
      ["Role", roleWords(user)],
      ["Added", formatDate(user.created)],
      ["Last sign-in", user.last_sign_in === null ? "never" : formatDate(user.last_sign_in)],
    ];
    // One's own password is changed with the present one, under Account.
    if (own) return record(`${called} (you)`, cells, []);
    return record(called, cells, [
      button("Role", () => roleDialog(this.desk, user, () => this.load()), "quiet", `Role of ${name}`),
      user.disabled
        ? button("Enable", () => this.enable(user), "quiet", `Enable ${name}`)
        : button("Disable", () => this.disable(user), "quiet", `Disable ${name}`),
      button("Quotas", () => quotasDialog(this.desk, user), "quiet", `Quotas of ${name}`),
      button("Reset link", () => helpDialog(this.desk, user), "quiet", `Reset link for ${name}`),
      button("Set password", () => this.setPassword(user), "quiet", `Set password of ${name}`),
      button("Remove", () => this.remove(user), "quiet destructive", `Remove ${name}`),
    ]);
  }

  private add(): void {
    const username = new Field(textInput("new-username", { required: true, maxlength: 64 }), "User name", {
      about: /^(a name|this username)/,
    });
    const email = new Field(
      html("input", { id: "new-email", type: "email", autocomplete: "off", maxlength: 254 }),
      "E-mail address",
      { hint: "Empty for none.", about: /email/ },
    );
    const password = passwordField("first-password", "Password");
    const role = new Field(choice("new-role", ROLES), "Role", { about: /role/ });
    role.control.value = "member";
    formDialog(this.desk, "Add a user", {
      fields: [username, email, role, password],
      action: "Add user",
      send: async () => {
        await accountApi.addUser(
          username.text,
          password.control.value,
          email.text,
          role.control.value as Role,
        );
        await this.load();
      },
    });
  }

  private setPassword({ username }: User): void {
    const password = passwordField("set-password", "New password");
    formDialog(this.desk, `A new password for ${shown(username)}`, {
      fields: [
        password,
        html("p", { class: "hint" }, "All sessions of the user end. Tokens of programs stay good."),
      ],
      action: "Set password",
      send: async () => {
        await accountApi.setPassword(username, password.control.value);
      },
    });
  }

  private disable({ username }: User): void {
    confirm(
      `Disable ${shown(username)}?`,
      "The user is signed out and not let in, and neither are their tokens, until you enable the account. What is theirs stays, and their devices go on.",
      "Disable",
      async () => {
        await accountApi.setDisabled(username, true);
        await this.load();
      },
    );
  }

  private enable({ username }: User): void {
    confirm(
      `Enable ${shown(username)}?`,
      "The user may sign in again, and their tokens are good.",
      "Enable",
      async () => {
        await accountApi.setDisabled(username, false);
        await this.load();
      },
    );
  }

  private remove({ username }: User): void {
    confirm(
      `Remove ${shown(username)}?`,
      "All devices and readings of the user are deleted, and their tokens and keys are good no more. This cannot be undone.",
      "Remove",
      async () => {
        await accountApi.deleteUser(username);
        await this.load();
      },
      username,
    );
  }
}

function passwordField(id: string, label: string): Field {
  return new Field(
    html("input", { id, type: "password", autocomplete: "new-password", required: true, maxlength: 256 }),
    label,
    {
      hint: "8 characters or more. Tell it to the user by a way that others cannot read.",
      about: /password/,
    },
  );
}

/** What a user may do, and whether they are let in. */
export function roleWords({ role, disabled, pending }: Pick<User, "role" | "disabled" | "pending">): string {
  const more = disabled ? ", disabled" : pending ? ", not signed in yet" : "";
  return `${role}${more}`;
}

/** The users whose names or address contain `text`. */
export function matchingUsers(users: User[], text: string): User[] {
  const word = text.trim().toLowerCase();
  return users.filter(({ username, display_name, email }) =>
    `${username} ${display_name} ${email}`.toLowerCase().includes(word),
  );
}

import { accountApi } from "../account-api";
import { api } from "../api";
import { html } from "../dom";
import { Field } from "../field";
import { Form } from "../form";
import type { Desk } from "../page";
import { Panel } from "../panel";

/** The user's own e-mail address, and how they want to be called. */
export class EmailPanel extends Panel {
  private readonly address = new Field(
    html("input", { id: "email", type: "email", autocomplete: "email", maxlength: 254 }),
    "E-mail address",
    { hint: "Empty for none. Administrators see it in the list of users.", about: /email/ },
  );
  private readonly called = new Field(
    html("input", { id: "display-name", type: "text", autocomplete: "name", maxlength: 64 }),
    "Display name",
    {
      hint: "Empty for none. Members of your groups see it beside your user name, and administrators do.",
      about: /display/,
    },
  );
  private readonly form: Form;

  constructor(desk: Desk) {
    super(desk, "email", "Name and e-mail");
    this.form = new Form(desk, {
      fields: [this.called, this.address],
      action: "Save name and address",
      send: async () => {
        const about = { email: this.address.text, display_name: this.called.text };
        await accountApi.changeUser(desk.user.username, about);
      },
      done: "Saved.",
    });
    this.body.append(this.form.root);
  }

  override stop(): void {
    super.stop();
    this.form.stop();
  }

  protected override async fill(): Promise<void> {
    const { email, display_name } = await api.me();
    this.address.control.value = email;
    this.called.control.value = display_name;
  }
}

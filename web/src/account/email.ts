import { accountApi } from "../account-api";
import { api } from "../api";
import { html } from "../dom";
import { Field } from "../field";
import { Form } from "../form";
import type { Desk } from "../page";
import { Panel } from "../panel";

/** The user's own e-mail address. */
export class EmailPanel extends Panel {
  private readonly address = new Field(
    html("input", { id: "email", type: "email", autocomplete: "email", maxlength: 254 }),
    "E-mail address",
    { hint: "Empty for none.", about: /email/ },
  );
  private readonly form: Form;

  constructor(desk: Desk) {
    super(desk, "email", "E-mail", "Administrators see it in the list of users.");
    this.form = new Form(desk, {
      fields: [this.address],
      action: "Save address",
      send: async () => {
        await accountApi.changeEmail(desk.user.username, this.address.text);
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
    this.address.control.value = (await api.me()).email;
  }
}

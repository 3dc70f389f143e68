import type { Resource } from "../api";
import type { DeviceApi } from "../device-api";
import { html } from "../dom";
import { Field, textInput } from "../field";
import { Form } from "../form";
import type { Desk } from "../page";

/** What a device is called, and what its owner says about it. */
export class About {
  readonly root: HTMLElement;
  private readonly label = new Field(textInput("device-label", { required: true, maxlength: 64 }), "Name", {
    hint: "The identity and the key stay as they are: the device need not be told.",
    about: /label|name/,
  });
  private readonly description = new Field(
    html("textarea", { id: "device-description", rows: 2, maxlength: 256 }),
    "Description",
    { about: /description/ },
  );
  private readonly form: Form;

  constructor(desk: Desk, api: DeviceApi, resource: Resource) {
    this.label.control.value = resource.label;
    this.description.control.value = resource.description;
    this.form = new Form(desk, {
      fields: [this.label, this.description],
      action: "Save",
      send: async () => {
        await api.change({ label: this.label.text, description: this.description.text });
        await desk.refresh();
      },
      done: "Saved.",
    });
    this.root = html(
      "section",
      { class: "panel about", "aria-labelledby": "about-heading" },
      html("h2", { id: "about-heading" }, "Name and description"),
      this.form.root,
    );
  }

  stop(): void {
    this.form.stop();
  }
}

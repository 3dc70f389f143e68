import type { Resource } from "../api";
import type { DeviceApi } from "../device-api";
import { html } from "../dom";
import { DurationField } from "../duration-field";
import { Field, textInput } from "../field";
import { tagsIn } from "../fleet-api";
import { Form } from "../form";
import type { Desk } from "../page";
import { button } from "../panel";
import { makeProfile } from "./make-profile";

/** What a device is called, what its owner says about it, and by what it is found. */
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
  private readonly tags = new Field(textInput("device-tags"), "Tags", {
    hint: "With a comma between two: at most 16, of 40 characters each. The device is found by them.",
    about: /tag/,
  });
  private readonly folder = new Field(textInput("device-folder", { maxlength: 256 }), "Folder", {
    hint: "Names with a slash between two, such as house 1/attic.",
    about: /folder/,
  });
  private readonly period: DurationField;
  private readonly form: Form;

  constructor(desk: Desk, api: DeviceApi, resource: Resource) {
    this.label.control.value = resource.label;
    this.description.control.value = resource.description;
    this.tags.control.value = resource.tags.join(", ");
    this.folder.control.value = resource.folder;
    this.period = new DurationField("device-period", "Reports every", resource.period_s ?? 0, {
      hint: "It is silent when nothing comes for three times as long. Without a number, that is reckoned by its polling, or it is an hour.",
      about: /period/,
    });
    if (resource.period_s === null) this.period.control.value = "";
    this.form = new Form(desk, {
      fields: [this.label, this.description, this.tags, this.folder, this.period],
      action: "Save",
      send: async () => {
        const { seconds } = this.period;
        await api.change({
          label: this.label.text,
          description: this.description.text,
          tags: tagsIn(this.tags.text),
          folder: this.folder.text,
          period_s: Number.isNaN(seconds) ? null : seconds,
        });
        await desk.refresh();
      },
      done: "Saved.",
    });
    this.root = html(
      "section",
      { class: "panel about", "aria-labelledby": "about-heading" },
      html(
        "header",
        { class: "panel-head" },
        html("h2", { id: "about-heading" }, "Name, description, tags and folder"),
        ...(desk.mayChange ? [button("Make a profile of it", () => makeProfile(desk, api, resource))] : []),
      ),
      this.form.root,
    );
  }

  stop(): void {
    this.form.stop();
  }
}

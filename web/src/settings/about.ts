import { ApiError, type Place, type Resource } from "../api";
import type { DeviceApi } from "../device-api";
import { html } from "../dom";
import { DurationField } from "../duration-field";
import { Field, textInput } from "../field";
import { tagsIn } from "../fleet-api";
import { Form } from "../form";
import type { Desk } from "../page";
import { button } from "../panel";
import { makeProfile } from "./make-profile";

/** What the fields say. */
export type Said = Pick<Resource, "label" | "description" | "tags" | "folder" | "period_s" | "place">;

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
  private readonly place = new Field(textInput("device-place"), "Place", {
    hint: "Latitude and longitude in degrees, such as 57.70, 11.96. South and west are below 0.",
    about: /[Pp]lace|latitude|longitude/,
  });
  private readonly form: Form;
  /** What the fields said when they were filled in, or sent. */
  private before: Said;

  constructor(desk: Desk, api: DeviceApi, resource: Resource) {
    this.label.control.value = resource.label;
    this.description.control.value = resource.description;
    this.tags.control.value = resource.tags.join(", ");
    this.folder.control.value = resource.folder;
    this.period = new DurationField("device-period", "Reports every", resource.period_s ?? 0, {
      hint: "It is silent when nothing comes for three times as long, or for a minute if that is longer. Without a number, that is reckoned by its polling, or it is an hour.",
      about: /period/,
    });
    if (resource.period_s === null) this.period.control.value = "";
    const { place } = resource;
    this.place.control.value = place === null ? "" : `${place.latitude}, ${place.longitude}`;
    this.before = this.said();
    this.form = new Form(desk, {
      fields: [this.label, this.description, this.tags, this.folder, this.period, this.place],
      action: "Save",
      send: async () => {
        const said = this.said();
        await api.change(changes(this.before, said));
        this.before = said;
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

  private said(): Said {
    const { seconds } = this.period;
    return {
      label: this.label.text,
      description: this.description.text,
      tags: tagsIn(this.tags.text),
      folder: this.folder.text,
      period_s: Number.isNaN(seconds) ? null : seconds,
      place: placeIn(this.place.text),
    };
  }

  stop(): void {
    this.form.stop();
  }
}

/** What of `said` is otherwise than `before`: the rest is not sent, as others may have changed it meanwhile. */
export function changes(before: Said, said: Said): Partial<Said> {
  const isOther = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(before[name as keyof Said]);
  return Object.fromEntries(Object.entries(said).filter(isOther));
}

/** The place in a text; null where nothing is written. */
export function placeIn(text: string): Place | null {
  if (text.trim() === "") return null;
  const parts = text.split(/[\s,;]+/).filter(Boolean);
  const [latitude, longitude] = parts.map(Number);
  if (parts.length !== 2 || !Number.isFinite(latitude) || !Number.isFinite(longitude))
    throw new ApiError(400, "A place is a latitude and a longitude, such as 57.70, 11.96.");
  return { latitude: latitude!, longitude: longitude! };
}

import { api, ApiError, type Resource, type Stream } from "../api";
import { html, setText } from "../dom";
import { textInput } from "../field";
import { shown } from "../format";
import { button } from "../panel";

let count = 0;

/** One input of an expression: its name there, and the stream that it stands for. */
export class InputRow {
  readonly root: HTMLElement;
  readonly number: number;
  readonly name: HTMLInputElement;
  private readonly device: HTMLInputElement;
  private readonly stream: HTMLSelectElement;
  private readonly problem = html("p", { class: "field-problem", role: "alert" });
  private readonly spare: { name: string; stream: Stream["id"] | undefined };
  private turn = 0;

  constructor(
    private readonly user: string,
    private readonly all: readonly Resource[],
    /** Which input it is, and the name, the device and the stream that it has already. */
    present: { number: number; name: string; device: string; stream?: Stream["id"] | undefined },
    private readonly changed: () => void,
    remove: (row: InputRow) => void,
  ) {
    count += 1;
    this.number = present.number;
    this.spare = { name: present.name, stream: present.stream };
    const id = (part: string) => `input-${count}-${part}`;
    this.name = textInput(id("name"), { value: present.name, required: true, maxlength: 32 });
    this.device = textInput(id("device"), { value: present.device, list: "all-devices", required: true });
    this.stream = html("select", { id: id("stream"), required: true });
    const labelled = (words: string, control: HTMLElement) =>
      html("div", {}, html("label", { for: control.id }, words), control);
    this.root = html(
      "div",
      { class: "input-row", role: "group", "aria-label": `Input ${present.number}` },
      labelled("Name", this.name),
      labelled("Device", this.device),
      labelled("Stream", this.stream),
      button("Remove", () => remove(this), "quiet destructive", `Remove input ${present.number}`),
      this.problem,
    );
    this.name.addEventListener("input", () => this.changed());
    this.device.addEventListener("change", () => void this.offer());
    this.stream.addEventListener("change", () => this.chosen());
    void this.offer();
  }

  /** What it stands for, once that is chosen. */
  get reference(): { resource: string; stream: string } | undefined {
    const device = this.found();
    const stream = this.stream.value;
    return device && stream !== "" ? { resource: String(device.id), stream } : undefined;
  }

  private found(): Resource | undefined {
    const label = this.device.value.trim();
    return this.all.find((known) => known.label === label);
  }

  /** Offers the streams of the device that is named. */
  private async offer(): Promise<void> {
    const turn = ++this.turn;
    const device = this.found();
    this.stream.replaceChildren();
    if (!device) {
      setText(this.problem, "There is no device of this name.");
      this.changed();
      return;
    }
    setText(this.problem, "");
    try {
      // Nothing is computed from texts.
      const streams = (await api.streams(this.user, device.id)).filter(
        ({ value_type }) => value_type !== "text",
      );
      if (turn !== this.turn) return;
      this.stream.replaceChildren(
        html("option", { value: "" }, streams.length === 0 ? "It has no stream" : "Choose a stream"),
        ...streams.map(({ id, label }) => html("option", { value: String(id) }, shown(label))),
      );
      const { stream } = this.spare;
      if (stream !== undefined && streams.some(({ id }) => String(id) === String(stream))) {
        this.stream.value = String(stream);
      }
      this.changed();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setText(this.problem, error.words);
    }
  }

  /** A name for a stream that was just chosen, unless the person has given one. */
  private chosen(): void {
    if (this.name.value.trim() === "" || this.name.value === this.spare.name) {
      const label = this.stream.selectedOptions[0]?.textContent ?? "";
      if (this.stream.value !== "") this.name.value = this.spare.name = nameFor(label);
    }
    this.changed();
  }
}

/** A name that an expression may use for a stream of this label. */
export function nameFor(label: string): string {
  const name = label
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 32);
  return /^[a-z]/.test(name) ? name : `s${name}`;
}

import { ApiError, type Resource } from "../api";
import { confirm } from "../dialog";
import { html, setText } from "../dom";
import { DurationField } from "../duration-field";
import { Field, textInput } from "../field";
import { fleetApi, tagsIn, type Change, type Changed, type Chosen, type Selection } from "../fleet-api";
import { formDialog } from "../form";
import { formatCount } from "../format";
import type { Desk } from "../page";
import { button } from "../panel";

const DAY_S = 86_400;

/** What can be done with the devices that are chosen, or with all that are found. */
export class Bulk {
  readonly root = html("div", { class: "bulk", role: "group", "aria-label": "Chosen devices", hidden: true });
  private readonly count = html("p", { role: "status" });
  private readonly all = html("button", { type: "button", class: "quiet" });
  private readonly result = html("p", { class: "done", role: "status" });
  private readonly picked = new Set<string>();
  private ids = new Map<string, Resource["id"]>();
  /** Not only those that were picked, but all that are found. */
  private isAll = false;
  private found = 0;
  private selection: Selection = {};

  /** `changed` is told when devices are otherwise than before, `picks` when others are chosen. */
  constructor(
    private readonly desk: Desk,
    private readonly changed: () => void,
    private readonly picks: () => void,
  ) {
    this.all.addEventListener("click", () => {
      this.isAll = !this.isAll;
      if (!this.isAll) this.picked.clear();
      this.update();
      this.picks();
    });
    const act = (words: string, open: () => void, kind = "secondary") => button(words, open, kind);
    this.root.append(
      this.count,
      this.all,
      html(
        "div",
        { class: "bulk-actions" },
        act("Add tags", () => this.tags("tag", "Add tags", "Add")),
        act("Remove tags", () => this.tags("untag", "Remove tags", "Remove")),
        act("Move", () => this.move()),
        act("Keep readings for", () => this.keep()),
        act("Pause polling", () => void this.send({ kind: "pause_polls" })),
        act("Resume polling", () => void this.send({ kind: "resume_polls" })),
        act("Delete", () => this.remove(), "secondary destructive"),
      ),
      this.result,
    );
  }

  isPicked(id: Resource["id"]): boolean {
    return this.isAll || this.picked.has(String(id));
  }

  pick(id: Resource["id"], picked: boolean): void {
    if (this.isAll) {
      // One less than all are those that are shown.
      this.isAll = false;
      for (const shown of this.ids.keys()) this.picked.add(shown);
    }
    if (picked) this.picked.add(String(id));
    else this.picked.delete(String(id));
    setText(this.result, "");
    this.update();
    this.picks();
  }

  /** Others are looked for: what was chosen before is not any more. */
  forget(): void {
    this.picked.clear();
    this.isAll = false;
    setText(this.result, "");
    this.update();
  }

  /** What is found, and which of it is shown. */
  show(selection: Selection, found: number, shown: readonly Resource[]): void {
    this.selection = selection;
    this.found = found;
    this.ids = new Map(shown.map(({ id }) => [String(id), id]));
    for (const id of this.picked) if (!this.ids.has(id)) this.picked.delete(id);
    this.update();
  }

  private get number(): number {
    return this.isAll ? this.found : this.picked.size;
  }

  private update(): void {
    const { number } = this;
    this.root.hidden = number === 0 && this.result.textContent === "";
    this.root.classList.toggle("none", number === 0);
    setText(this.count, number === 1 ? "1 device chosen" : `${formatCount(number)} devices chosen`);
    this.all.hidden = !this.isAll && this.found <= this.picked.size;
    setText(this.all, this.isAll ? "Choose none" : `Choose all ${formatCount(this.found)} that are found`);
  }

  private get chosen(): Chosen {
    if (this.isAll) return { matching: this.selection };
    return { devices: [...this.picked].map((id) => this.ids.get(id)!) };
  }

  private async change(change: Change): Promise<void> {
    const { user } = this.desk;
    const answer = await fleetApi(user.username).change(this.chosen, this.number, change);
    setText(this.result, changedWords(change, answer));
    this.update();
    this.changed();
  }

  /** Does what needs no further question; what is refused stands where the result would. */
  private async send(change: Change): Promise<void> {
    try {
      await this.change(change);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setText(this.result, error.words);
      this.desk.fail(error);
    }
  }

  private tags(kind: "tag" | "untag", title: string, action: string): void {
    const field = new Field(textInput("bulk-tags", { required: true }), "Tags", {
      hint: "With a comma between two. A device has at most 16 tags, of 40 characters each.",
      about: /tag/,
    });
    const send = () => this.change({ kind, tags: tagsIn(field.text) });
    formDialog(this.desk, title, { fields: [field], action, send });
  }

  private move(): void {
    const field = new Field(textInput("bulk-folder", { maxlength: 256 }), "Folder", {
      hint: "Names with a slash between two, such as house 1/attic. Without one, they are in no folder.",
      about: /folder/,
    });
    const send = () => this.change({ kind: "move", folder: field.text });
    formDialog(this.desk, "Move to a folder", { fields: [field], action: "Move", send });
  }

  private keep(): void {
    const time = new DurationField("bulk-keep", "Keep readings for", 90 * DAY_S, {
      hint: "Of all streams that these devices have. Without a number, for ever.",
      about: /keep/,
    });
    const discard = new Field(
      html("input", { id: "bulk-discard", type: "checkbox" }),
      "Discard older readings",
      {
        hint: "Where there are older ones already, nothing changes unless they may go.",
        about: /discard/,
      },
    );
    const send = () => {
      const keep_s = Number.isNaN(time.seconds) ? null : time.seconds;
      return this.change({ kind: "keep", keep_s, discard: discard.control.checked });
    };
    formDialog(this.desk, "Keep readings", { fields: [time, discard], action: "Save", send });
  }

  private remove(): void {
    const { number } = this;
    confirm(
      number === 1 ? "Delete 1 device?" : `Delete ${formatCount(number)} devices?`,
      "Their readings are deleted with them, and their keys open nothing any more. This cannot be undone.",
      "Delete",
      () => this.change({ kind: "delete" }),
      String(number),
      "how many they are",
    );
  }
}

/** What came of a change, in words. */
export function changedWords({ kind }: Change, { matched, changed }: Changed): string {
  const done = {
    tag: "tagged",
    untag: "untagged",
    move: "moved",
    pause_polls: "polled no more",
    resume_polls: "polled again",
    keep: "changed",
    delete: "deleted",
  }[kind];
  const count = `${formatCount(changed)} of ${formatCount(matched)} ${matched === 1 ? "device" : "devices"} ${done}`;
  const rest = kind === "pause_polls" || kind === "resume_polls" ? "not polled, or so already" : "so already";
  return changed === matched ? `${count}.` : `${count}; the others were ${rest}.`;
}

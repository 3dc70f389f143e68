import { ApiError, type Resource } from "../api";
import { confirm } from "../dialog";
import { html, setText } from "../dom";
import { DurationField } from "../duration-field";
import { Field, textInput } from "../field";
import { fleetApi, tagsIn, type Change, type Changed, type Selection } from "../fleet-api";
import { formDialog } from "../form";
import { formatCount } from "../format";
import type { Desk } from "../page";
import { button } from "../panel";
import { allFound, type Choice } from "./choice";

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
  /** All that are found are being asked for. */
  private choosing = false;
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
    // What is chosen stays what it is now, however long the dialog is open and whatever comes meanwhile.
    const act = (words: string, open: (choice: Choice) => void, kind = "secondary") =>
      button(words, () => void this.choose(open), kind);
    this.root.append(
      this.count,
      this.all,
      html(
        "div",
        { class: "bulk-actions" },
        act("Add tags", (choice) => this.tags(choice, "tag", "Add tags", "Add")),
        act("Remove tags", (choice) => this.tags(choice, "untag", "Remove tags", "Remove")),
        act("Move", (choice) => this.move(choice)),
        act("Keep readings for", (choice) => this.keep(choice)),
        act("Pause polling", (choice) => void this.send(choice, { kind: "pause_polls" })),
        act("Resume polling", (choice) => void this.send(choice, { kind: "resume_polls" })),
        act("Delete", (choice) => this.remove(choice), "secondary destructive"),
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

  /** Does `act` with what is chosen now. */
  private async choose(act: (choice: Choice) => void): Promise<void> {
    const { number } = this;
    if (number === 0 || this.choosing) return;
    if (!this.isAll) {
      act({ chosen: { devices: [...this.picked].map((id) => this.ids.get(id)!) }, number });
      return;
    }
    this.choosing = true;
    try {
      const choice = await allFound(fleetApi(this.desk.user.username).look, this.selection, number);
      // The page may have been left meanwhile.
      if (this.root.isConnected) act(choice);
    } catch (error) {
      this.refused(error);
      this.changed();
    } finally {
      this.choosing = false;
    }
  }

  private async change({ chosen, number }: Choice, change: Change): Promise<void> {
    const { user } = this.desk;
    const answer = await fleetApi(user.username).change(chosen, number, change);
    setText(this.result, changedWords(change, answer));
    this.update();
    this.changed();
  }

  /** Does what needs no further question. */
  private async send(choice: Choice, change: Change): Promise<void> {
    try {
      await this.change(choice, change);
    } catch (error) {
      this.refused(error);
    }
  }

  /** What is refused stands where the result would. */
  private refused(error: unknown): void {
    if (!(error instanceof ApiError)) throw error;
    setText(this.result, error.words);
    this.desk.fail(error);
  }

  private tags(choice: Choice, kind: "tag" | "untag", title: string, action: string): void {
    const field = new Field(textInput("bulk-tags", { required: true }), "Tags", {
      hint: "With a comma between two. A device has at most 16 tags, of 40 characters each.",
      about: /tag/,
    });
    const send = () => this.change(choice, { kind, tags: tagsIn(field.text) });
    formDialog(this.desk, title, { fields: [field], action, send });
  }

  private move(choice: Choice): void {
    const field = new Field(textInput("bulk-folder", { maxlength: 256 }), "Folder", {
      hint: "Names with a slash between two, such as house 1/attic. Without one, they are in no folder.",
      about: /folder/,
    });
    const send = () => this.change(choice, { kind: "move", folder: field.text });
    formDialog(this.desk, "Move to a folder", { fields: [field], action: "Move", send });
  }

  private keep(choice: Choice): void {
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
      return this.change(choice, { kind: "keep", keep_s, discard: discard.control.checked });
    };
    formDialog(this.desk, "Keep readings", { fields: [time, discard], action: "Save", send });
  }

  private remove(choice: Choice): void {
    const { number } = choice;
    confirm(
      number === 1 ? "Delete 1 device?" : `Delete ${formatCount(number)} devices?`,
      "Their readings are deleted with them, and their keys open nothing any more. This cannot be undone.",
      "Delete",
      () => this.change(choice, { kind: "delete" }),
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

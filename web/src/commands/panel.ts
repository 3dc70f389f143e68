import { moment } from "../alerts/parts";
import { ApiError, type Resource } from "../api";
import { commandApi, type Command, type CommandApi } from "../command-api";
import { html, setText } from "../dom";
import { formatCount, shown } from "../format";
import { mayChangeDevice, ownerOf } from "../group-api";
import type { Desk } from "../page";
import { button, Panel, record, table } from "../panel";
import { commandDialog } from "./form";
import { actuators, resultWords, valueWords } from "./words";

/** Rows shown at first, and more with each step. */
const STEP = 10;
/** After how long it is looked again, where the cloud cannot tell of the outcome itself. */
const PAUSE_MS = 5_000;

/** What a device is to be set to: what waits, and what came of the last ones. */
export class CommandsPanel extends Panel {
  private readonly api: CommandApi;
  private readonly rows = html("tbody");
  private readonly empty = html("p", { class: "note" });
  private readonly problem = html("p", { class: "problem", role: "alert" });
  private readonly told = html("p", { class: "spoken", role: "status" });
  private readonly table = table(
    "commands",
    ["What is set", "Value", "State", "Given", "Result", "Until"],
    this.rows,
  );
  private readonly more = button("", () => this.showMore(), "secondary more");
  private readonly stopping = new AbortController();
  private commands: Command[] = [];
  private most = STEP;
  private following = false;

  constructor(
    desk: Desk,
    private readonly device: Resource,
  ) {
    super(
      desk,
      "commands",
      "Commands",
      "A device that speaks DTLS is told when it is heard next; one that the cloud polls by coaps, at once.",
    );
    this.api = commandApi(ownerOf(device, desk.user.username), device.id);
    if (this.mayChange) this.tools.append(button("Set a value", () => this.ask()));
    this.body.append(this.problem, this.told, this.empty, this.table, this.more);
  }

  private get mayChange(): boolean {
    return mayChangeDevice(this.desk.mayChange, this.device);
  }

  override stop(): void {
    super.stop();
    this.stopping.abort();
  }

  protected override async fill(): Promise<void> {
    this.commands = await this.api.commands();
    this.show();
    void this.follow();
  }

  private showMore(): void {
    this.most += STEP;
    this.show();
  }

  private show(): void {
    const focused = document.activeElement?.getAttribute("aria-label");
    this.table.hidden = this.commands.length === 0;
    setText(this.empty, this.commands.length === 0 ? "Nothing was set yet." : "");
    this.rows.replaceChildren(...this.commands.slice(0, this.most).map((command) => this.row(command)));
    for (const button of this.rows.querySelectorAll("button")) {
      if (focused && button.getAttribute("aria-label") === focused) button.focus();
    }
    this.more.hidden = this.commands.length <= this.most;
    setText(this.more, `Show ${formatCount(Math.min(STEP, this.commands.length - this.most))} more`);
  }

  private row(command: Command): HTMLElement {
    const { actuator, value, state, author, created, expires, ended } = command;
    const name = shown(actuator);
    return record(
      name,
      [
        ["Value", shown(valueWords(value))],
        ["State", html("span", { class: `state ${state}` }, state)],
        ["Given", moment(created), ` by ${shown(author)}`],
        ["Result", resultWords(command)],
        state === "queued"
          ? ["Until", "given up ", moment(expires)]
          : ["Until", ...(ended === null ? [] : ["ended ", moment(ended)])],
      ],
      state === "queued" && this.mayChange
        ? [button("Cancel", () => void this.withdraw(command), "quiet", `Cancel setting ${name}`)]
        : [],
    );
  }

  private ask(): void {
    const known = actuators(this.device, this.commands);
    commandDialog(this.desk, shown(this.device.label), known, async (actuator, value, expires_in) => {
      await this.api.give(actuator, value, expires_in);
      await this.load();
    });
  }

  private async withdraw(command: Command): Promise<void> {
    setText(this.problem, "");
    try {
      await this.api.withdraw(command.id);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setText(this.problem, error.words);
      this.desk.fail(error);
    }
    await this.load();
  }

  /** Waits for what comes of the commands that are queued, one after another, as the device is told them. */
  private async follow(): Promise<void> {
    if (this.following) return;
    this.following = true;
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const next = this.commands.filter(({ state }) => state === "queued").at(-1);
      if (!next) break;
      try {
        // A page that nobody looks at keeps no connection: browsers have few for all their tabs.
        if (document.hidden) await pause();
        const now = document.hidden ? next : await this.api.outcome(next.id, signal);
        if (signal.aborted) break;
        if (now.state === "queued" && now.attempts === next.attempts) continue;
        if (now.state !== "queued") {
          setText(this.told, `${shown(now.actuator)} ${valueWords(now.value)}: ${now.state}`);
        }
        this.commands = await this.api.commands();
        this.show();
      } catch (error) {
        if (signal.aborted) break;
        if (!(error instanceof ApiError)) throw error;
        this.desk.fail(error);
        await pause();
        if (error.status === 404) await this.load();
      }
    }
    this.following = false;
  }
}

const pause = () => new Promise<void>((done) => window.setTimeout(done, PAUSE_MS));

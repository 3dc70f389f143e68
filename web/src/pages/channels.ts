import { alertApi, type Channel } from "../alert-api";
import { channelDialog, confirmDialog } from "../alerts/channel-form";
import { alertPages } from "../alerts/parts";
import { channelState, testOutcome } from "../alerts/words";
import { ApiError } from "../api";
import { confirm } from "../dialog";
import { html, setText } from "../dom";
import { shown } from "../format";
import type { Desk } from "../page";
import { button, Panel, PanelPage, record, table } from "../panel";

/** How telling goes is looked at so often, in seconds. */
const AGAIN_S = 5;
/** What comes of a test is waited for so long: an e-mail may take a minute, behind others. */
const TEST_PATIENCE_MS = 90_000;
const TEST_STEP_MS = 1_000;

const KINDS = { webhook: "webhook", ntfy: "ntfy", email: "e-mail" } as const;

/** Where alerts are told, and how that goes. */
export class ChannelsPage extends PanelPage {
  constructor(desk: Desk) {
    super("Channels", AGAIN_S, new ChannelsPanel(desk), alertPages("channels"));
  }
}

class ChannelsPanel extends Panel {
  private readonly api = alertApi(this.desk.user.username);
  private readonly rows = html("tbody");
  private readonly empty = html("p", { class: "note" });
  private readonly said = html("p", { class: "done", role: "status", hidden: true });
  private readonly problem = html("p", { class: "problem", role: "alert" });
  private readonly table = table("channels", ["Channel", "Kind", "Address", "How telling goes"], this.rows);
  private known = "";
  private isStopped = false;
  /** Grows with each test: of two, the one that was asked for last is told of. */
  private turn = 0;

  constructor(desk: Desk) {
    super(
      desk,
      "channels",
      "Channels",
      "Alerts are told here, when they open and when they are cleared. A rule says which channels it tells.",
    );
    if (desk.mayChange) this.tools.append(button("Make a channel", () => this.make(), "primary"));
    this.body.append(this.said, this.problem, this.empty, this.table);
  }

  override stop(): void {
    super.stop();
    this.isStopped = true;
  }

  protected override async fill(): Promise<void> {
    const channels = await this.api.channels();
    // Rows that stay as they are keep the focus.
    const known = JSON.stringify(channels);
    if (known === this.known) return;
    this.known = known;
    const focused = document.activeElement?.getAttribute("aria-label");
    this.table.hidden = channels.length === 0;
    setText(this.empty, channels.length === 0 ? "No channel yet: alerts are told nobody." : "");
    this.rows.replaceChildren(...channels.map((channel) => this.row(channel)));
    for (const button of this.rows.querySelectorAll("button")) {
      if (focused && button.getAttribute("aria-label") === focused) button.focus();
    }
  }

  private row(channel: Channel): HTMLElement {
    const name = shown(channel.label);
    const { state, words } = channelState(channel, Date.now());
    return record(
      name,
      [
        ["Kind", KINDS[channel.kind]],
        ["Address", html("code", {}, shown(channel.address)), channel.token ? " with a token" : ""],
        ["How telling goes", html("span", { class: state === "failing" ? "failing" : undefined }, words)],
      ],
      this.desk.mayChange
        ? [
            ...(channel.confirmed
              ? []
              : [button("Confirm", () => this.confirm(channel), "quiet", `Confirm ${name}`)]),
            button(
              channel.confirmed ? "Test" : "Send another code",
              () => void this.test(channel),
              "quiet",
              `Test ${name}`,
            ),
            button("Delete", () => this.remove(channel), "quiet destructive", `Delete ${name}`),
          ]
        : [],
    );
  }

  private make(): void {
    channelDialog(this.desk, async (settings) => {
      const { channel, key } = await this.api.addChannel(settings);
      await this.load();
      if (!channel.confirmed) this.confirm(channel);
      return key;
    });
  }

  private confirm(channel: Channel): void {
    confirmDialog(this.desk, channel, async (code) => {
      await this.api.confirmChannel(channel.id, code);
      await this.load();
    });
  }

  /** Sends a test, and says what came of it. */
  private async test(channel: Channel): Promise<void> {
    const turn = ++this.turn;
    const name = shown(channel.label);
    const say = (words: string) => {
      this.said.hidden = false;
      setText(this.said, words);
    };
    setText(this.problem, "");
    try {
      const before = await this.api.channel(channel.id);
      await this.api.testChannel(channel.id);
      say(`${name}: ${before.confirmed ? "the test" : "a code"} is on its way.`);
      const end = Date.now() + TEST_PATIENCE_MS;
      while (!this.isStopped && turn === this.turn) {
        await new Promise((done) => window.setTimeout(done, TEST_STEP_MS));
        const now = await this.api.channel(channel.id);
        const outcome = testOutcome(before, now);
        if (turn !== this.turn) return;
        if (outcome === undefined && Date.now() < end) continue;
        if (outcome === undefined) {
          say(`${name}: it still waits. The list says what comes of it.`);
        } else if (now.last_error === null) {
          say(`${name}: ${outcome}`);
        } else {
          this.said.hidden = true;
          setText(this.problem, `${name}: ${outcome}`);
        }
        await this.load();
        return;
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.said.hidden = true;
      setText(this.problem, `${name}: ${error.words}`);
      this.desk.fail(error);
    }
  }

  private remove(channel: Channel): void {
    confirm(
      `Delete ${shown(channel.label)}?`,
      "What waits on it is told nobody. Rules that tell it go on with the channels that are left.",
      "Delete",
      async () => {
        await this.api.deleteChannel(channel.id);
        await this.load();
      },
    );
  }
}

import { ApiError, type Resource } from "../api";
import type { DeviceApi, Poller } from "../device-api";
import { confirm } from "../dialog";
import { html, setText } from "../dom";
import { fleetApi } from "../fleet-api";
import { formatCount, formatDate, formatDuration } from "../format";
import type { Desk } from "../page";
import { button, Panel } from "../panel";
import { pollerDialog } from "./poller-form";

/** From where the cloud fetches a device's readings, how often, and what came of it last. */
export class PollerPanel extends Panel {
  private readonly none = html(
    "p",
    { class: "note" },
    "The cloud asks for no readings: the device posts them.",
  );
  private readonly facts = html("dl", { class: "facts" });
  private readonly error = html("p", { class: "problem", hidden: true });
  private poller: Poller | undefined;
  private busy = false;

  constructor(
    desk: Desk,
    private readonly device: DeviceApi,
    private readonly id: Resource["id"],
  ) {
    super(
      desk,
      "poller",
      "Polling",
      "The cloud can ask for readings at an address, besides those that are posted.",
    );
    this.body.append(this.none, this.facts, this.error);
  }

  /** Looks whether there was a poll meanwhile. */
  again(): void {
    if (this.poller && !this.busy && !this.body.hidden) void this.load();
  }

  protected override async fill(): Promise<void> {
    this.busy = true;
    try {
      this.show(await this.device.poller());
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      this.show(undefined);
    } finally {
      this.busy = false;
    }
  }

  private show(poller: Poller | undefined): void {
    const [had, was] = [this.poller !== undefined, this.poller?.paused];
    this.poller = poller;
    this.none.hidden = poller !== undefined;
    this.facts.hidden = poller === undefined;
    if (had !== (poller !== undefined) || was !== poller?.paused || this.tools.childElementCount === 0) {
      this.tools.replaceChildren(
        button(poller ? "Change polling" : "Set up polling", () => this.set()),
        ...(poller
          ? [
              button(
                poller.paused ? "Resume polling" : "Pause polling",
                () => void this.pause(!poller.paused),
              ),
              button("Stop polling", () => this.remove(), "secondary destructive"),
            ]
          : []),
      );
    }
    this.facts.replaceChildren(...(poller ? facts(poller) : []));
    const failure = poller?.last_error ?? null;
    this.error.hidden = failure === null;
    const count = poller?.failures ?? 0;
    const times = count > 1 ? ` ${formatCount(count)} polls in a row gave nothing.` : "";
    setText(
      this.error,
      failure === null ? "" : `The last poll failed: ${failure}.${times}`.replace("..", "."),
    );
  }

  private set(): void {
    pollerDialog(this.desk, this.poller, async (settings) => {
      await this.device.setPoller(settings);
      await this.load();
    });
  }

  /** Its settings stay while it is paused. */
  private async pause(paused: boolean): Promise<void> {
    const kind = paused ? "pause_polls" : "resume_polls";
    try {
      await fleetApi(this.desk.user.username).change({ devices: [this.id] }, 1, { kind });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.desk.fail(error);
    }
    await this.load();
  }

  private remove(): void {
    confirm(
      "Stop polling?",
      "The cloud asks this address no more, and forgets the key or authorization that it sent. Readings stay.",
      "Stop polling",
      async () => {
        await this.device.removePoller();
        await this.load();
      },
    );
  }
}

function facts(poller: Poller): HTMLElement[] {
  const fact = (name: string, value: Node | string, kind = "") =>
    html("div", { class: kind }, html("dt", {}, name), html("dd", {}, value));
  return [
    fact("Address", html("code", {}, poller.url), "long"),
    fact("Asked every", `${formatDuration(poller.period)}${poller.paused ? ", paused" : ""}`),
    fact("Between polls", poller.observe ? "the device tells changes itself" : "nothing is told"),
    fact("Credential", credentialWords(poller)),
    fact("Last polled", poller.last_polled === null ? "not yet" : formatDate(poller.last_polled)),
  ];
}

function credentialWords({ url, identity, authorization }: Poller): string {
  if (identity !== null) return `pre-shared key of ${identity}`;
  if (authorization) return "Authorization header";
  return url.startsWith("coaps:") ? "that of the device" : "none";
}

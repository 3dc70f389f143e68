import { ApiError, type Resource } from "../api";
import { brokerApi, type Broker } from "../broker-api";
import { confirm } from "../dialog";
import { html, setText } from "../dom";
import { shown } from "../format";
import type { Desk } from "../page";
import { button, Panel, record, table } from "../panel";
import { brokerDialog } from "./broker-form";
import { brokerState, devicesWords, testWords } from "./broker-words";

/** The brokers to which readings are published, and how that goes. */
export class BrokersPanel extends Panel {
  private readonly api = brokerApi(this.desk.user.username);
  private readonly rows = html("tbody");
  private readonly empty = html("p", { class: "note" });
  private readonly said = html("p", { class: "done", role: "status", hidden: true });
  private readonly problem = html("p", { class: "problem", role: "alert" });
  private readonly table = table(
    "brokers",
    ["Broker", "Address", "What is published", "How it goes"],
    this.rows,
  );
  private names = new Map<string, string>();
  private known = "";

  constructor(desk: Desk) {
    super(
      desk,
      "brokers",
      "Brokers of MQTT",
      "Readings of your own devices are published there when they arrive. Devices that others share with you are not among them.",
    );
    if (desk.mayChange) this.tools.append(button("Add a broker", () => this.add()));
    this.body.append(this.said, this.problem, this.empty, this.table);
  }

  know(resources: Resource[]): void {
    this.names = new Map(resources.map(({ id, label }) => [String(id), label]));
  }

  protected override async fill(): Promise<void> {
    const brokers = await this.api.brokers();
    // Rows that stay as they are keep the focus.
    const known = JSON.stringify(brokers);
    if (known === this.known) return;
    this.known = known;
    const focused = document.activeElement?.getAttribute("aria-label");
    this.table.hidden = brokers.length === 0;
    setText(this.empty, brokers.length === 0 ? "No broker yet." : "");
    this.rows.replaceChildren(...brokers.map((broker) => this.row(broker)));
    for (const button of this.rows.querySelectorAll("button")) {
      if (focused && button.getAttribute("aria-label") === focused) button.focus();
    }
  }

  private row(broker: Broker): HTMLElement {
    const name = shown(broker.label);
    const { state, words } = brokerState(broker);
    return record(
      name,
      [
        ["Address", html("code", {}, shown(broker.url))],
        [
          "What is published",
          `${devicesWords(broker)}, to `,
          html("code", {}, `${shown(broker.prefix)}/…`),
          broker.format === "senml" ? " as SenML" : "",
        ],
        ["How it goes", html("span", { class: state === "failing" ? "failing" : undefined }, words)],
      ],
      this.desk.mayChange
        ? [
            button("Test", () => void this.test(broker), "quiet", `Test ${name}`),
            button("Change", () => this.change(broker), "quiet", `Change ${name}`),
            button("Delete", () => this.remove(broker), "quiet destructive", `Delete ${name}`),
          ]
        : [],
    );
  }

  private add(): void {
    brokerDialog(this.desk, undefined, this.names, async (settings) => {
      await this.api.add(settings);
      await this.load();
    });
  }

  private change(broker: Broker): void {
    brokerDialog(this.desk, broker, this.names, async (settings) => {
      await this.api.change(broker.id, settings);
      await this.load();
    });
  }

  /** Sends a test, and says what the broker said. */
  private async test(broker: Broker): Promise<void> {
    const name = shown(broker.label);
    const say = (words: string, isGood: boolean) => {
      this.said.hidden = !isGood;
      setText(this.said, isGood ? `${name}: ${words}` : "");
      setText(this.problem, isGood ? "" : `${name}: ${words}`);
    };
    say("the test is on its way.", true);
    try {
      const tested = await this.api.test(broker.id);
      say(testWords(tested), tested.taken);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      say(error.words, false);
      this.desk.fail(error);
    }
  }

  private remove(broker: Broker): void {
    confirm(
      `Delete ${shown(broker.label)}?`,
      "No readings are published there any more, also not those that wait.",
      "Delete",
      async () => {
        await this.api.remove(broker.id);
        await this.load();
      },
    );
  }
}

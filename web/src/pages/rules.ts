import { alertApi, type Channel, type Rule } from "../alert-api";
import { alertPages, severityBadge } from "../alerts/parts";
import { ruleDialog } from "../alerts/rule-form";
import { conditionWords, ruleState } from "../alerts/words";
import { api, ApiError, type Resource } from "../api";
import { confirm } from "../dialog";
import { html, setText } from "../dom";
import { shown } from "../format";
import { inOrder } from "../network";
import type { Desk } from "../page";
import { button, Panel, PanelPage, record, table } from "../panel";
import { LINKS } from "../route";

/** Whether rules and their channels do well is looked at so often, in seconds. */
const AGAIN_S = 10;
/** Devices whose units are asked for. */
const MOST_DEVICES = 20;

/** What is watched, and who is told. */
export class RulesPage extends PanelPage<RulesPanel> {
  constructor(desk: Desk) {
    super("Rules", AGAIN_S, new RulesPanel(desk), alertPages("rules"));
  }

  devices(resources: Resource[]): void {
    this.panel.know(inOrder(resources));
  }
}

class RulesPanel extends Panel {
  private readonly api = alertApi(this.desk.user.username);
  private readonly rows = html("tbody");
  private readonly empty = html("p", { class: "note" });
  private readonly problem = html("p", { class: "problem", role: "alert" });
  private readonly table = table("rules", ["Rule", "What it does", "Tells", "State"], this.rows);
  private readonly units = new Map<string, string | null>();
  private readonly asked = new Set<string>();
  private rules: Rule[] = [];
  private channels: Channel[] = [];
  private all: Resource[] = [];
  private known = "";

  constructor(desk: Desk) {
    super(desk, "rules", "Rules", "A rule watches a stream, or the silence of a device, and opens an alert.");
    if (desk.mayChange) this.tools.append(button("Make a rule", () => this.edit(), "primary"));
    this.body.append(this.problem, this.empty, this.table);
  }

  know(all: Resource[]): void {
    this.all = all;
    void this.askUnits();
  }

  protected override async fill(): Promise<void> {
    const [rules, channels] = await Promise.all([this.api.rules(), this.api.channels()]);
    const known = JSON.stringify([rules, channels]);
    [this.rules, this.channels] = [rules, channels];
    // Rows that stay as they are keep the focus.
    if (known !== this.known) this.show();
    this.known = known;
    void this.askUnits();
  }

  /** In what the streams are measured that rules watch. */
  private async askUnits(): Promise<void> {
    const watched = new Set(this.rules.map(({ resource }) => resource));
    for (const device of this.all) {
      if (!watched.has(device.label) || this.asked.has(device.label) || this.asked.size >= MOST_DEVICES)
        continue;
      this.asked.add(device.label);
      try {
        for (const { label, unit } of await api.streams(this.desk.user.username, device.id)) {
          this.units.set(`${device.label}/${label}`, unit);
        }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        this.asked.delete(device.label);
        this.desk.fail(error);
        return;
      }
      this.show();
    }
  }

  private show(): void {
    const focused = document.activeElement?.getAttribute("aria-label");
    this.table.hidden = this.rules.length === 0;
    setText(this.empty, this.rules.length === 0 ? "No rule yet: nothing is watched." : "");
    this.rows.replaceChildren(...this.rules.map((rule) => this.row(rule)));
    for (const button of this.rows.querySelectorAll("button")) {
      if (focused && button.getAttribute("aria-label") === focused) button.focus();
    }
  }

  private row(rule: Rule): HTMLElement {
    const name = shown(rule.label);
    const unit = this.units.get(`${rule.resource}/${rule.stream}`) ?? null;
    const { state, words } = ruleState(rule, this.channels);
    const tells =
      rule.channels.length === 0
        ? ["nobody"]
        : [html("a", { href: LINKS.channels }, shown(rule.channels.join(", ")))];
    return record(
      html("span", {}, severityBadge(rule.severity), " ", name),
      [
        ["What it does", shown(conditionWords(rule.condition, { ...rule, unit }))],
        ["Tells", ...tells],
        ["State", html("span", { class: `state ${state}` }, shown(words))],
      ],
      this.desk.mayChange
        ? [
            button("Change", () => this.edit(rule), "quiet", `Change ${name}`),
            rule.paused
              ? button("Resume", () => void this.pause(rule, false), "quiet", `Resume ${name}`)
              : button("Pause", () => this.askPause(rule), "quiet", `Pause ${name}`),
            button("Delete", () => this.remove(rule), "quiet destructive", `Delete ${name}`),
          ]
        : [],
    );
  }

  private edit(rule?: Rule): void {
    ruleDialog(this.desk, this.all, this.channels, rule, async (settings) => {
      await (rule ? this.api.replaceRule(rule.id, settings) : this.api.addRule(settings));
      await this.load();
      this.desk.alertsChanged();
    });
  }

  /** What an open alert has to do with it is asked first. */
  private askPause(rule: Rule): void {
    if (rule.alert === null) {
      void this.pause(rule, true);
      return;
    }
    confirm(
      `Pause ${shown(rule.label)}?`,
      "Its alert is cleared, which is not told, and no other opens until it is resumed.",
      "Pause",
      async () => {
        await this.replace(rule, true);
      },
    );
  }

  private async pause(rule: Rule, paused: boolean): Promise<void> {
    setText(this.problem, "");
    try {
      await this.replace(rule, paused);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setText(this.problem, error.words);
      this.desk.fail(error);
    }
  }

  private async replace(rule: Rule, paused: boolean): Promise<void> {
    const { label, severity, resource, stream, condition, channels, payload } = rule;
    await this.api.replaceRule(rule.id, {
      label,
      severity,
      resource,
      stream,
      condition,
      channels,
      payload,
      paused,
    });
    await this.load();
    // The button is another one now: the focus goes there.
    const name = `${paused ? "Resume" : "Pause"} ${shown(label)}`;
    this.rows.querySelector<HTMLElement>(`[aria-label="${CSS.escape(name)}"]`)?.focus();
    this.desk.alertsChanged();
  }

  private remove(rule: Rule): void {
    confirm(
      `Delete ${shown(rule.label)}?`,
      "Nothing is watched by it any more. An alert that it has opened is cleared, which is not told; the history stays.",
      "Delete",
      async () => {
        await this.api.deleteRule(rule.id);
        await this.load();
        this.desk.alertsChanged();
      },
    );
  }
}

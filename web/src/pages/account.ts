import { BrokersPanel } from "../account/brokers";
import { EmailPanel } from "../account/email";
import { IdentitiesPanel } from "../account/identities";
import { OwnDataPanel } from "../account/own-data";
import { PasswordPanel } from "../account/password";
import { ProviderPanel } from "../account/provider";
import { SecondFactorPanel } from "../account/second-factor";
import { TokensPanel } from "../account/tokens";
import type { Resource } from "../api";
import { html } from "../dom";
import { formatDate, shown } from "../format";
import type { Desk, Page } from "../page";
import type { Panel } from "../panel";

const ROLE_WORDS = {
  administrator: ", an administrator",
  member: "",
  viewer: ", a viewer: you see what is yours, and change nothing but this account",
} as const;

/** When the user last signed in: this session began then, or another one after it. */
export function signInWords(last: number | null): string {
  return last === null ? "" : `You last signed in on ${formatDate(last)}.`;
}

/** How publishing to brokers goes is looked at so often, in seconds. */
const AGAIN_S = 5;

/** The user's own account. */
export class AccountPage implements Page {
  readonly root: HTMLElement;
  readonly title = "Account";
  private readonly password: PasswordPanel;
  private readonly email: EmailPanel;
  private readonly provider: ProviderPanel;
  private readonly secondFactor: SecondFactorPanel;
  private readonly tokens: TokensPanel;
  private readonly identities: IdentitiesPanel;
  private readonly brokers: BrokersPanel;
  private readonly data: OwnDataPanel;
  private ticks = 0;

  constructor(desk: Desk) {
    const { username, role, last_sign_in } = desk.user;
    this.password = new PasswordPanel(desk);
    this.email = new EmailPanel(desk);
    this.provider = new ProviderPanel(desk);
    this.secondFactor = new SecondFactorPanel(desk);
    this.tokens = new TokensPanel(desk);
    this.identities = new IdentitiesPanel(desk);
    this.brokers = new BrokersPanel(desk);
    this.data = new OwnDataPanel(desk);
    this.root = html(
      "div",
      { class: "account" },
      html("h2", {}, "Account"),
      html(
        "p",
        { class: "hint" },
        `You are signed in as ${shown(username)}${ROLE_WORDS[role]}. ${signInWords(last_sign_in)}`,
      ),
      html("div", { class: "beside" }, this.password.root, this.email.root),
      this.provider.root,
      this.secondFactor.root,
      this.tokens.root,
      this.identities.root,
      this.brokers.root,
      this.data.root,
    );
    for (const panel of this.loaded) void panel.load();
  }

  private get loaded(): Panel[] {
    return [
      this.email,
      this.provider,
      this.secondFactor,
      this.tokens,
      this.identities,
      this.brokers,
      this.data,
    ];
  }

  devices(resources: Resource[]): void {
    this.tokens.know(resources);
    this.identities.know(resources);
    this.brokers.know(resources);
  }

  tick(): void {
    this.ticks += 1;
    if (this.ticks % AGAIN_S === 0 && !document.hidden) void this.brokers.load();
  }

  stop(): void {
    for (const panel of [this.password, ...this.loaded]) panel.stop();
  }
}

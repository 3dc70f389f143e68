import { accountApi, type Identity, type IdentityWithKey, type NewIdentity } from "../account-api";
import { api, type Endpoints, type Resource } from "../api";
import { confirm, openDialog } from "../dialog";
import { html, setText } from "../dom";
import { choice, Field, textInput } from "../field";
import { formDialog } from "../form";
import { formatDate, shown } from "../format";
import { identityAndCommand } from "../key";
import type { Desk } from "../page";
import { button, Panel, record, table } from "../panel";
import { PublicKeyField } from "../public-key";
import { DAY_MS } from "../time";
import { LIVES, mayWords, MOST_OFFERED } from "./tokens";

/** The DTLS identities by which programs act for the user over CoAP. A key is shown when it is made, and never again. */
export class IdentitiesPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly empty = html("p", { class: "note" });
  /** The names of the devices, by their ids. */
  private devices = new Map<string, string>();
  private identities: Identity[] = [];
  private readonly table = table("identities", ["Name", "Identity", "May", "Made", "Ends"], this.rows);

  constructor(desk: Desk) {
    super(
      desk,
      "identities",
      "DTLS identities",
      "A program that proves one acts for you over CoAP, or for less. Those of devices are on their own pages.",
    );
    if (desk.mayChange) this.tools.append(button("Make an identity", () => this.make()));
    this.body.append(this.empty, this.table);
  }

  know(resources: Resource[]): void {
    this.devices = new Map(resources.map(({ id, label }) => [String(id), label]));
    if (this.identities.some(({ resource }) => resource !== null)) this.show();
  }

  protected override async fill(): Promise<void> {
    this.identities = await accountApi.identities(this.desk.user.username);
    this.show();
  }

  private show(): void {
    this.table.hidden = this.identities.length === 0;
    setText(this.empty, this.identities.length === 0 ? "No identity yet." : "");
    this.rows.replaceChildren(...this.identities.map((identity) => this.row(identity)));
  }

  private row(identity: Identity): HTMLElement {
    const name = shown(identity.label);
    return record(
      name,
      [
        ["Identity", provedWords(identity)],
        ["May", mayWords(identity, this.devices.get(String(identity.resource)))],
        ["Made", formatDate(identity.created)],
        ["Ends", endWords(identity)],
      ],
      this.desk.mayChange
        ? [button("Revoke", () => this.revoke(identity), "quiet destructive", `Revoke ${name}`)]
        : [],
    );
  }

  private make(): void {
    const label = new Field(textInput("identity-label", { required: true, maxlength: 64 }), "Name", {
      hint: "Which program has it, such as laptop.",
      about: /label|name/,
    });
    const mode = new Field(
      choice("identity-mode", [
        ["dtls-psk", "a pre-shared key, made here"],
        ["dtls-rpk", "its raw public key"],
        ["dtls-x509", "a certificate"],
      ]),
      "It is proved by",
    );
    const publicKey = new PublicKeyField(mode.control.value);
    mode.control.addEventListener("change", () => publicKey.setMode(mode.control.value));
    const may = new Field(
      choice("identity-may", [
        ["all", "Do what I may"],
        ["read", "Only read"],
      ]),
      "It may",
    );
    const device = new Field(
      textInput("identity-device", { maxlength: 64, list: "identity-devices" }),
      "Only for the device",
      { hint: "Empty for all. An identity for one device goes with it.", about: /resource/ },
    );
    const life = new Field(choice("identity-life", LIVES), "It ends", { about: /ends/ });
    const names = [...this.devices.values()].slice(0, MOST_OFFERED);
    formDialog(this.desk, "Make a DTLS identity", {
      fields: [
        label,
        mode,
        publicKey.element,
        may,
        device,
        html("datalist", { id: "identity-devices" }, ...names.map((value) => html("option", { value }))),
        life,
      ],
      action: "Make identity",
      send: async () => {
        const days = Number(life.control.value);
        const identity: NewIdentity = {
          label: label.text,
          mode: mode.control.value,
          read_only: may.control.value === "read",
        };
        if (publicKey.key !== undefined) identity.key = publicKey.key;
        if (days > 0) identity.expires = Date.now() + days * DAY_MS;
        if (device.text !== "") identity.resource = device.text;
        const endpoints = await api.endpoints();
        showOnce(await accountApi.makeIdentity(this.desk.user.username, identity), endpoints);
        await this.load();
      },
    });
  }

  private revoke(identity: Identity): void {
    confirm(
      `Revoke ${shown(identity.label)}?`,
      "Programs that prove it are refused from now on, and their sessions end with what they observe.",
      "Revoke",
      async () => {
        await accountApi.revokeIdentity(this.desk.user.username, identity.id);
        await this.load();
      },
    );
  }
}

/** What is proved: of a raw public key, which is known by its digest, the beginning of that. */
export function provedWords({ mode, identity }: Pick<Identity, "mode" | "identity">): string {
  return mode === "dtls-rpk" ? `key ${identity.slice(0, 16)}…` : shown(identity);
}

/** When it ends, by itself or with its certificate. */
export function endWords({ expires, certificate_expires }: Identity): string {
  const ends = [expires, certificate_expires].filter((end) => end !== null);
  return ends.length === 0 ? "not by itself" : formatDate(Math.min(...ends));
}

function showOnce(identity: IdentityWithKey, endpoints: Endpoints): void {
  const done = button("Done", () => dialog.close(), "primary");
  const dialog = openDialog(
    `The identity ${shown(identity.label)}`,
    ...identityAndCommand(identity, endpoints),
    html("div", { class: "buttons" }, done),
  );
  done.focus();
}

import { api, ApiError, type Endpoints, type LivePoint, type ResourceWithKey } from "./api";
import { openDialog } from "./dialog";
import { html, setText } from "./dom";
import { formatValue, shown, unitSymbol } from "./format";
import { keyAndCommand } from "./key";
import type { Desk } from "./page";
import { profileApi } from "./profile-api";
import { PublicKeyField } from "./public-key";
import { deviceLink } from "./route";

/** The way of a new device into the cloud: its name, then its key, then its first reading. */
export class AddDevice {
  private readonly dialog: HTMLDialogElement;
  private readonly body = html("div");
  private device: ResourceWithKey | undefined;
  private readonly state = html("p", { class: "first-reading", role: "status" }, "No reading yet");
  private heard = false;

  constructor(private readonly desk: Desk) {
    this.dialog = openDialog("Add a device", this.body);
    this.ask();
  }

  /** A reading has come: if it is the device's first, it is shown in place of the waiting. */
  async point(point: LivePoint): Promise<void> {
    const { device } = this;
    if (!device || this.heard || String(point.resource) !== String(device.id)) return;
    this.heard = true;
    let unit: string | null = null;
    let label = "reading";
    try {
      const streams = await api.streams(this.desk.user.username, device.id);
      const stream = streams.find((stream) => String(stream.id) === String(point.stream));
      if (stream) ({ unit, label } = stream);
    } catch (error) {
      this.desk.fail(error);
    }
    this.state.classList.add("arrived");
    setText(
      this.state,
      `First reading: ${shown(label)} ${formatValue(point.value)} ${unitSymbol(unit)}`.trim(),
    );
  }

  private ask(): void {
    const label = html("input", {
      id: "device-label",
      required: true,
      maxlength: 64,
      autocomplete: "off",
      autocapitalize: "none",
      spellcheck: "false",
      "aria-describedby": "device-label-hint",
    });
    const mode = html(
      "select",
      { id: "device-mode" },
      html("option", { value: "dtls-psk" }, "dtls-psk: DTLS, pre-shared key"),
      html("option", { value: "dtls-rpk" }, "dtls-rpk: DTLS, raw public key"),
      html("option", { value: "dtls-x509" }, "dtls-x509: DTLS, certificate"),
      html("option", { value: "none" }, "none: plain CoAP, key in each request"),
    );
    const profile = html("select", { id: "device-profile" }, html("option", { value: "" }, "none"));
    const profiles = html(
      "div",
      { hidden: true },
      html("label", { for: "device-profile" }, "Profile"),
      profile,
    );
    void this.offer(profile, profiles);
    const publicKey = new PublicKeyField(mode.value);
    mode.addEventListener("change", () => publicKey.setMode(mode.value));
    const problem = html("p", { class: "problem", role: "alert" });
    const cancel = html("button", { type: "button", class: "secondary" }, "Cancel");
    const add = html("button", { type: "submit", class: "primary" }, "Add device");
    const form = html(
      "form",
      {},
      html("label", { for: "device-label" }, "Name"),
      label,
      html(
        "p",
        { class: "hint", id: "device-label-hint" },
        "Each device has its own name, with a letter in it. It is also the identity that the device proves, except with a raw public key.",
      ),
      html("label", { for: "device-mode" }, "Security"),
      mode,
      publicKey.element,
      profiles,
      problem,
      html("div", { class: "buttons" }, cancel, add),
    );
    cancel.addEventListener("click", () => this.dialog.close());
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      add.disabled = true;
      setText(problem, "");
      try {
        const endpoints = await api.endpoints();
        const { username } = this.desk.user;
        this.device = await api.addResource(
          username,
          label.value.trim(),
          mode.value,
          publicKey.key,
          profile.value || undefined,
        );
        this.show(this.device, endpoints);
        await this.desk.refresh();
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.signedOut) {
          this.dialog.close();
          this.desk.fail(error);
        }
        setText(problem, error.words);
        label.focus();
      } finally {
        add.disabled = false;
      }
    });
    this.body.replaceChildren(form);
    label.focus();
  }

  /** Offers the profiles that there are; without any, there is nothing to choose. */
  private async offer(profile: HTMLSelectElement, profiles: HTMLElement): Promise<void> {
    try {
      const all = await profileApi(this.desk.user.username).all();
      profile.append(...all.map(({ label }) => html("option", { value: label }, shown(label))));
      profiles.hidden = all.length === 0;
    } catch (error) {
      this.desk.fail(error);
    }
  }

  private show(device: ResourceWithKey, endpoints: Endpoints): void {
    const done = html("button", { type: "button", class: "primary" }, "Done");
    done.addEventListener("click", () => this.dialog.close());
    const see = html("a", { href: deviceLink(device.id) }, "Open its page");
    see.addEventListener("click", () => this.dialog.close());
    setText(this.dialog.querySelector("h2")!, `${shown(device.label)} may report`);
    this.body.replaceChildren(
      ...keyAndCommand(device, endpoints),
      this.state,
      html("div", { class: "buttons" }, see, done),
    );
    done.focus();
  }
}

import { html, setText } from "./dom";

/** Whether a device of this mode is known by a public key, raw or in a certificate. */
export function hasPublicKey(mode: string): boolean {
  return isCertified(mode) || mode.includes("dtls-rpk");
}

/** Whether it shows a certificate. */
export function isCertified(mode: string): boolean {
  return mode.includes("dtls-x509");
}

/** Where a device's public key is pasted, for modes that have one. The private key stays with the device. */
export class PublicKeyField {
  readonly element: HTMLElement;
  private readonly hint = html("p", { class: "hint", id: "device-public-key-hint" });
  private readonly input = html("textarea", {
    id: "device-public-key",
    rows: 5,
    maxlength: 4096,
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    placeholder: "-----BEGIN PUBLIC KEY-----",
    "aria-describedby": "device-public-key-hint",
  });

  constructor(mode: string) {
    const label = html("label", { for: "device-public-key" }, "Its public key");
    this.element = html("div", {}, label, this.input, this.hint);
    this.setMode(mode);
  }

  /** What was pasted; nothing for a mode without public keys. */
  get key(): string | undefined {
    return this.element.hidden ? undefined : `${this.input.value.trim()}\n`;
  }

  setMode(mode: string): void {
    this.element.hidden = !hasPublicKey(mode);
    this.input.required = hasPublicKey(mode);
    setText(
      this.hint,
      isCertified(mode)
        ? "In PEM; the cloud makes a certificate for it. Or a certificate that the device has already."
        : "In PEM, as openssl ec -pubout prints it. The private key stays with the device.",
    );
  }
}

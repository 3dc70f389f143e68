import type { IdentityWithKey } from "./account-api";
import type { Endpoints, ResourceWithKey } from "./api";
import { CLOUD_FILE, DEVICE_FILE, postCommand, readCommand } from "./command";
import { copyField } from "./copy";
import { html } from "./dom";
import { hasPublicKey, isCertified } from "./public-key";

/** What a device has to be told: its new key or certificate, and the line that posts a reading with it. */
export function keyAndCommand(device: ResourceWithKey, endpoints: Endpoints): HTMLElement[] {
  const command = postCommand(device, endpoints, window.location.hostname);
  return [
    ...made(device),
    html("h3", {}, "Try it"),
    ...(command === undefined
      ? [
          html(
            "p",
            { class: "hint" },
            "Plain CoAP is off. Start the cloud with ",
            html("code", {}, "--coap 127.0.0.1:5683"),
            " to let such devices in.",
          ),
        ]
      : [
          html("p", { class: "hint" }, "Posts a reading as the device would (Debian: libcoap3-bin)."),
          ...files(device.mode),
          copyField("the command", command),
        ]),
  ];
}

/** What a program has to be told that acts for a user: its new key or certificate, and the line that reads with it. */
export function identityAndCommand(identity: IdentityWithKey, endpoints: Endpoints): HTMLElement[] {
  return [
    ...made(identity),
    html("h3", {}, "Try it"),
    html("p", { class: "hint" }, "Reads which devices you have (Debian: libcoap3-bin)."),
    ...files(identity.mode),
    copyField("the command", readCommand(identity, endpoints, window.location.hostname)),
  ];
}

/** What proves an identity, as it is told once. */
type Made = Pick<ResourceWithKey, "identity" | "key" | "certificate">;

function made({ identity, key, certificate }: Made): HTMLElement[] {
  if (certificate !== undefined) {
    return [
      html("h3", {}, "Its certificate"),
      html("p", { class: "hint" }, "It is no secret, and it is shown this once."),
      copyField("the certificate", certificate),
    ];
  }
  if (key !== undefined) {
    return [
      html("h3", {}, "Its key"),
      html(
        "p",
        { class: "hint" },
        "Shown this once. The cloud keeps it sealed and never gives it out again.",
      ),
      copyField("the key", key),
    ];
  }
  return [html("h3", {}, "Its identity"), copyField("the identity", identity)];
}

/** What is in the files that the command reads. */
function files(mode: string): HTMLElement[] {
  if (!hasPublicKey(mode)) return [];
  const own = isCertified(mode) ? " holds its private key and its certificate, " : " holds its private key.";
  const cloud = [html("code", {}, CLOUD_FILE), " what ", html("code", {}, "sixlock keys cloud"), " prints."];
  return [
    html("p", { class: "hint" }, html("code", {}, DEVICE_FILE), own, ...(isCertified(mode) ? cloud : [])),
  ];
}

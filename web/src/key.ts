import type { Endpoints, ResourceWithKey } from "./api";
import { postCommand } from "./command";
import { copyField } from "./copy";
import { html } from "./dom";

/** A new key, and the line that posts a reading with it. */
export function keyAndCommand(device: ResourceWithKey, endpoints: Endpoints): HTMLElement[] {
  const command = postCommand(device, endpoints, window.location.hostname);
  return [
    html("h3", {}, "Its key"),
    html("p", { class: "hint" }, "Shown this once. The cloud keeps it sealed and never gives it out again."),
    copyField("the key", device.key),
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
          copyField("the command", command),
        ]),
  ];
}

import type { Poller, PollerSettings } from "../device-api";
import { html } from "../dom";
import { choice, Field, textInput } from "../field";
import { formDialog } from "../form";
import type { Desk } from "../page";

const USUAL_PERIOD_S = 60;

type CredentialKind = "own" | "psk" | "none" | "authorization";

/** By what the cloud can prove itself to an address. */
export function credentialKinds(url: string): readonly (readonly [CredentialKind, string])[] {
  const scheme = /^\s*([a-z]+):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === "coaps") {
    return [
      ["own", "The device's own key or certificate"],
      ["psk", "A pre-shared key"],
    ];
  }
  if (scheme === "http" || scheme === "https") {
    return [
      ["none", "None"],
      ["authorization", "Authorization header"],
    ];
  }
  return [["none", "None"]];
}

/** Asks from where readings are to be fetched. */
export function pollerDialog(
  desk: Desk,
  present: Poller | undefined,
  set: (settings: PollerSettings) => Promise<void>,
): void {
  const url = new Field(
    textInput("poller-url", { required: true, maxlength: 1024, value: present?.url ?? "" }),
    "Address",
    {
      hint: "http, https, coap or coaps, such as coaps://sensor.example.org/temperature",
      about: /^url/,
    },
  );
  const period = new Field(
    html("input", {
      id: "poller-period",
      type: "number",
      required: true,
      min: 5,
      max: 604_800,
      value: present?.period ?? USUAL_PERIOD_S,
    }),
    "Seconds between polls",
    { hint: "5 to 604,800, which is a week.", about: /period/ },
  );
  const observe = new Field(
    html("input", { id: "poller-observe", type: "checkbox", checked: present?.observe ?? false }),
    "The device tells changes between polls (observe)",
    { about: /observe/ },
  );
  const credential = new Field(choice("poller-credential", []), "Credential", {
    about: /coaps needs|are for coaps/,
  });
  const identity = new Field(
    textInput("poller-identity", { maxlength: 128, value: present?.identity ?? "" }),
    "Identity",
    { about: /identity/ },
  );
  const secret = (id: string) => textInput(id, { type: "password", autocomplete: "new-password" });
  const again = present ? { hint: "It is not shown: state it again." } : {};
  const key = new Field(secret("poller-key"), "Key", { ...again, about: /key/ });
  const authorization = new Field(secret("poller-authorization"), "Value of the header", {
    hint: `Such as Bearer and a token. ${present ? again.hint : ""}`.trim(),
    about: /authorization/,
  });

  const choose = () => {
    const chosen = credential.control.value;
    identity.root.hidden = key.root.hidden = chosen !== "psk";
    authorization.root.hidden = chosen !== "authorization";
    for (const { control, root } of [identity, key, authorization]) control.required = !root.hidden;
  };
  const offer = (first?: CredentialKind) => {
    const offered = credentialKinds(url.control.value);
    const kept = first ?? credential.control.value;
    credential.control.replaceChildren(...offered.map(([value, words]) => html("option", { value }, words)));
    if (offered.some(([value]) => value === kept)) credential.control.value = kept;
    credential.root.hidden = offered.length < 2;
    observe.root.hidden = offered[0]![0] !== "own";
    choose();
  };
  url.control.addEventListener("input", () => offer());
  credential.control.addEventListener("change", choose);
  offer(present && (present.identity !== null ? "psk" : present.authorization ? "authorization" : "own"));

  formDialog(desk, present ? "Change polling" : "Set up polling", {
    fields: [url, period, observe, credential, identity, key, authorization],
    action: present ? "Change" : "Start polling",
    send: () =>
      set({
        url: url.text,
        period: Number(period.control.value),
        ...(observe.root.hidden ? {} : { observe: observe.control.checked }),
        ...(identity.root.hidden ? {} : { identity: identity.text, key: key.control.value }),
        ...(authorization.root.hidden ? {} : { authorization: authorization.control.value }),
      }),
  });
}

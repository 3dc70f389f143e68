import type { Broker, BrokerFormat, BrokerSettings } from "../broker-api";
import { html } from "../dom";
import { choice, Field, textInput } from "../field";
import { formDialog } from "../form";
import type { Desk } from "../page";

const FORMATS: readonly (readonly [BrokerFormat, string])[] = [
  ["json", "JSON: a message for each reading, to PREFIX/device/stream"],
  ["senml", "SenML: a message for the readings of a device, to PREFIX/device"],
];
const ACKNOWLEDGED: readonly (readonly [string, string])[] = [
  ["1", "At least once (QoS 1)"],
  ["0", "At most once (QoS 0)"],
];

type Chosen = "all" | "tag" | "list";

/** The labels in a text: one a line. */
export function labelsIn(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Asks for a broker; `names` are the labels of devices by their ids. */
export function brokerDialog(
  desk: Desk,
  present: Broker | undefined,
  names: ReadonlyMap<string, string>,
  set: (settings: BrokerSettings) => Promise<void>,
): void {
  const label = new Field(
    textInput("broker-label", { required: true, maxlength: 64, value: present?.label ?? "" }),
    "Name",
    { about: /label/ },
  );
  const url = new Field(
    textInput("broker-url", { required: true, maxlength: 1024, value: present?.url ?? "" }),
    "Address",
    { hint: "mqtts://broker.example.org:8883, or mqtt://… without TLS.", about: /^url/ },
  );
  const username = new Field(
    textInput("broker-username", { maxlength: 256, value: present?.username ?? "" }),
    "User name",
    { hint: "Empty for none.", about: /^username/ },
  );
  const password = new Field(
    textInput("broker-password", { type: "password", autocomplete: "new-password", maxlength: 256 }),
    "Password",
    {
      hint: present?.password
        ? "Empty: it stays, unless the address, the user name or the authority change."
        : "It is not shown again.",
      about: /^password/,
    },
  );
  const authority = new Field(
    html(
      "textarea",
      { id: "broker-authority", rows: 3, maxlength: 16_384, spellcheck: "false", class: "code" },
      present?.authority ?? "",
    ),
    "Certificate of the authority (PEM)",
    { hint: "Empty: those whom the cloud's system trusts.", about: /^authority/ },
  );
  const prefix = new Field(
    textInput("broker-prefix", {
      required: true,
      maxlength: 256,
      value: present?.prefix ?? "sixlock/{user}",
    }),
    "Topics begin with",
    { hint: "{user} stands for your user name.", about: /^prefix/ },
  );
  const client = new Field(
    textInput("broker-client", { maxlength: 256, value: present?.client_id ?? "" }),
    "Client id",
    { hint: "Empty: the one that there is, or a new one.", about: /client/ },
  );
  const format = new Field(choice("broker-format", FORMATS), "Messages");
  const qos = new Field(choice("broker-qos", ACKNOWLEDGED), "Each is published", { about: /qos/ });
  const retain = new Field(
    html("input", { id: "broker-retain", type: "checkbox", checked: present?.retain ?? false }),
    "The broker keeps the last message of each topic (retain)",
  );
  const chosen = new Field(
    choice("broker-devices", [
      ["all", "All of mine"],
      ["tag", "Those with a tag"],
      ["list", "Those that I name"],
    ]),
    "Devices",
  );
  const tag = new Field(textInput("broker-tag", { maxlength: 40, value: present?.tag ?? "" }), "Tag", {
    about: /tag/,
  });
  const listed = (present?.resources ?? []).map((id) => names.get(String(id)) ?? String(id));
  const list = new Field(
    html("textarea", { id: "broker-list", rows: 3, spellcheck: "false" }, listed.join("\n")),
    "Names of the devices",
    { hint: "One a line.", about: /resource/ },
  );
  if (present) {
    format.control.value = present.format;
    qos.control.value = String(present.qos);
    chosen.control.value = present.tag !== null ? "tag" : present.resources !== null ? "list" : "all";
  }
  const choose = () => {
    const devices = chosen.control.value as Chosen;
    tag.root.hidden = devices !== "tag";
    list.root.hidden = devices !== "list";
    tag.control.required = !tag.root.hidden;
    list.control.required = !list.root.hidden;
    authority.root.hidden = !/^\s*mqtts:/i.test(url.control.value);
  };
  chosen.control.addEventListener("change", choose);
  url.control.addEventListener("input", choose);
  choose();
  formDialog(desk, present ? "Change the broker" : "Add a broker", {
    fields: [
      label,
      url,
      username,
      password,
      authority,
      chosen,
      tag,
      list,
      format,
      prefix,
      qos,
      retain,
      client,
    ],
    action: present ? "Change" : "Add broker",
    send: () => {
      const secret = password.control.value;
      const pem = authority.root.hidden ? "" : authority.text;
      return set({
        label: label.text,
        url: url.text,
        username: username.text === "" ? null : username.text,
        ...(secret === "" ? {} : { password: secret }),
        authority: pem === "" ? null : pem,
        ...(client.text === "" ? {} : { client_id: client.text }),
        prefix: prefix.text,
        qos: qos.control.value === "0" ? 0 : 1,
        retain: retain.control.checked,
        format: format.control.value as BrokerFormat,
        ...(tag.root.hidden ? {} : { tag: tag.text }),
        ...(list.root.hidden ? {} : { resources: labelsIn(list.control.value) }),
      });
    },
  });
}

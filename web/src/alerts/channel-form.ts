import type { Channel, ChannelKind, ChannelSettings } from "../alert-api";
import { copyField } from "../copy";
import { openDialog } from "../dialog";
import { html, setText } from "../dom";
import { choice, Field, textInput } from "../field";
import { formDialog } from "../form";
import { shown } from "../format";
import type { Desk } from "../page";
import { button } from "../panel";

const KINDS: readonly (readonly [ChannelKind, string])[] = [
  ["email", "E-mail"],
  ["webhook", "Webhook: a POST of JSON, signed"],
  ["ntfy", "ntfy: a message on telephones"],
];

/** What an address of a kind is called, and an example. */
const ADDRESSES: Record<ChannelKind, readonly [label: string, hint: string]> = {
  email: ["E-mail address", "Such as ann@example.org."],
  webhook: ["URL", "http or https, such as https://example.org/alerts"],
  ntfy: ["URL of the topic", "Such as https://ntfy.sh/my-topic"],
};

/** Asks for a channel; `make` makes it, and gives the key that it has. The key of a webhook is shown once it is made, and never again. */
export function channelDialog(desk: Desk, make: (settings: ChannelSettings) => Promise<string | null>): void {
  const label = new Field(textInput("channel-label", { required: true, maxlength: 64 }), "Name", {
    hint: "By which rules name it, such as: on call.",
    about: /label/,
  });
  const kind = new Field(choice("channel-kind", KINDS), "Kind", { about: /sends no e-mail/ });
  const address = new Field(textInput("channel-address", { required: true, maxlength: 1024 }), "", {
    hint: " ",
    about: /^address/,
  });
  const token = new Field(
    textInput("channel-token", { type: "password", autocomplete: "new-password", maxlength: 128 }),
    "Access token",
    { hint: "If the topic needs one. Empty for none; it is not shown again.", about: /token/ },
  );
  const choose = () => {
    const chosen = kind.control.value as ChannelKind;
    const [words, hint] = ADDRESSES[chosen];
    setText(address.root.querySelector("label")!, words);
    setText(address.root.querySelector(".hint")!, hint);
    address.control.type = chosen === "email" ? "email" : "url";
    token.root.hidden = chosen !== "ntfy";
  };
  kind.control.addEventListener("change", choose);
  choose();
  formDialog(desk, "Make a channel", {
    fields: [label, kind, address, token],
    action: "Make channel",
    send: async () => {
      const chosen = kind.control.value as ChannelKind;
      const secret = token.control.value;
      const key = await make({
        label: label.text,
        kind: chosen,
        address: address.text,
        ...(chosen === "ntfy" && secret !== "" ? { token: secret } : {}),
      });
      if (key !== null) showOnce(label.text, key);
    },
  });
}

/** Asks for the code that was sent to an address of e-mail. */
export function confirmDialog(
  desk: Desk,
  { label, address }: Channel,
  confirm: (code: string) => Promise<void>,
): void {
  const code = new Field(
    textInput("channel-code", {
      autocomplete: "one-time-code",
      inputmode: "numeric",
      required: true,
      maxlength: 64,
    }),
    "Code",
    { hint: "The digits in the e-mail.", about: /code/ },
  );
  formDialog(desk, `Confirm ${shown(label)}`, {
    fields: [
      html(
        "p",
        { class: "hint" },
        `A code was sent to ${shown(address)}. No alert is told there before it is typed here.`,
      ),
      code,
    ],
    action: "Confirm",
    send: () => confirm(code.text),
  });
}

function showOnce(label: string, key: string): void {
  const done = button("Done", () => dialog.close(), "primary");
  const dialog = openDialog(
    `The key of ${shown(label)}`,
    html(
      "p",
      { class: "hint" },
      "Shown this once. The receiver checks by it that a message is of this cloud.",
    ),
    copyField("the key", key),
    html(
      "p",
      { class: "hint" },
      "Each message has the header ",
      html("code", {}, "Sixlock-Signature: t=T,v1=S"),
      ". S is HMAC-SHA256 in hexadecimal digits, with the ASCII bytes of this key, over T, a full stop and the body.",
    ),
    html("div", { class: "buttons" }, done),
  );
  done.focus();
}

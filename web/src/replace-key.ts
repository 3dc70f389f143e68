import { api, ApiError, type Resource } from "./api";
import { openDialog } from "./dialog";
import { html, setText } from "./dom";
import { formatDate, shown } from "./format";
import { keyAndCommand } from "./key";
import type { Desk } from "./page";
import { PublicKeyField } from "./public-key";

const HOUR = 3_600;
const OVERLAPS: readonly [string, number][] = [
  ["for a day", 24 * HOUR],
  ["for an hour", HOUR],
  ["for a week", 7 * 24 * HOUR],
  ["no longer", 0],
];

/** Gives a device a new key. The present one stays good for a while, so that the device can be told. */
export function replaceKey(desk: Desk, resource: Resource): void {
  const overlap = html(
    "select",
    { id: "key-overlap" },
    ...OVERLAPS.map(([words, seconds]) => html("option", { value: seconds }, words)),
  );
  const publicKey = new PublicKeyField(resource.mode);
  const problem = html("p", { class: "problem", role: "alert" });
  const cancel = html("button", { type: "button", class: "secondary" }, "Cancel");
  const replace = html(
    "button",
    { type: "submit", class: "primary" },
    publicKey.key === undefined ? "Make a new key" : "Replace the key",
  );
  const form = html(
    "form",
    {},
    publicKey.element,
    html("label", { for: "key-overlap" }, "The present key stays good"),
    overlap,
    problem,
    html("div", { class: "buttons" }, cancel, replace),
  );
  const dialog = openDialog(`A new key for ${shown(resource.label)}`, form);
  cancel.addEventListener("click", () => dialog.close());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    replace.disabled = true;
    setText(problem, "");
    try {
      const endpoints = await api.endpoints();
      const { username } = desk.user;
      const made = await api.replaceKey(username, resource.id, Number(overlap.value), publicKey.key);
      const ends = made.replaced?.expires;
      const done = html("button", { type: "button", class: "primary" }, "Done");
      done.addEventListener("click", () => dialog.close());
      form.replaceWith(
        html(
          "p",
          {},
          "Its identity is now ",
          html("code", {}, made.identity),
          ends
            ? `. The key before stays good until ${formatDate(ends)}.`
            : ". The key before is good no more.",
          made.identity.includes("#")
            ? " The number behind # tells the device's keys apart: the device has to use the whole identity."
            : "",
        ),
        ...keyAndCommand({ ...resource, ...made }, endpoints),
        html("div", { class: "buttons" }, done),
      );
      done.focus();
      await desk.refresh();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.signedOut) {
        dialog.close();
        desk.fail(error);
      }
      setText(problem, error.words);
      replace.disabled = false;
    }
  });
}

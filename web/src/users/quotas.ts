import { accountApi, type Quotas, type QuotasAndUsage } from "../account-api";
import { ApiError, type User } from "../api";
import { openDialog } from "../dialog";
import { html, setText } from "../dom";
import { Field } from "../field";
import { Form } from "../form";
import { formatCount, shown } from "../format";
import type { Desk } from "../page";
import { button } from "../panel";

const MOST = 1_000_000_000_000;

/** What there is a quota of, what is used of it, and what it is called. */
const KINDS: readonly (readonly [keyof Quotas, keyof QuotasAndUsage["used"], string])[] = [
  ["resources", "resources", "Devices"],
  ["streams", "streams", "Streams"],
  ["points_a_day", "points_today", "Readings a day"],
];

/** What is used, and of how much, in words for each kind. */
export function usageWords({ quotas, used }: QuotasAndUsage): [name: string, words: string][] {
  return KINDS.map(([quota, usage, name]) => {
    const have = formatCount(used[usage]);
    if (quotas !== null) return [name, `${have} of ${formatCount(quotas[quota])}`];
    // Readings of those without quotas are not counted.
    return [name, usage === "points_today" ? "not limited" : `${have}, not limited`];
  });
}

/** Shows what a user has and may have, and sets that. */
export function quotasDialog(desk: Desk, user: User): void {
  const note = html("p", { class: "note", role: "status" }, "Loading.");
  const facts = html("dl", { class: "facts" });
  const close = button("Close", () => dialog.close());
  const dialog = openDialog(`Quotas of ${shown(user.username)}`, note, facts);
  const bottom = html("div", { class: "buttons" }, close);
  const tell = (state: QuotasAndUsage) => {
    facts.replaceChildren(
      ...usageWords(state).map(([name, words]) =>
        html("div", {}, html("dt", {}, name), html("dd", {}, words)),
      ),
    );
  };
  const fail = (error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    note.hidden = false;
    setText(note, error.words);
    desk.fail(error);
  };
  const show = (state: QuotasAndUsage) => {
    note.hidden = true;
    tell(state);
    const { quotas } = state;
    if (quotas === null) {
      note.hidden = false;
      setText(note, "An administrator has no quotas.");
      dialog.append(bottom);
      return;
    }
    const fields = KINDS.map(
      ([quota, , name]) =>
        new Field(
          html("input", {
            id: `quota-${quota}`,
            type: "number",
            min: 0,
            max: MOST,
            step: 1,
            required: true,
            value: quotas[quota],
          }),
          `${name} allowed`,
          { about: new RegExp(quota) },
        ),
    );
    const fill = (set: QuotasAndUsage) => {
      tell(set);
      KINDS.forEach(([quota], index) => {
        fields[index]!.control.value = String(set.quotas?.[quota] ?? "");
      });
    };
    const form = new Form(desk, {
      fields: [
        ...fields,
        html("p", { class: "hint" }, "What the user has already stays, if it is more. A day is one of UTC."),
      ],
      action: "Set quotas",
      send: async () => {
        const [resources, streams, points_a_day] = fields.map(({ control }) => Number(control.value));
        fill(await accountApi.setQuotas(user.username, { resources, streams, points_a_day }));
      },
      done: "The quotas are set.",
    });
    const usual = button("As for all", () => {
      accountApi.setQuotas(user.username, {}).then(fill, fail);
    });
    form.root.querySelector(".buttons")!.prepend(close, usual);
    dialog.addEventListener("close", () => form.stop());
    dialog.append(form.root);
    fields[0]!.control.focus();
  };
  accountApi.quotas(user.username).then(show, fail);
}

import { ApiError } from "./api";
import { openDialog } from "./dialog";
import { html, setText } from "./dom";
import { Field, type Control } from "./field";
import type { Desk } from "./page";
import { Refusal } from "./refusal";

export interface FormOptions {
  /** Fields, and what else stands between them. */
  fields: (Field<Control> | HTMLElement)[];
  /** What the button says. */
  action: string;
  /** Sends what is filled in; what the cloud refuses is shown beside the field that it is about. */
  send: () => Promise<void>;
  /** What is said when it was sent, in a form that stays. */
  done?: string;
  cancel?: () => void;
}

/** A form that is sent once at a time. */
export class Form {
  readonly root: HTMLFormElement;
  private readonly button: HTMLButtonElement;
  private readonly refusal: Refusal;
  private readonly done = html("p", { class: "done", role: "status", hidden: true });
  private readonly fields: Field<Control>[];

  constructor(
    private readonly desk: Pick<Desk, "fail">,
    private readonly options: FormOptions,
  ) {
    this.button = html("button", { type: "submit", class: "primary" }, options.action);
    this.refusal = new Refusal(this.button);
    this.fields = options.fields.filter((part): part is Field<Control> => part instanceof Field);
    const buttons: HTMLElement[] = [this.button];
    if (options.cancel) {
      const cancel = html("button", { type: "button", class: "secondary" }, "Cancel");
      cancel.addEventListener("click", options.cancel);
      buttons.unshift(cancel);
    }
    this.root = html(
      "form",
      {},
      ...options.fields.map((part) => (part instanceof Field ? part.root : part)),
      ...(options.done === undefined ? [] : [this.done]),
      this.refusal.root,
      html("div", { class: "buttons" }, ...buttons),
    );
    this.root.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.submit();
    });
  }

  /** No clock runs any more. */
  stop(): void {
    this.refusal.clear();
  }

  private async submit(): Promise<void> {
    this.refusal.clear();
    for (const field of this.fields) field.clear();
    this.button.disabled = this.done.hidden = true;
    try {
      await this.options.send();
      this.button.disabled = this.done.hidden = false;
      setText(this.done, this.options.done ?? "");
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.refuse(error);
      if (error.signedOut) this.desk.fail(error);
    }
  }

  private refuse(error: ApiError): void {
    const field = this.fields.find(({ about, root }) => !root.hidden && about?.test(error.message));
    if (!field) {
      this.refusal.show(error);
      return;
    }
    this.button.disabled = false;
    field.refuse(error.message);
    field.control.focus();
  }
}

/** A form in a dialog, which closes when it was sent. */
export function formDialog(
  desk: Desk,
  title: string,
  options: Omit<FormOptions, "cancel">,
  ...below: HTMLElement[]
): HTMLDialogElement {
  const form = new Form(desk, {
    ...options,
    cancel: () => dialog.close(),
    send: async () => {
      await options.send();
      dialog.close();
    },
  });
  const dialog = openDialog(title, form.root, ...below);
  dialog.addEventListener("close", () => form.stop());
  form.root.querySelector<HTMLElement>(":is(input, select, textarea):not([hidden])")?.focus();
  return dialog;
}

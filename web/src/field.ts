import { html, setText } from "./dom";

export type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

export interface FieldOptions {
  hint?: string;
  /** Which refusals of the cloud are about this field, by their words. */
  about?: RegExp;
}

/** A control with its label and a hint. Beside it stands why what is in it was refused. */
export class Field<C extends Control = HTMLInputElement> {
  readonly root: HTMLElement;
  readonly about: RegExp | undefined;
  private readonly problem = html("p", { class: "field-problem", role: "alert", hidden: true });

  constructor(
    readonly control: C,
    label: string,
    { hint, about }: FieldOptions = {},
  ) {
    const { id } = control;
    this.about = about;
    this.problem.id = `${id}-problem`;
    const described = [this.problem.id];
    const parts: HTMLElement[] = [html("label", { for: id }, label), control];
    if (hint !== undefined) {
      described.push(`${id}-hint`);
      parts.push(html("p", { class: "hint", id: `${id}-hint` }, hint));
    }
    control.setAttribute("aria-describedby", described.join(" "));
    this.root = html("div", { class: "field" }, ...parts, this.problem);
    if (control instanceof HTMLInputElement && control.type === "checkbox") this.root.classList.add("check");
  }

  /** What is in it, without space around it. */
  get text(): string {
    return this.control.value.trim();
  }

  refuse(words: string): void {
    this.problem.hidden = false;
    setText(this.problem, words);
    this.control.setAttribute("aria-invalid", "true");
  }

  clear(): void {
    this.problem.hidden = true;
    setText(this.problem, "");
    this.control.removeAttribute("aria-invalid");
  }
}

/** A field for a line of text that is no prose. */
export function textInput(
  id: string,
  more: Record<string, string | number | boolean> = {},
): HTMLInputElement {
  return html("input", { id, autocomplete: "off", autocapitalize: "none", spellcheck: "false", ...more });
}

/** A choice of few, each by its value and its words. */
export function choice(id: string, options: readonly (readonly [string, string])[]): HTMLSelectElement {
  return html("select", { id }, ...options.map(([value, words]) => html("option", { value }, words)));
}

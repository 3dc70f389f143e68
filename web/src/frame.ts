import { html, mark } from "./dom";

/** The dashboard around its pages: a head with tabs and what else stands there, then what is below it, the last of which is `main`. */
export function frame(
  main: HTMLElement,
  tabs: readonly HTMLElement[],
  head: readonly HTMLElement[],
  ...between: HTMLElement[]
): HTMLElement {
  const skip = html("button", { type: "button", class: "skip" }, "Skip to content");
  skip.addEventListener("click", () => main.focus());
  return html(
    "div",
    { class: "page" },
    skip,
    html(
      "header",
      { class: "top" },
      html("div", { class: "brand" }, mark(), html("h1", {}, "Sixlock")),
      // The documents are no page of this one: the cloud serves them.
      html("nav", { class: "tabs", "aria-label": "Pages" }, ...tabs, html("a", { href: "/docs/" }, "Help")),
      ...head,
    ),
    ...between,
    main,
  );
}

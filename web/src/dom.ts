type Attributes = Record<string, string | number | boolean | undefined>;
type Child = Node | string;

function fill<E extends Element>(node: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children);
  return node;
}

/** Creates an HTML element. Text goes in as text: nothing here parses markup. */
export function html<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** Creates an SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** Sets an element's text, touching the document only if it differs (live regions would speak again). */
export function setText(node: Element, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** Makes `children` those of `parent`. What stays where it is keeps the focus. */
export function arrange(parent: Element, children: readonly Element[]): void {
  const wanted = new Set(children);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  children.forEach((child, index) => {
    const there = parent.children[index];
    if (there !== child) parent.insertBefore(child, there ?? null);
  });
}

/** The closed or open padlock that stands beside a security mode. */
export function padlock(closed: boolean): SVGSVGElement {
  return svg(
    "svg",
    { viewBox: "0 0 16 16", class: "padlock", "aria-hidden": "true" },
    svg("rect", { x: 3, y: 7, width: 10, height: 7, rx: 1.6 }),
    svg("path", { d: closed ? "M5.2 7V5a2.8 2.8 0 0 1 5.6 0v2" : "M5.2 7V4.2a2.8 2.8 0 0 1 5.4-1" }),
  );
}

/** The mark of the project: a hexagon that locks. */
export function mark(): SVGSVGElement {
  return svg(
    "svg",
    { viewBox: "0 0 32 32", class: "mark", "aria-hidden": "true" },
    svg("path", { d: "M16 1.5 28.6 8.75v14.5L16 30.5 3.4 23.25V8.75z", class: "mark-body" }),
    svg("path", { d: "M11.5 15v-3a4.5 4.5 0 0 1 9 0v3", class: "mark-shackle" }),
    svg("rect", { x: 9.5, y: 14.5, width: 13, height: 9.5, rx: 2, class: "mark-case" }),
    svg("circle", { cx: 16, cy: 19.2, r: 1.8, class: "mark-body" }),
  );
}

/** A button beside what could not be loaded. */
export function tryAgain(act: () => void): HTMLButtonElement {
  const button = html("button", { type: "button", class: "quiet" }, "Try again");
  button.addEventListener("click", act);
  return button;
}

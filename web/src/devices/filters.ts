import { html } from "../dom";
import { choice } from "../field";
import { STATE_WORDS, type DeviceState, type Group, type Order, type Selection } from "../fleet-api";
import { formatCount, shown } from "../format";
import { LINKS } from "../route";

/** A search waits so long for the next letter. */
const PAUSE_MS = 250;

const ORDERS: readonly (readonly [Order, string])[] = [
  ["name", "By name"],
  ["silence", "Longest silent first"],
  ["heard", "Latest reading first"],
  ["added", "As they were added"],
];
const ALERTS = "alerts";

/** What is looked for among the devices, and in which order they come. The address says it, so that it can be linked to. */
export class Filters {
  readonly root: HTMLElement;
  readonly search = html("input", {
    type: "search",
    id: "device-search",
    placeholder: "Name, identity, tag, folder",
    maxlength: 200,
    autocomplete: "off",
    spellcheck: "false",
  });
  private readonly state = choice("device-state", [
    ["", "All devices"],
    ...Object.entries(STATE_WORDS),
    [ALERTS, "With alerts"],
  ]);
  private readonly tag = html("select", { id: "device-tag" });
  private readonly order = choice("device-order", ORDERS);
  private folderName = "";
  private timer: number | undefined;

  /** `changed` is told when something else is looked for, or in another order. */
  constructor(private readonly changed: () => void) {
    const spoken = (name: string, words: string) => html("label", { for: name, class: "spoken" }, words);
    this.root = html(
      "div",
      { class: "tools", hidden: true },
      spoken("device-tag", "Tag"),
      this.tag,
      spoken("device-state", "State"),
      this.state,
      spoken("device-order", "Order"),
      this.order,
      spoken("device-search", "Search"),
      this.search,
    );
    this.read(window.location.hash);
    for (const control of [this.state, this.order, this.tag])
      control.addEventListener("input", () => this.apply());
    this.search.addEventListener("input", () => {
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.apply(), PAUSE_MS);
    });
  }

  get selection(): Selection {
    const { value } = this.state;
    return {
      search: this.search.value.trim(),
      tags: this.tag.value === "" ? [] : [this.tag.value],
      ...(value !== "" && value !== ALERTS ? { state: value as DeviceState } : {}),
      ...(value === ALERTS ? { with_alerts: true } : {}),
      folder: this.folderName,
    };
  }

  get chosenOrder(): Order {
    return this.order.value as Order;
  }

  get folder(): string {
    return this.folderName;
  }

  set folder(folder: string) {
    this.folderName = folder;
    this.apply();
  }

  /** Whether anything is looked for. */
  get isNarrow(): boolean {
    const { search, tags, state, with_alerts, folder } = this.selection;
    return search !== "" || tags!.length > 0 || state !== undefined || with_alerts === true || folder !== "";
  }

  /** The tags that there are. The one that is chosen stays, be it gone. */
  offer(tags: readonly Group[]): void {
    const { value } = this.tag;
    const offered = tags.map(({ name, devices }) =>
      html("option", { value: name }, `${shown(name)} (${formatCount(devices)})`),
    );
    if (value !== "" && !tags.some(({ name }) => name === value))
      offered.push(html("option", { value }, shown(value)));
    this.tag.replaceChildren(html("option", { value: "" }, "All tags"), ...offered);
    this.tag.value = value;
    this.tag.hidden = offered.length === 0;
  }

  stop(): void {
    window.clearTimeout(this.timer);
  }

  private apply(): void {
    window.clearTimeout(this.timer);
    const order = this.chosenOrder === "name" ? "" : this.chosenOrder;
    window.history.replaceState(null, "", address(this.selection, order));
    this.changed();
  }

  private read(hash: string): void {
    const said = new URLSearchParams(hash.split("?")[1] ?? "");
    const tag = said.get("tags") ?? "";
    this.search.value = said.get("search") ?? "";
    this.folderName = said.get("folder") ?? "";
    if (tag !== "") this.tag.append(html("option", { value: tag }, shown(tag)));
    this.tag.value = tag;
    this.state.value = said.get("with_alerts") === "true" ? ALERTS : (said.get("state") ?? "");
    this.order.value = said.get("order") ?? "name";
    for (const select of [this.state, this.order]) if (select.selectedIndex < 0) select.selectedIndex = 0;
  }
}

/** The address of the list with what is looked for. */
export function address(selection: Selection, order: string): string {
  const said: [string, string][] = [
    ["search", selection.search ?? ""],
    ["tags", (selection.tags ?? []).join(",")],
    ["state", selection.state ?? ""],
    ["with_alerts", selection.with_alerts === true ? "true" : ""],
    ["folder", selection.folder ?? ""],
    ["order", order],
  ];
  const query = new URLSearchParams(said.filter(([, value]) => value !== "")).toString();
  return query === "" ? LINKS.devices : `${LINKS.devices}?${query}`;
}

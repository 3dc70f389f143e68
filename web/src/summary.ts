import type { Network } from "./api";
import { html, setText } from "./dom";
import { formatBytes, formatCount, formatDuration } from "./format";
import { ModeBadge } from "./mode-badge";
import { modes, totals } from "./network";
import type { NetworkMap } from "./network-map";
import { LINKS } from "./route";
import { ShareBar } from "./share-bar";

const LAG_WORTH_TELLING_S = 0.5;

/** The network as a whole: its tree, its totals and its clock. */
export class Summary {
  readonly root: HTMLElement;
  private readonly body = html("div", { class: "summary-body", hidden: true });
  private readonly problem = html(
    "p",
    { class: "note", role: "status" },
    "Asking for the network's figures.",
  );
  private readonly badge = new ModeBadge();
  private readonly clock = html("p", { class: "clock" });
  private readonly numbers = new Map<string, HTMLElement>();
  private readonly share = new ShareBar();

  constructor(map: NetworkMap) {
    const list = html("dl");
    for (const name of ["Readings", "Handshakes", "Retransmissions", "On the air"]) {
      const value = html("dd");
      this.numbers.set(name, value);
      list.append(html("div", {}, html("dt", {}, name), value));
    }
    this.body.append(map.root, html("div", { class: "figures" }, list, this.share.root));
    this.root = html(
      "section",
      { class: "summary", "aria-labelledby": "network-heading" },
      html(
        "header",
        {},
        html("h2", { id: "network-heading" }, html("a", { href: LINKS.network }, "Network")),
        this.badge.root,
        this.clock,
      ),
      this.problem,
      this.body,
    );
  }

  update(network: Network): void {
    const sum = totals(network.nodes);
    const set = (name: string, text: string) => setText(this.numbers.get(name)!, text);
    set("Readings", formatCount(sum.points));
    set("Handshakes", formatCount(sum.handshakes));
    set("Retransmissions", formatCount(sum.retransmissions));
    set("On the air", formatBytes(sum.bytes));
    this.share.update(sum);
    this.badge.update(modes(network.nodes).join(", "));
    this.badge.root.hidden = sum.nodes === 0;

    const lag = network.lag_s ?? 0;
    setText(
      this.clock,
      `${formatCount(sum.nodes)} ${sum.nodes === 1 ? "node" : "nodes"}, simulated ${formatDuration(network.time_s)}` +
        (lag >= LAG_WORTH_TELLING_S ? `, ${lag.toFixed(1)} s behind the clock` : ""),
    );
    this.clock.classList.toggle("late", lag >= LAG_WORTH_TELLING_S);
    this.body.hidden = sum.nodes === 0;
    this.problem.hidden = sum.nodes > 0;
    setText(this.problem, "The network has no nodes.");
  }

  fail(why: string): void {
    this.problem.hidden = false;
    setText(this.problem, why);
  }
}

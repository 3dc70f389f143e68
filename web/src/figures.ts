import type { NetworkNode } from "./api";
import { html, setText } from "./dom";
import { formatBytes, formatCount } from "./format";
import { ShareBar } from "./share-bar";

/** What the security of one node of the network does and costs. */
export class Figures {
  readonly root = html("div", { class: "figures", hidden: true });
  private readonly hops = html("dd");
  private readonly handshakes = html("dd");
  private readonly retransmissions = html("dd");
  private readonly bytes = html("dd");
  private readonly share = new ShareBar();

  constructor() {
    const row = (name: string, value: HTMLElement, title: string) =>
      html("div", { title }, html("dt", {}, name), value);
    this.root.append(
      html(
        "dl",
        {},
        row("Hops", this.hops, "Radio hops to the border router"),
        row("Handshakes", this.handshakes, "Secure sessions this device has opened"),
        row("Retransmissions", this.retransmissions, "Messages and frames sent again"),
        row("On the air", this.bytes, "Bytes on the air, forwarded ones included"),
      ),
      this.share.root,
    );
  }

  /** A device outside of the network has none. */
  update(node: NetworkNode | undefined): void {
    this.root.hidden = node === undefined;
    if (!node) return;
    setText(this.hops, node.hops === null ? "none yet" : formatCount(node.hops));
    setText(this.handshakes, formatCount(node.handshakes));
    setText(this.retransmissions, formatCount(node.retransmissions));
    setText(this.bytes, formatBytes(node.bytes));
    this.share.update(node);
  }
}

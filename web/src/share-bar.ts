import { html, setText } from "./dom";
import { formatBytes, formatShare } from "./format";
import { securityShare } from "./network";

/** A bar and a number: which part of the bytes on the air security costs. */
export class ShareBar {
  readonly root: HTMLElement;
  private readonly share = html("strong");
  private readonly detail = html("span", { class: "share-detail" });
  private readonly part = html("span", { class: "share-part" });

  constructor() {
    this.root = html(
      "div",
      { class: "share" },
      html("p", {}, html("span", { class: "share-name" }, "Security costs"), this.share, this.detail),
      html("div", { class: "share-bar", "aria-hidden": "true" }, this.part),
    );
  }

  update(figures: { bytes: number; security_bytes: number }): void {
    const share = securityShare(figures);
    setText(this.share, formatShare(share));
    setText(this.detail, `${formatBytes(figures.security_bytes)} of ${formatBytes(figures.bytes)}`);
    this.part.style.width = `${(share ?? 0) * 100}%`;
  }
}

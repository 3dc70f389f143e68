import { html, setText } from "./dom";
import { formatDuration } from "./format";

const SILENT_AFTER_S = 60;

/** How long ago a device was heard. */
export class Heard {
  readonly root = html("p", { class: "heard" }, "Loading");
  private last = -Infinity;
  private loaded = false;

  /** A reading of this time, if it is the newest. */
  at(time: number): void {
    this.last = Math.max(this.last, time);
    this.tick();
  }

  /** All that is stored is known. */
  settled(): void {
    this.loaded = true;
    this.tick();
  }

  tick(): void {
    if (this.last === -Infinity) {
      setText(this.root, this.loaded ? "No reading yet" : "Loading");
      return;
    }
    const age = Math.max(0, (Date.now() - this.last) / 1000);
    const silent = age > SILENT_AFTER_S;
    this.root.classList.toggle("silent", silent);
    const ago = age < 1.5 ? "now" : `${formatDuration(age)} ago`;
    setText(this.root, silent ? `Silent for ${formatDuration(age)}` : `Last reading ${ago}`);
  }
}

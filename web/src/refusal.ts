import { ApiError } from "./api";
import { html, setText, svg } from "./dom";
import { formatDuration } from "./format";

/** Below a form: why what was sent was refused. If the cloud asks to wait, the button waits. */
export class Refusal {
  readonly root = html("p", { class: "problem", role: "alert", hidden: true });
  private readonly words = html("span");
  private timer: number | undefined;

  constructor(private readonly button: HTMLButtonElement) {
    const sign = svg(
      "svg",
      { viewBox: "0 0 16 16", class: "sign", "aria-hidden": "true" },
      svg("circle", { cx: 8, cy: 8, r: 6.6 }),
      svg("path", { d: "M8 4.4v4.4M8 11.4v.1" }),
    );
    this.root.append(sign, this.words);
  }

  clear(): void {
    window.clearInterval(this.timer);
    this.timer = undefined;
    this.root.hidden = true;
    setText(this.words, "");
  }

  say(words: string): void {
    this.clear();
    this.root.hidden = false;
    setText(this.words, words);
  }

  /** Shows the refusal of something in which a password was sent; the button works again when it may be tried again. */
  show(error: ApiError): void {
    this.say(error.words);
    this.button.disabled = false;
    const what = TOO_MANY[error.code];
    if (error.status === 429 && error.retryMs > 0 && what !== undefined) {
      this.wait(Date.now() + error.retryMs, what);
    }
  }

  private wait(until: number, what: string): void {
    const tell = () => {
      const seconds = Math.ceil((until - Date.now()) / 1000);
      if (seconds <= 0) this.clear();
      else setText(this.words, tooMany(seconds, what));
      this.button.disabled = seconds > 0;
    };
    tell();
    this.timer = window.setInterval(tell, 250);
  }
}

/** Of what there were too many, by the kind of refusal. */
const TOO_MANY: Record<string, string> = {
  too_many_passwords: "wrong passwords",
  too_many_codes: "wrong codes",
  too_many_sign_ups: "accounts were asked for from here",
};

/** What is said while no password may be tried. */
export function tooMany(seconds: number, what = "wrong passwords"): string {
  return `Too many ${what}: try again in ${formatDuration(seconds)}.`;
}

import { api, type Resource } from "./api";
import { html, setText } from "./dom";
import { formatDate } from "./format";
import { isCertified } from "./public-key";
import { DAY_MS } from "./time";

/** A certificate that ends sooner than this is warned of. */
const SOON_MS = 30 * DAY_MS;

/** Until when a device's certificate is good: nothing of a device that has none, or one that the cloud does not know. */
export class CertificateEnd {
  readonly root = html("p", { class: "certificate", hidden: true });
  private asked = "";

  /** Asks the cloud, if the device shows a certificate; anew if it has another identity now. */
  async of(user: string, { id, identity, mode }: Resource): Promise<void> {
    if (!isCertified(mode) || identity === null || identity === this.asked) return;
    this.asked = identity;
    try {
      const credentials = await api.credentials(user, id);
      this.show(
        credentials.find((credential) => credential.identity === identity)?.certificate_expires ?? null,
      );
    } catch (error) {
      this.asked = "";
      throw error;
    }
  }

  /** The next call asks anew: the certificate was replaced, and the identity may be the same. */
  forget(): void {
    this.asked = "";
  }

  private show(expires: number | null): void {
    this.root.hidden = expires === null;
    if (expires === null) return;
    const { words, state } = endWords(expires, Date.now());
    this.root.dataset["state"] = state;
    setText(this.root, words);
  }
}

/** What is said of a certificate that ends at `expires`. */
export function endWords(expires: number, now: number): { words: string; state: "good" | "soon" | "ended" } {
  const date = formatDate(expires).slice(0, 10);
  if (expires <= now) return { words: `Certificate ended ${date}: replace its key`, state: "ended" };
  if (expires > now + SOON_MS) return { words: `Certificate good until ${date}`, state: "good" };
  const days = Math.ceil((expires - now) / DAY_MS);
  return { words: `Certificate ends in ${days} ${days === 1 ? "day" : "days"}, ${date}`, state: "soon" };
}

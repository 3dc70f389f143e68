import { accountApi, type OidcLinks, type Provider } from "../account-api";
import { html, setText } from "../dom";
import { Field } from "../field";
import { formDialog } from "../form";
import { formatDate, shown } from "../format";
import type { Desk } from "../page";
import { button, Panel } from "../panel";

/** The account at an OpenID provider by which the user signs in. Without a provider or a link, there is no such panel. */
export class ProviderPanel extends Panel {
  private readonly state = html("p", { class: "note", role: "status" });

  constructor(desk: Desk) {
    super(
      desk,
      "provider",
      "Sign in by a provider",
      "An account elsewhere, by which you sign in here beside your password.",
    );
    this.root.hidden = true;
    this.body.append(this.state);
  }

  protected override async fill(): Promise<void> {
    const { username } = this.desk.user;
    const [{ oidc }, links] = await Promise.all([accountApi.waysIn(), accountApi.oidcLinks(username)]);
    this.root.hidden = oidc === undefined && links.links.length === 0;
    setText(this.state, linkWords(links, oidc));
    const tools = [];
    if (links.links.length > 0) {
      tools.push(button("Unlink", () => this.unlink(), "secondary destructive", "Unlink the provider"));
    } else if (oidc !== undefined) {
      tools.push(button(`Sign in with ${shown(oidc.label)} from now on`, () => this.link(oidc)));
    }
    this.tools.replaceChildren(...tools);
  }

  private link({ label }: Provider): void {
    const { username } = this.desk.user;
    const password = presentPassword();
    formDialog(this.desk, `Sign in with ${shown(label)}`, {
      fields: [
        ownerOf(username),
        html(
          "p",
          { class: "hint" },
          `Type your password first. Then you sign in with ${shown(label)}, and the account that you sign in with there is yours here.`,
        ),
        password,
      ],
      action: "Go on",
      send: async () => {
        const { path } = await accountApi.beginOidcLink(username, password.control.value);
        window.location.assign(path);
      },
    });
  }

  private unlink(): void {
    const { username } = this.desk.user;
    const password = presentPassword();
    formDialog(this.desk, "Unlink the provider?", {
      fields: [
        ownerOf(username),
        html(
          "p",
          { class: "hint" },
          "You sign in by your password alone from then on. Your sessions in other browsers end.",
        ),
        password,
      ],
      action: "Unlink",
      send: async () => {
        await accountApi.unlinkOidc(username, password.control.value);
        await this.load();
      },
    });
  }
}

/** Password managers want to know whose password it is. */
function ownerOf(username: string): HTMLElement {
  return html("input", { autocomplete: "username", value: username, hidden: true });
}

function presentPassword(): Field {
  return new Field(
    html("input", {
      id: "provider-password",
      type: "password",
      autocomplete: "current-password",
      required: true,
      maxlength: 256,
    }),
    "Present password",
    { about: /password/ },
  );
}

/** By what the user signs in, in words. */
export function linkWords({ links, has_password }: OidcLinks, provider: Provider | undefined): string {
  if (links.length === 0) {
    return provider === undefined
      ? "You sign in by your password."
      : `You sign in by your password, and not with ${shown(provider.label)}.`;
  }
  const accounts = links.map(
    ({ issuer, subject, linked }) => `${shown(subject)} at ${shown(issuer)}, linked on ${formatDate(linked)}`,
  );
  const without = has_password
    ? ""
    : " You have no password: an administrator makes you a link that sets one.";
  return `You sign in as ${accounts.join(", and as ")}.${without}`;
}

import { html, setText } from "../dom";
import { formatDate, formatValue, formatWhen, shown, unitSymbol } from "../format";
import type { Desk } from "../page";
import { button, Panel, PanelPage, record, table } from "../panel";
import { LINKS, streamLink } from "../route";
import { sharedApi, type FollowedStream, type SharedStreamWithPoint } from "../shared-api";

/** Latest values are asked for anew so often, in seconds. */
const AGAIN_S = 30;

/** The streams that a user follows. */
export class FollowedPage extends PanelPage {
  constructor(desk: Desk) {
    super("Followed streams", AGAIN_S, new FollowedPanel(desk));
  }
}

class FollowedPanel extends Panel {
  private readonly rows = html("tbody");
  private readonly empty = html("p", { class: "note" });
  private readonly table = table("followed", ["Stream", "Of", "Latest", "Since"], this.rows);

  constructor(desk: Desk) {
    super(
      desk,
      "followed",
      "Followed streams",
      "Public streams of others, and your own, that you keep an eye on.",
    );
    this.empty.append("You follow no stream. ", html("a", { href: LINKS.public }, "Find one"), ".");
    this.tools.append(html("a", { class: "secondary", href: LINKS.public }, "Find public streams"));
    this.body.append(this.empty, this.table);
  }

  protected override async fill(): Promise<void> {
    const followed = await sharedApi.followed(this.desk.user.username);
    const latest = await Promise.all(followed.map(({ stream }) => (stream ? look(stream.id) : undefined)));
    this.table.hidden = followed.length === 0;
    this.empty.hidden = followed.length > 0;
    this.rows.replaceChildren(...followed.map((one, at) => this.row(one, latest[at])));
  }

  private row({ id, since, stream }: FollowedStream, now: SharedStreamWithPoint | undefined): HTMLElement {
    const name = stream ? shown(stream.label) : `Stream ${id}`;
    const latest = now?.latest
      ? `${formatValue(now.latest.value)} ${unitSymbol(now.unit)}`.trim() + `, ${formatWhen(now.latest.time)}`
      : "–";
    const stop = button("Unfollow", () => void this.unfollow(id, stop), "quiet", `Unfollow ${name}`);
    return record(
      stream ? html("a", { href: streamLink(id) }, name) : name,
      [
        ["Of", stream ? `${shown(stream.device)}, ${shown(stream.owner)}` : "no longer public"],
        ["Latest", stream ? latest : ""],
        ["Since", formatDate(since)],
      ],
      [stop],
    );
  }

  private async unfollow(id: FollowedStream["id"], button: HTMLButtonElement): Promise<void> {
    button.disabled = true;
    setText(button, "Unfollowing");
    try {
      await sharedApi.unfollow(this.desk.user.username, id);
    } catch (error) {
      this.desk.fail(error);
    }
    await this.load();
  }
}

/** The stream as it is now; nothing if it was made private in this moment. */
async function look(id: FollowedStream["id"]): Promise<SharedStreamWithPoint | undefined> {
  return sharedApi.show(id).catch(() => undefined);
}

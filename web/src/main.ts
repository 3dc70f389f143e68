import "./style.css";
import "./settings.css";
import "./alerts.css";
import { api, ApiError } from "./api";
import { App } from "./app";
import { signInPage, unreachablePage } from "./sign-in";

const RETRY_MS = 4_000;
const app = document.getElementById("app")!;
let retry: number | undefined;

/** Shows the dashboard to those whom the cloud knows, and the way in to all others; `why` is what they are told. */
async function start(why = ""): Promise<void> {
  window.clearTimeout(retry);
  try {
    const user = await api.me();
    app.replaceChildren(new App(user, (why) => void start(why)).root);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    document.title = "Sixlock";
    if (error.signedOut) {
      app.replaceChildren(signInPage(why, () => void start()));
      return;
    }
    app.replaceChildren(unreachablePage(error, () => void start()));
    retry = window.setTimeout(() => void start(), RETRY_MS);
  }
}

void start();

import "./style.css";
import "./settings.css";
import "./alerts.css";
import "./sharing.css";
import "./fleet.css";
import "./api-help.css";
import { api, ApiError } from "./api";
import { App } from "./app";
import { html } from "./dom";
import { isForAll, LINKS, routeOf } from "./route";
import { signInPage, unreachablePage } from "./sign-in";
import { Visit } from "./visit";

const RETRY_MS = 4_000;
const app = document.getElementById("app")!;
let retry: number | undefined;
/** What is shown while nobody is signed in, of what is shared with all. */
let visit: Visit | undefined;

/** The page of the address. */
const here = () => routeOf(window.location.hash);

/** Shows the dashboard to those whom the cloud knows, what is shared to others, and the way in; `why` is what they are told. */
async function start(why = ""): Promise<void> {
  window.clearTimeout(retry);
  leave();
  // Whoever opens a link that shows a stream sees what all do who have it, signed in or not.
  const route = here();
  if (route.page === "stream" && route.token !== undefined) {
    show();
    return;
  }
  try {
    const user = await api.me();
    app.replaceChildren(new App(user, (why) => void start(why)).root);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    document.title = "Sixlock";
    if (error.signedOut) {
      if (isForAll(here())) show();
      else {
        const page = signInPage(why, () => void start());
        page.append(html("p", {}, html("a", { href: LINKS.public }, "See public streams")));
        app.replaceChildren(page);
      }
      return;
    }
    app.replaceChildren(unreachablePage(error, () => void start()));
    retry = window.setTimeout(() => void start(), RETRY_MS);
  }
}

/** Shows what is shared. */
function show(): void {
  visit = new Visit();
  app.replaceChildren(visit.root);
  visit.turnTo(here());
}

function leave(): void {
  visit?.stop();
  visit = undefined;
}

window.addEventListener("hashchange", () => {
  const route = here();
  const isSignIn = app.firstElementChild?.classList.contains("sign-in") ?? false;
  if (visit && isForAll(route)) visit.turnTo(route);
  else if (visit || (isSignIn && isForAll(route))) void start();
});

void start();

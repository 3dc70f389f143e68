//! People sign in at the cloud by the OpenID provider of npm's `oidc-provider`.

mod browser;

use std::fs;

use browser::{Browser, Page};
use serde_json::{Value, json};
use sixlock_cloud::{Config, OidcSettings, Running};
use sixlock_interop::OidcProvider;
use tempfile::TempDir;

const PASSWORD: &str = "long enough";
const SECRET: &str = "a secret: of + some % length";
const SESSION: &str = "sixlock_session";
const PENDING: &str = "sixlock_oidc";

struct Bench {
    provider: OidcProvider,
    running: Running,
    /// Where the cloud is.
    cloud: String,
    directory: TempDir,
}

/// What is said of the client at the provider, and what the cloud says more.
struct Settings {
    method: &'static str,
    algorithm: &'static str,
    lean: bool,
    cloud: Value,
}

impl Default for Settings {
    fn default() -> Self {
        Self { method: "client_secret_basic", algorithm: "RS256", lean: false, cloud: json!({}) }
    }
}

impl Settings {
    fn provider(&self, cloud: &str) -> String {
        let mut client = json!({
            "client_id": "sixlock",
            "redirect_uris": [format!("{cloud}/sign-in/oidc/callback")],
            "grant_types": ["authorization_code"],
            "response_types": ["code"],
            "token_endpoint_auth_method": self.method,
        });
        if self.method != "none" {
            client["client_secret"] = json!(SECRET);
        }
        json!({"client": client, "algorithm": self.algorithm, "lean": self.lean}).to_string()
    }
}

impl Bench {
    async fn start(settings: &Settings) -> Self {
        let provider = tokio::task::spawn_blocking(|| OidcProvider::start(env!("CARGO_TARGET_TMPDIR")));
        let mut provider = provider.await.unwrap();
        let mut oidc = json!({"issuer": provider.issuer, "client_id": "sixlock", "label": "Example"});
        if settings.method != "none" {
            oidc["client_secret"] = json!(SECRET);
        }
        for (name, value) in settings.cloud.as_object().unwrap() {
            oidc[name] = value.clone();
        }
        let oidc: OidcSettings = serde_json::from_value(oidc).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let config = Config { max_sessions: 10, oidc: Some(oidc), ..Config::on_loopback(directory.path()) };
        let running = sixlock_cloud::start(config, None).await.unwrap();
        let cloud = format!("http://{}", running.http);
        provider.becomes(&settings.provider(&cloud));
        Self { provider, running, cloud, directory }
    }

    /// Stops the cloud, and gives what its record says: of each line the reason or the action, and who.
    async fn record(self) -> Vec<(String, Option<String>)> {
        self.running.stop().await.unwrap();
        let read = |name: &str| fs::read_to_string(self.directory.path().join(name)).unwrap_or_default();
        let lines = read("audit.jsonl") + &read("actions.jsonl");
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let words = lines.map(|line| {
            let text = |name: &str| line[name].as_str().map(str::to_owned);
            (text("reason").or(text("action")).unwrap_or_default(), text("who"))
        });
        words.collect()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.cloud)
    }

    async fn user(&self, name: &str) {
        self.running.store.add_user(name, "", PASSWORD.into(), false).await.unwrap();
    }

    /// Goes from a page of the cloud to the provider, signs in there as `name`, and stops before the browser is sent back.
    fn at_provider(&self, browser: &mut Browser, path: &str, name: &str) -> String {
        let callback = self.url("/sign-in/oidc/callback");
        let stops = |url: &str| url.starts_with(&callback);
        let page = browser.go_until(&self.url(path), stops);
        if stops(&page.url) {
            return page.url;
        }
        let asked = browser.submit(&page, &format!("prompt=login&login={name}&password=x"), stops);
        if stops(&asked.url) {
            return asked.url;
        }
        browser.submit(&asked, "prompt=consent", stops).url
    }

    /// Goes where the provider sends the browser back to, and on to the dashboard, which need not be built.
    fn come_back(&self, browser: &mut Browser, url: &str) -> Page {
        browser.go_until(url, |url| self.is_dashboard(url))
    }

    /// Goes where the provider sends the browser back to, and confirms there that the account is to be linked.
    fn confirm(&self, browser: &mut Browser, back: &str) -> Page {
        let page = self.come_back(browser, back);
        assert!(page.status == 200 && page.body.contains("Link it"), "{page:?}");
        browser.submit(&page, "", |url| self.is_dashboard(url))
    }

    fn is_dashboard(&self, url: &str) -> bool {
        url == self.url("/") || url.starts_with(&self.url("/#"))
    }

    /// Signs in by the provider as `name` there.
    fn sign_in(&self, browser: &mut Browser, name: &str) -> Page {
        let back = self.at_provider(browser, "/sign-in/oidc", name);
        self.come_back(browser, &back)
    }

    /// Who is signed in.
    fn me(&self, browser: &mut Browser) -> Option<String> {
        let page = browser.api(&format!("GET {}", self.url("/api/v1/me")), &Value::Null);
        (page.status == 200).then(|| page.json()["username"].as_str().unwrap().to_owned())
    }

    /// Signs in by password.
    fn login(&self, browser: &mut Browser, name: &str) {
        let body = json!({"username": name, "password": PASSWORD});
        let page = browser.api(&format!("POST {}", self.url("/api/v1/login")), &body);
        assert_eq!(page.status, 200, "{page:?}");
    }

    /// Begins to link an account to the user who is signed in.
    fn begin_to_link(&self, browser: &mut Browser, name: &str, password: &str) -> Page {
        let body = json!({"current_password": password});
        browser.api(&format!("POST {}", self.url(&format!("/api/v1/users/{name}/oidc"))), &body)
    }

    fn links(&self, browser: &mut Browser, name: &str) -> Value {
        let page =
            browser.api(&format!("GET {}", self.url(&format!("/api/v1/users/{name}/oidc"))), &Value::Null);
        assert_eq!(page.status, 200, "{page:?}");
        page.json()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_person_gets_an_account_whatever_client_the_provider_knows_and_whatever_it_signs_by() {
    let sign_up = json!({"sign_up": true});
    for (method, algorithm, lean) in [
        ("client_secret_basic", "RS256", true),
        ("client_secret_post", "ES256", false),
        ("none", "PS256", true),
    ] {
        let settings = Settings { method, algorithm, lean, cloud: sign_up.clone() };
        let bench = Bench::start(&settings).await;
        bench.user("ann").await;
        let signed_in = tokio::task::spawn_blocking(move || {
            let mut browser = Browser::default();
            let offered = browser.api(&format!("GET {}", bench.url("/api/v1/sign-up")), &Value::Null);
            let offer = json!({"label": "Example", "path": "/sign-in/oidc"});
            assert_eq!(offered.json(), json!({"allowed": false, "oidc": offer}));
            let page = bench.sign_in(&mut browser, "ann");
            assert_eq!((page.status, &*page.url), (303, &*bench.url("/")), "{page:?}");
            // The account that was there is another person's, though the provider says the name.
            assert_eq!(bench.me(&mut browser).as_deref(), Some("ann-2"), "{method} {algorithm}");
            assert_eq!(browser.cookie(&bench.cloud, PENDING), None);
            let me = browser.api(&format!("GET {}", bench.url("/api/v1/me")), &Value::Null).json();
            assert_eq!((&me["role"], &me["email"]), (&json!("member"), &json!("ann@example.org")));
            let links = bench.links(&mut browser, "ann-2");
            assert_eq!(
                (&links["has_password"], &links["links"][0]["subject"]),
                (&json!(false), &json!("ann"))
            );
            assert_eq!(links["links"][0]["issuer"], bench.provider.issuer);
            let exported = browser.go(&bench.url("/api/v1/users/ann-2/export"));
            assert!(exported.body.contains("{\"type\":\"oidc_link\",\"issuer\":"), "{}", exported.body);

            // The same person again has the same account.
            let mut other = Browser::default();
            bench.sign_in(&mut other, "ann");
            assert_eq!(bench.me(&mut other).as_deref(), Some("ann-2"));
            bench
        });
        let record = signed_in.await.unwrap().record().await;
        let of_ann = |word: &str| (word.to_owned(), Some("ann-2".to_owned()));
        assert!(record.contains(&of_ann("signed_up")) && record.contains(&of_ann("signed_in")), "{record:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_links_an_account_signs_in_by_it_and_unlinks_it() {
    let bench = Bench::start(&Settings::default()).await;
    bench.user("ann").await;
    bench.user("bob").await;
    let done = tokio::task::spawn_blocking(move || {
        // Without sign-up, a person who is not linked is told what to do.
        let mut stranger = Browser::default();
        let page = bench.sign_in(&mut stranger, "ann");
        assert_eq!(page.status, 403);
        assert!(
            page.body.contains("not linked to a user here") && page.body.contains("under Account"),
            "{page:?}"
        );
        assert_eq!((bench.me(&mut stranger), stranger.cookie(&bench.cloud, SESSION)), (None, None));

        let mut ann = Browser::default();
        bench.login(&mut ann, "ann");
        let wrong = bench.begin_to_link(&mut ann, "ann", "not the password");
        assert_eq!((wrong.status, &wrong.json()["error"]["code"]), (403, &json!("wrong_password")));
        // Nobody links by having gone to the path alone.
        let unasked = ann.go(&bench.url("/sign-in/oidc?link=true"));
        assert_eq!(unasked.status, 403, "{unasked:?}");
        let begun = bench.begin_to_link(&mut ann, "ann", PASSWORD);
        assert_eq!(begun.status, 201, "{begun:?}");
        let path = begun.json()["path"].as_str().unwrap().to_owned();
        let back = bench.at_provider(&mut ann, &path, "ann");
        let linked = bench.confirm(&mut ann, &back);
        assert_eq!((linked.status, &*linked.url), (303, &*bench.url("/#/account")), "{linked:?}");
        assert_eq!(bench.links(&mut ann, "ann")["links"][0]["subject"], "ann");

        // From any browser, by the provider alone.
        let mut elsewhere = Browser::default();
        bench.sign_in(&mut elsewhere, "ann");
        assert_eq!(bench.me(&mut elsewhere).as_deref(), Some("ann"));

        // The account is hers: nobody else links it.
        let mut bob = Browser::default();
        bench.login(&mut bob, "bob");
        let path = bench.begin_to_link(&mut bob, "bob", PASSWORD).json()["path"].as_str().unwrap().to_owned();
        let back = bench.at_provider(&mut bob, &path, "ann");
        let taken = bench.confirm(&mut bob, &back);
        assert_eq!(taken.status, 403);
        assert!(taken.body.contains("linked to another user"), "{taken:?}");

        // Unlinked, it signs nobody in, and the sessions that may have begun by it are over.
        let url = bench.url("/api/v1/users/ann/oidc");
        let body = json!({"current_password": PASSWORD});
        assert_eq!(ann.api(&format!("DELETE {url}"), &Value::Null).status, 403);
        assert_eq!(ann.api(&format!("DELETE {url}"), &body).status, 204);
        assert_eq!(bench.links(&mut ann, "ann")["links"], json!([]));
        assert_eq!((bench.me(&mut ann).as_deref(), bench.me(&mut elsewhere)), (Some("ann"), None));
        assert_eq!(bench.sign_in(&mut Browser::default(), "ann").status, 403);
        bench
    });
    let record = done.await.unwrap().record().await;
    for word in
        ["oidc_not_linked", "oidc_unlinked", "oidc_taken", "oidc_link_begun", "oidc_linked", "oidc_state"]
    {
        assert!(record.iter().any(|(said, _)| said == word), "{word}: {record:?}");
    }
    let by = |word: &str| record.iter().find(|(said, _)| said == word).unwrap().1.as_deref();
    assert_eq!((by("oidc_linked"), by("oidc_unlinked")), (Some("ann"), Some("ann")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_made_only_while_the_session_that_asked_for_it_lasts() {
    let bench = Bench::start(&Settings::default()).await;
    bench.user("ann").await;
    tokio::task::spawn_blocking(move || {
        let mut ann = Browser::default();
        bench.login(&mut ann, "ann");
        let path = bench.begin_to_link(&mut ann, "ann", PASSWORD).json()["path"].as_str().unwrap().to_owned();
        let back = bench.at_provider(&mut ann, &path, "ann");
        assert_eq!(ann.api(&format!("POST {}", bench.url("/api/v1/logout")), &Value::Null).status, 204);
        assert_eq!(ann.go(&back).status, 401);
        assert_eq!(bench.sign_in(&mut Browser::default(), "ann").status, 403, "nothing was linked");
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_one_user_asked_for_is_not_made_in_the_browser_of_another() {
    let bench = Bench::start(&Settings::default()).await;
    bench.user("ann").await;
    bench.user("eve").await;
    tokio::task::spawn_blocking(move || {
        let mut eve = Browser::default();
        bench.login(&mut eve, "eve");
        let path = bench.begin_to_link(&mut eve, "eve", PASSWORD).json()["path"].as_str().unwrap().to_owned();
        let planted = eve.cookie(&bench.cloud, PENDING).unwrap().to_owned();
        let mut ann = Browser::default();
        bench.login(&mut ann, "ann");
        ann.set_cookie(&bench.cloud, ("/sign-in/oidc", PENDING, &planted));
        let back = bench.at_provider(&mut ann, &path, "ann");
        let refused = bench.confirm(&mut ann, &back);
        assert_eq!(refused.status, 403, "{refused:?}");
        assert!(refused.body.contains("not asked for in the session"), "{refused:?}");
        for (browser, name) in [(&mut ann, "ann"), (&mut eve, "eve")] {
            assert_eq!(bench.links(browser, name)["links"], json!([]));
        }
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_taken_once_in_the_browser_that_asked_and_as_it_was_given() {
    let settings = Settings { cloud: json!({"sign_up": true}), ..Settings::default() };
    let bench = Bench::start(&settings).await;
    let done = tokio::task::spawn_blocking(move || {
        let refused = |browser: &mut Browser, url: &str, said: &str| {
            let page = browser.go(url);
            assert!(page.status == 403 && page.body.contains(said), "{said}: {page:?}");
            assert_eq!(browser.cookie(&bench.cloud, SESSION), None, "{said}");
        };
        let mut ann = Browser::default();
        let back = bench.at_provider(&mut ann, "/sign-in/oidc", "ann");
        let pending = ann.cookie(&bench.cloud, PENDING).unwrap().to_owned();
        let with = |name: &str, value: &str| {
            let begin = format!("{name}=");
            let pair = back.split(['?', '&']).find(|pair| pair.starts_with(&begin)).unwrap();
            back.replace(pair, &format!("{begin}{value}"))
        };

        refused(&mut Browser::default(), &back, "not begun in this browser");
        refused(&mut ann.clone(), &with("state", "another"), "not begun in this browser");
        // Another sign-in of the same browser: an attacker's answer is not taken for one's own.
        let mut other = Browser::default();
        let others = bench.at_provider(&mut other, "/sign-in/oidc", "eve");
        refused(&mut ann.clone(), &others, "not begun in this browser");

        // The first that comes with the state uses it up, so these begin anew.
        for (name, value, said) in [
            ("iss", "https%3A%2F%2Fother.example.org", "another provider"),
            ("code", "guessed", "takes the code of this sign-in no more"),
        ] {
            let mut browser = Browser::default();
            let back = bench.at_provider(&mut browser, "/sign-in/oidc", "ann");
            let begin = format!("{name}=");
            let pair = back.split(['?', '&']).find(|pair| pair.starts_with(&begin)).unwrap();
            refused(&mut browser, &back.replace(pair, &format!("{begin}{value}")), said);
        }
        let mut browser = Browser::default();
        let back_unnamed = bench.at_provider(&mut browser, "/sign-in/oidc", "ann");
        let unnamed =
            back_unnamed.split('&').filter(|pair| !pair.starts_with("iss=")).collect::<Vec<_>>().join("&");
        refused(&mut browser, &unnamed, "another provider");

        // The right one is taken once, also if the cookie was kept.
        assert_eq!(bench.come_back(&mut ann, &back).status, 303);
        assert_eq!(bench.me(&mut ann).as_deref(), Some("ann"));
        let mut thief = Browser::default();
        thief.set_cookie(&bench.cloud, ("/sign-in/oidc", PENDING, &pending));
        refused(&mut thief, &back, "finished already");
        bench
    });
    let record = done.await.unwrap().record().await;
    for word in ["oidc_state", "oidc_issuer", "oidc_code", "oidc_replay", "signed_in"] {
        assert!(record.iter().any(|(said, _)| said == word), "{word}: {record:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_says_no_at_the_provider_is_not_signed_in() {
    let bench = Bench::start(&Settings::default()).await;
    tokio::task::spawn_blocking(move || {
        let mut browser = Browser::default();
        let page = browser.go(&bench.url("/sign-in/oidc"));
        let aborted = browser.go(&format!("{}/abort", page.url));
        assert_eq!(aborted.status, 403, "{aborted:?}");
        assert!(aborted.body.contains("did not sign you in: access_denied."), "{aborted:?}");
        assert_eq!(browser.cookie(&bench.cloud, PENDING), None);
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_the_provider_replaces_are_fetched_when_a_token_names_one() {
    let settings = Settings { cloud: json!({"sign_up": true}), ..Settings::default() };
    let mut bench = Bench::start(&settings).await;
    tokio::task::spawn_blocking(move || {
        assert_eq!(bench.sign_in(&mut Browser::default(), "ann").status, 303);
        let anew = settings.provider(&bench.cloud);
        bench.provider.becomes(&anew);
        assert_eq!(bench.sign_in(&mut Browser::default(), "ann").status, 303);
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_a_second_factor_shows_a_code_after_the_provider() {
    let bench = Bench::start(&Settings::default()).await;
    bench.user("ann").await;
    let store = bench.running.store.clone();
    let ann = store.user("ann").await.unwrap().unwrap().id;
    store.link_oidc(ann, (&bench.provider.issuer, "ann"), 0).await.unwrap();
    let secret = store.begin_second_factor(ann).await.unwrap();
    let now = || std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64;
    let codes = store.confirm_second_factor(ann, &secret.code(now()), now()).await.unwrap().unwrap();
    tokio::task::spawn_blocking(move || {
        let mut browser = Browser::default();
        let page = bench.sign_in(&mut browser, "ann");
        assert_eq!(page.status, 200);
        assert!(page.body.contains("One-time code"), "{page:?}");
        assert_eq!(browser.cookie(&bench.cloud, SESSION), None, "the provider alone is not enough");
        let wrong = browser.submit(&page, "code=000000", |_| false);
        assert_eq!(wrong.status, 401);
        assert!(wrong.body.contains("The code is wrong"), "{wrong:?}");
        let right = browser.submit(&wrong, &format!("code={}", codes[0]), |url| bench.is_dashboard(url));
        assert_eq!(right.status, 303, "{right:?}");
        assert_eq!(bench.me(&mut browser).as_deref(), Some("ann"));
        assert_eq!(browser.cookie(&bench.cloud, PENDING), None);
        // Without what the provider said, a code is nothing.
        let again = Browser::default().submit(&wrong, &format!("code={}", codes[1]), |_| false);
        assert_eq!(again.status, 403);
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_is_disabled_is_not_let_in_by_the_provider() {
    let bench = Bench::start(&Settings::default()).await;
    bench.user("ann").await;
    let store = bench.running.store.clone();
    let ann = store.user("ann").await.unwrap().unwrap();
    store.link_oidc(ann.id, (&bench.provider.issuer, "ann"), 0).await.unwrap();
    let admin = fs::read_to_string(bench.directory.path().join("admin-token")).unwrap();
    tokio::task::spawn_blocking(move || {
        let mut operator = Browser::default();
        operator.set_cookie(&bench.cloud, ("/", SESSION, admin.trim()));
        let url = bench.url("/api/v1/users/ann");
        assert_eq!(operator.api(&format!("PUT {url}"), &json!({"disabled": true})).status, 200);
        let mut browser = Browser::default();
        let page = bench.sign_in(&mut browser, "ann");
        assert!(page.status == 403 && page.body.contains("This account is disabled."), "{page:?}");
        // An administrator sees the link, and takes it away without anybody's password.
        assert_eq!(bench.links(&mut operator, "ann")["links"][0]["subject"], "ann");
        assert_eq!(operator.api(&format!("DELETE {url}/oidc"), &Value::Null).status, 204);
        assert_eq!(bench.links(&mut operator, "ann")["links"], json!([]));
    })
    .await
    .unwrap();
}

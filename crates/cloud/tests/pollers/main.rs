//! Pollers as their users set them up: a real cloud, and what it polls on the other end of real sockets.

mod device;
mod observing;
mod public_keys;
mod scripted;
mod web;

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use device::{Device, IDENTITY, KEY, LONG, LOOPBACK, Resumed, Seen};
use serde_json::{Value, json};
use sixlock_cloud::{Config, Device as Enrolled, LONGEST_PAGE, Page, ResourceId, Running};
use sixlock_endpoint::Transport;
use tempfile::TempDir;
use web::{Server, answer};

/// Longer than anything takes that works.
const PATIENCE: Duration = Duration::from_secs(120);
const SENML: &str = "Content-Type: application/senml+json\r\n";
/// Long enough for a test to see one poll alone.
const SELDOM: i64 = 3600;

struct Cloud {
    running: Running,
    directory: TempDir,
    token: String,
    resource: ResourceId,
}

fn config(directory: &Path, allowed: &[&str]) -> Config {
    let poll_allow = allowed.iter().map(|allowed| allowed.parse().unwrap()).collect();
    Config { max_sessions: 100, poll_allow, ..Config::on_loopback(directory) }
}

/// A cloud with the resource "node", which may poll what is allowed.
async fn start(allowed: &[&str]) -> Cloud {
    start_in(tempfile::tempdir().unwrap(), allowed).await
}

async fn start_in(directory: TempDir, allowed: &[&str]) -> Cloud {
    let running = sixlock_cloud::start(config(directory.path(), allowed), None).await.unwrap();
    let node = Enrolled::named("node");
    let resource = running.enrol(node).await.unwrap().resource.id;
    let token = std::fs::read_to_string(directory.path().join("admin-token")).unwrap().trim().to_owned();
    Cloud { running, directory, token, resource }
}

impl Cloud {
    async fn ask(&self, method: &str, body: Value) -> (u16, Value) {
        self.ask_at(method, "node/poller", body).await
    }

    async fn ask_at(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        self.ask_of_user(method, &format!("resources/{path}"), body).await
    }

    async fn ask_of_user(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let request = format!("{method} /api/v1/users/admin/{path}").trim_end_matches('/').to_owned();
        let (address, token) = (self.running.http, self.token.clone());
        let body = if body.is_null() { String::new() } else { body.to_string() };
        tokio::task::spawn_blocking(move || web::ask(address, &request, &token, &body)).await.unwrap()
    }

    async fn set(&self, poller: Value) -> Value {
        let (status, set) = self.ask("PUT", poller).await;
        assert!(matches!(status, 200 | 201), "{set}");
        set
    }

    async fn shown(&self) -> Value {
        self.ask("GET", Value::Null).await.1
    }

    async fn values(&self) -> Vec<f64> {
        let Some(stream) = self.running.store.stream(self.resource, "t").await.unwrap() else {
            return Vec::new();
        };
        let page = Page { limit: LONGEST_PAGE, from: None, until: None };
        let points = self.running.store.points(stream.id, page).await.unwrap();
        points.into_iter().map(|point| point.value.number().unwrap()).collect()
    }

    /// Waits until so many values are stored.
    async fn stored(&self, values: usize) -> Vec<f64> {
        let end = Instant::now() + PATIENCE;
        loop {
            let stored = self.values().await;
            if stored.len() >= values {
                return stored;
            }
            assert!(Instant::now() < end, "{stored:?}, {}", self.shown().await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Sets a poller and returns what the failure of its first poll is said to be.
    async fn error(&self, poller: Value) -> String {
        self.set(poller).await;
        let end = Instant::now() + PATIENCE;
        loop {
            let shown = self.shown().await;
            if let Some(error) = shown["last_error"].as_str() {
                assert!(shown["failures"].as_i64().unwrap() >= 1 && shown["last_polled"].is_i64(), "{shown}");
                return error.to_owned();
            }
            assert!(Instant::now() < end, "no error: {shown}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Waits until `condition` holds.
async fn until(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < end, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn coaps(url: String, period: i64) -> Value {
    json!({"url": url, "period": period, "identity": IDENTITY, "key": KEY})
}

#[tokio::test(flavor = "multi_thread")]
async fn what_http_gives_is_stored_and_its_authorization_is_kept_secret() {
    let server = Server::start(|path| match path {
        "/old?a=b" => answer("307 Temporary Redirect", "Location: /new\r\n", ""),
        _ => answer("200 OK", SENML, r#"[{"n":"t","u":"Cel","v":21.5}]"#),
    });
    let address = server.address;
    let cloud = start(&[&address.to_string()]).await;
    assert_eq!(cloud.ask("GET", Value::Null).await.0, 404);
    let (status, set) = cloud
        .ask("PUT", json!({"url": format!("http://{address}/old?a=b"), "period": SELDOM, "authorization": "Bearer s3cret"}))
        .await;
    assert_eq!(status, 201, "{set}");
    assert_eq!(
        (&set["authorization"], &set["identity"], &set["period"]),
        (&true.into(), &Value::Null, &SELDOM.into())
    );
    assert_eq!(cloud.stored(1).await, [21.5]);
    until("two requests", || server.requests().len() == 2).await;
    let requests = server.requests();
    assert!(requests[0].starts_with("GET /old?a=b HTTP/1.1\r\n"), "{requests:?}");
    assert!(requests[1].starts_with("GET /new HTTP/1.1\r\n"), "{requests:?}");
    for request in requests {
        let request = request.to_lowercase();
        assert!(request.contains(&format!("\r\nhost: {address}\r\n")), "{request}");
        assert!(request.contains("\r\nauthorization: bearer s3cret\r\n"), "{request}");
    }
    let shown = cloud.shown().await;
    assert!(!shown.to_string().contains("s3cret") && shown["url"] == set["url"], "{shown}");

    // Without the authorization: what is not named is not kept.
    cloud.set(json!({"url": format!("http://{address}/other"), "period": SELDOM})).await;
    assert_eq!(cloud.stored(2).await, [21.5, 21.5]);
    assert!(!server.requests()[2].to_lowercase().contains("authorization"));

    assert_eq!(cloud.ask("DELETE", Value::Null).await.0, 204);
    assert_eq!(cloud.ask("DELETE", Value::Null).await.0, 404);
    assert_eq!(cloud.ask("GET", Value::Null).await.0, 404);
    cloud.running.stop().await.unwrap();
    let database = std::fs::read(cloud.directory.path().join("sixlock.db")).unwrap();
    assert!(!database.windows(6).any(|bytes| bytes == b"s3cret"), "a secret lies open in the database");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poller_that_is_resumed_waits_for_its_turn() {
    let server = Server::start(|_| answer("200 OK", SENML, r#"[{"n":"t","v":1}]"#));
    let address = server.address;
    let cloud = start(&[&address.to_string()]).await;
    cloud.set(json!({"url": format!("http://{address}/seldom"), "period": SELDOM})).await;
    let end = Instant::now() + PATIENCE;
    while cloud.shown().await["last_polled"].is_null() {
        assert!(Instant::now() < end, "the poll is not noted");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for kind in ["pause_polls", "resume_polls"] {
        let change = json!({"matching": {}, "change": {"kind": kind}});
        let (status, changed) = cloud.ask_of_user("POST", "fleet/changes", change).await;
        assert_eq!((status, &changed["changed"]), (200, &json!(1)), "{kind}: {changed}");
    }
    assert_eq!(cloud.shown().await["paused"], json!(false));
    // What is set anew is polled at once: the other would have been by then.
    cloud.running.enrol(Enrolled::named("other")).await.unwrap();
    let other = json!({"url": format!("http://{address}/other"), "period": SELDOM});
    assert_eq!(cloud.ask_at("PUT", "other/poller", other).await.0, 201);
    until("two requests", || server.requests().len() >= 2).await;
    assert!(server.requests()[1].starts_with("GET /other "), "{:?}", server.requests());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_leads_no_further_than_polls_may_go() {
    let inner = Server::start(|_| answer("200 OK", SENML, r#"[{"n":"t","v":1}]"#));
    let inside = inner.address.port();
    let outer = Server::start(move |path| match path {
        "/loopback" => answer("302 Found", &format!("Location: http://127.0.0.1:{inside}/\r\n"), ""),
        "/name" => answer("302 Found", &format!("Location: http://localhost:{inside}/\r\n"), ""),
        "/mapped" => answer("302 Found", &format!("Location: http://[::ffff:127.0.0.1]:{inside}/\r\n"), ""),
        "/decimal" => answer("302 Found", &format!("Location: http://2130706433:{inside}/\r\n"), ""),
        "/file" => answer("302 Found", "Location: file:///etc/passwd\r\n", ""),
        "/coap" => answer("302 Found", "Location: coap://127.0.0.1/\r\n", ""),
        _ => answer("302 Found", "Location: /again\r\n", ""),
    });
    let address = outer.address;
    let cloud = start(&[&address.to_string()]).await;
    for (path, error) in [
        ("loopback", "is at a loopback address"),
        // Where a name leads is not told.
        ("name", "leads to no address of the open Internet"),
        ("mapped", "is at an IPv4-mapped address, where polls never go"),
        ("decimal", "is at a loopback address"),
        ("file", "only http, https, coap and coaps"),
        ("coap", "it redirects from HTTP to CoAP"),
        ("again", "it redirects more than three times"),
    ] {
        let told = cloud.error(json!({"url": format!("http://{address}/{path}"), "period": SELDOM})).await;
        assert!(told.contains(error), "{path}: {told}");
    }
    assert_eq!(inner.requests(), [] as [&str; 0]);
    assert_eq!(outer.requests().len(), 6 + 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authorization_goes_to_its_own_host_only() {
    let other = Server::start(|_| answer("200 OK", SENML, r#"[{"n":"t","v":1}]"#));
    let there = other.address;
    let server = Server::start(move |_| answer("302 Found", &format!("Location: http://{there}/\r\n"), ""));
    let cloud = start(&["127.0.0.1/32"]).await;
    let url = format!("http://{}/", server.address);
    cloud.set(json!({"url": url, "period": SELDOM, "authorization": "Bearer s3cret"})).await;
    assert_eq!(cloud.stored(1).await, [1.0]);
    assert!(server.requests()[0].contains("s3cret"));
    assert!(!other.requests()[0].to_lowercase().contains("authorization"), "{:?}", other.requests());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_leads_to_this_machine_is_not_polled() {
    let server = Server::start(|_| answer("200 OK", SENML, r#"[{"n":"t","v":1}]"#));
    let device = Device::start(Transport::Udp);
    let cloud = start(&[]).await;
    for url in [
        format!("http://localhost:{}/", server.address.port()),
        format!("coap://localhost:{}/", device.address.port()),
    ] {
        let told = cloud.error(json!({"url": url, "period": SELDOM})).await;
        let hint = url.split('/').nth(2).unwrap();
        assert!(
            told.contains("leads to no address of the open Internet") && !told.contains("loopback"),
            "{told}"
        );
        assert!(told.ends_with(&format!("--poll-allow {hint}")), "{told}");
    }
    // An address is refused before it is stored.
    for url in
        [format!("http://{}/", server.address), "coap://169.254.169.254/".into(), "coaps://[fd00::1]".into()]
    {
        let (status, refused) = cloud.ask("PUT", coaps_or_none(&url)).await;
        assert_eq!((status, &refused["error"]["code"]), (400, &"not_polled".into()), "{url}: {refused}");
    }
    assert_eq!((server.requests().len(), device.seen()), (0, vec![]));
}

fn coaps_or_none(url: &str) -> Value {
    if url.starts_with("coaps:") { coaps(url.into(), SELDOM) } else { json!({"url": url, "period": SELDOM}) }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_are_no_readings_are_told_of() {
    let long = "x".repeat((64 << 10) + 1);
    let server = Server::start(move |path| match path {
        "/missing" => answer("404 Not Found", "", ""),
        "/long" => answer("200 OK", SENML, &long),
        // The length is not stated, and it does not end.
        "/endless" => format!("HTTP/1.1 200 OK\r\n{SENML}\r\n{long}{long}"),
        "/html" => answer("200 OK", "Content-Type: text/html\r\n", "<html>"),
        "/zip" => answer("200 OK", &format!("{SENML}Content-Encoding: gzip\r\n"), "x"),
        "/bad" => answer("200 OK", SENML, r#"{"t":"#),
        _ => "not HTTP at all\r\n\r\n".into(),
    });
    let nobody = TcpPort::nobody();
    let cloud = start(&["127.0.0.1/32"]).await;
    let address = server.address;
    for (url, error) in [
        (format!("http://{address}/missing"), "the answer is 404"),
        (format!("http://{address}/long"), "the answer is longer than 65536 bytes"),
        (format!("http://{address}/endless"), "the answer is longer than 65536 bytes"),
        (format!("http://{address}/html"), "SenML"),
        (format!("http://{address}/zip"), "compressed"),
        (format!("http://{address}/bad"), ""),
        (format!("http://{address}/noise"), "not good HTTP"),
        (format!("https://{address}/tls"), "TLS failed"),
        (format!("http://{nobody}/"), "nobody listens there"),
        (format!("coap://{nobody}/"), "nobody listens there"),
    ] {
        let told = cloud.error(json!({"url": url, "period": SELDOM})).await;
        assert!(told.contains(error), "{url}: {told}");
    }
    assert_eq!(cloud.values().await, [] as [f64; 0]);
}

struct TcpPort;

impl TcpPort {
    /// An address at which nobody listens.
    fn nobody() -> SocketAddr {
        std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_cannot_be_are_refused() {
    let cloud = start(&["127.0.0.1/32"]).await;
    let http = "http://127.0.0.1:8000/";
    let device = "coaps://127.0.0.1/";
    for (settings, why) in [
        (json!({"url": "sensor", "period": 60}), "not a URL"),
        (json!({"url": "ftp://example.org", "period": 60}), "only http"),
        (json!({"url": "http://me:word@127.0.0.1/", "period": 60}), "user or password"),
        (json!({"url": http, "period": 4}), "between 5 and 604800"),
        (json!({"url": http, "period": 604_801}), "between 5 and 604800"),
        (json!({"url": http, "period": 60, "identity": "a", "key": "b"}), "for coaps"),
        (json!({"url": http, "period": 60, "authorization": "a\r\nb"}), "value of a header"),
        (json!({"url": "coap://127.0.0.1/", "period": 60, "authorization": "a"}), "for http"),
        (json!({"url": device, "period": 60, "identity": "a"}), "needs identity and key"),
        (json!({"url": http, "period": 60, "observe": true}), "observe is for coaps"),
        (json!({"url": device, "period": 60, "identity": "", "key": "b"}), "an identity has"),
        (json!({"url": device, "period": 60, "identity": "a", "key": "b".repeat(65)}), "a key has"),
        (json!({"url": http, "period": 60, "more": 1}), "unknown field"),
        (json!({"url": format!("http://{}/", cloud.running.http), "period": 60}), "an address of this cloud"),
    ] {
        let (status, refused) = cloud.ask("PUT", settings.clone()).await;
        let message = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(matches!(status, 400 | 422) && message.contains(why), "{settings}: {status} {refused}");
    }
    assert_eq!(cloud.ask("GET", Value::Null).await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_is_polled_by_coap_every_period() {
    let device = Device::start(Transport::Udp);
    let cloud = start(&[&device.address.to_string()]).await;
    cloud.set(json!({"url": device.url("coap", "a/b%20c?x=1"), "period": 5})).await;
    assert_eq!(cloud.stored(3).await[..3], [1.0, 2.0, 3.0]);
    assert!(device.seen().iter().all(|seen| *seen == Seen::Asked("a/b c?x=1".into())), "{:?}", device.seen());
    let told = cloud.error(json!({"url": device.url("coap", "missing"), "period": SELDOM})).await;
    assert_eq!(told, "the answer is 4.04");
    let told = cloud.error(json!({"url": device.url("coap", "text"), "period": SELDOM})).await;
    assert_ne!(told, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_is_observed_tells_what_changes_between_polls() {
    let device = Device::start(Transport::Dtls);
    let cloud = start(&[&device.address.to_string()]).await;
    let observed = |observe: bool, period: i64| json!({"url": device.url("coaps", "observed"), "period": period, "observe": observe, "identity": IDENTITY, "key": KEY});
    assert_eq!(cloud.set(observed(true, SELDOM)).await["observe"], true);
    assert_eq!(cloud.stored(1).await, [1.0]);
    for n in 1..=3 {
        device.change();
        let values = cloud.stored(n + 1).await;
        assert_eq!(values.len(), n + 1, "{values:?}");
        until("an acknowledgement", || device.count(&Seen::Acknowledged) == n).await;
    }
    assert_eq!(cloud.values().await, [1.0, 2.0, 3.0, 4.0]);
    let shown = cloud.shown().await;
    assert_eq!((&shown["last_error"], &shown["failures"]), (&Value::Null, &0.into()), "{shown}");

    // Each poll lets it go on, in the same session and under the same token.
    cloud.set(observed(true, 5)).await;
    cloud.stored(6).await;
    device.change();
    until("another acknowledgement", || device.count(&Seen::Acknowledged) == 4).await;
    let (connected, observations) =
        (device.count(&Seen::Connected), device.count(&Seen::Observed("observed".into())));
    assert!(connected == 1 && observations >= 3, "{:?}", device.seen());

    // One that is only polled rejects what it is told.
    cloud.set(observed(false, SELDOM)).await;
    until("a poll", || device.count(&Seen::Asked("observed".into())) == 1).await;
    let values = cloud.stored(1).await.len();
    device.change();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(cloud.values().await.len() <= values + 1, "the last poll's value alone may have come");
    assert_eq!(device.count(&Seen::Acknowledged), 4);
    cloud.running.stop().await.unwrap();
    until("the session is closed", || device.count(&Seen::Closed) == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_with_a_device_that_is_observed_is_closed_with_the_cloud() {
    let device = Device::start(Transport::Dtls);
    let cloud = start(&[&device.address.to_string()]).await;
    let url = device.url("coaps", "observed");
    cloud.set(json!({"url": url, "period": SELDOM, "observe": true, "identity": IDENTITY, "key": KEY})).await;
    cloud.stored(1).await;
    cloud.running.stop().await.unwrap();
    until("the session is closed", || device.count(&Seen::Closed) == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn readings_that_come_in_blocks_are_stored_unless_they_change_meanwhile() {
    let (plain, secure) = (Device::start(Transport::Udp), Device::start(Transport::Dtls));
    let cloud = start(&[&plain.address.to_string(), &secure.address.to_string()]).await;
    let told = cloud.error(json!({"url": plain.url("coap", "torn"), "period": SELDOM})).await;
    assert!(told.contains("do not belong together"), "{told}");
    assert_eq!(cloud.values().await, [] as [f64; 0]);
    let long: Vec<f64> = (1..=LONG).map(f64::from).collect();
    cloud.set(json!({"url": plain.url("coap", "long"), "period": SELDOM})).await;
    assert_eq!(cloud.stored(long.len()).await, long);
    cloud.set(coaps(secure.url("coaps", "long"), SELDOM)).await;
    assert_eq!(cloud.stored(2 * long.len()).await[long.len()..], long);
}

/// Figure 5 of the SecureSense paper.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_kept_between_polls_and_closed_when_the_url_leads_elsewhere() {
    let (first, second) = (Device::start(Transport::Dtls), Device::start(Transport::Dtls));
    let cloud = start(&["127.0.0.1/32"]).await;
    cloud.set(coaps(first.url("coaps", "a"), 5)).await;
    cloud.stored(3).await;
    assert_eq!(first.count(&Seen::Connected), 1, "one handshake for all polls: {:?}", first.seen());

    // Another path of the same device, polled at once.
    cloud.set(coaps(first.url("coaps", "b"), SELDOM)).await;
    until("a poll of b", || first.count(&Seen::Asked("b".into())) == 1).await;
    assert_eq!((first.count(&Seen::Connected), first.count(&Seen::Closed)), (1, 0), "{:?}", first.seen());

    cloud.set(coaps(second.url("coaps", "c"), SELDOM)).await;
    until("a poll of c", || second.count(&Seen::Asked("c".into())) == 1).await;
    until("a close_notify", || first.count(&Seen::Closed) == 1).await;
    assert_eq!(second.count(&Seen::Connected), 1);

    assert_eq!(cloud.ask("DELETE", Value::Null).await.0, 204);
    until("a close_notify", || second.count(&Seen::Closed) == 1).await;

    cloud.set(coaps(first.url("coaps", "d"), SELDOM)).await;
    until("a poll of d", || first.count(&Seen::Asked("d".into())) == 1).await;
    assert_eq!(first.count(&Seen::Connected), 2);
    assert_eq!(cloud.ask_at("DELETE", "node", Value::Null).await.0, 204);
    until("a close_notify", || first.count(&Seen::Closed) == 2).await;

    let (status, added) = cloud.ask_at("POST", "", json!({"label": "node", "mode": "dtls-psk"})).await;
    assert_eq!(status, 201, "{added}");
    cloud.set(coaps(first.url("coaps", "e"), SELDOM)).await;
    until("a poll of e", || first.count(&Seen::Asked("e".into())) == 1).await;
    cloud.running.stop().await.unwrap();
    until("a close_notify", || first.count(&Seen::Closed) == 3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_the_device_closed_is_resumed() {
    let device = Device::start(Transport::Dtls);
    let cloud = start(&["127.0.0.1/32"]).await;
    cloud.set(coaps(device.url("coaps", "a"), SELDOM)).await;
    cloud.stored(1).await;
    for polls in 1..3 {
        device.hang_up();
        until("a close_notify", || device.count(&Seen::Closed) == polls).await;
        cloud.set(coaps(device.url("coaps", "a"), SELDOM)).await;
        cloud.stored(1 + polls).await;
        assert_eq!(
            (device.count(&Seen::Connected), device.count(&Seen::Resumed)),
            (1, polls),
            "{:?}",
            device.seen()
        );
    }
    // By another key it is not the same session.
    let settings =
        json!({"url": device.url("coaps", "b"), "period": SELDOM, "identity": IDENTITY, "key": "another"});
    cloud.error(settings).await;
    assert_eq!(device.count(&Seen::Asked("b".into())), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_has_forgotten_the_session_is_met_anew_in_the_same_poll() {
    let device = Device::start(Transport::Dtls);
    let address = device.address;
    let cloud = start(&["127.0.0.1/32"]).await;
    cloud.set(coaps(device.url("coaps", "a"), SELDOM)).await;
    cloud.stored(1).await;
    drop(device);
    let device = Device::start_at(Transport::Dtls, address);
    cloud.set(coaps(device.url("coaps", "b"), SELDOM)).await;
    cloud.stored(2).await;
    assert_eq!((device.count(&Seen::Connected), device.count(&Seen::Asked("b".into()))), (1, 1));
    assert_eq!(cloud.shown().await["last_error"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_knows_another_key_is_not_believed() {
    let device = Device::start(Transport::Dtls);
    let cloud = start(&["127.0.0.1/32"]).await;
    let url = device.url("coaps", "a");
    let settings = json!({"url": url, "period": SELDOM, "identity": IDENTITY, "key": "another key of 20"});
    let told = cloud.error(settings).await;
    assert!(told.contains("alert 51") && told.contains("identity and key"), "{told}");
    assert_eq!(device.seen().iter().find(|seen| matches!(seen, Seen::Connected | Seen::Asked(_))), None);
    assert_eq!(cloud.values().await, [] as [f64; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn pollers_go_on_after_a_restart_and_resume_their_sessions() {
    let device = Device::start(Transport::Dtls);
    let Cloud { running, directory, .. } = {
        let cloud = start(&["127.0.0.1/32"]).await;
        cloud.set(coaps(device.url("coaps", "a"), 5)).await;
        cloud.stored(1).await;
        cloud
    };
    running.stop().await.unwrap();
    let cloud = start_in(directory, &["127.0.0.1/32"]).await;
    cloud.stored(2).await;
    assert_eq!((device.count(&Seen::Connected), device.count(&Seen::Resumed)), (1, 1), "{:?}", device.seen());
    // What was given up is not taken up again.
    cloud.set(json!({"url": device.url("coap", "a"), "period": SELDOM})).await;
    until("a close_notify", || device.count(&Seen::Closed) == 2).await;
    let Cloud { running, directory, .. } = cloud;
    running.stop().await.unwrap();
    let cloud = start_in(directory, &["127.0.0.1/32"]).await;
    cloud.set(coaps(device.url("coaps", "b"), SELDOM)).await;
    until("a poll of b", || device.count(&Seen::Asked("b".into())) == 1).await;
    assert_eq!(device.count(&Seen::Connected), 2, "{:?}", device.seen());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_resumed_by_its_ticket_though_both_sides_were_started_anew() {
    let first = Device::with_tickets(LOOPBACK, None);
    let (address, settings) = (first.address, coaps(first.url("coaps", "a"), 5));
    let cloud = start(&["127.0.0.1/32"]).await;
    cloud.set(settings.clone()).await;
    cloud.stored(1).await;
    assert_eq!((first.count(&Seen::Connected), first.count(&Seen::Resumed)), (1, 0), "{:?}", first.seen());
    cloud.running.stop().await.unwrap();
    drop(first);
    let second = Device::with_tickets(address, None);
    let cloud = start_in(cloud.directory, &["127.0.0.1/32"]).await;
    cloud.stored(2).await;
    let handshakes = (second.count(&Seen::Connected), second.count(&Seen::Resumed));
    assert_eq!(handshakes, (0, 1), "{:?}", second.seen());
    cloud.running.stop().await.unwrap();
    drop(second);
    // One that gives none any more gives an id.
    let device = Device::start_at(Transport::Dtls, address);
    let cloud = start_in(cloud.directory, &["127.0.0.1/32"]).await;
    cloud.stored(3).await;
    device.hang_up();
    until("a close_notify", || device.count(&Seen::Closed) == 1).await;
    cloud.set(settings).await;
    cloud.stored(4).await;
    let handshakes = (device.count(&Seen::Connected), device.count(&Seen::Resumed));
    assert_eq!(handshakes, (1, 1), "{:?}", device.seen());
}

/// Polls a device several times, which does not resume its session.
async fn meets_anew_in_each_of(polls: usize, resumed: Resumed) {
    let device = Device::where_sessions_are(resumed);
    let cloud = start(&["127.0.0.1/32"]).await;
    for polls in 1..=polls {
        cloud.set(coaps(device.url("coaps", "a"), SELDOM)).await;
        cloud.stored(polls).await;
        assert_eq!(cloud.shown().await["last_error"], Value::Null);
        device.hang_up();
        until("a close_notify", || device.count(&Seen::Closed) == polls).await;
        assert_eq!((device.count(&Seen::Connected), device.count(&Seen::Resumed)), (polls, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_refuses_to_resume_is_met_anew_in_the_same_poll_and_not_offered_it_again() {
    meets_anew_in_each_of(3, Resumed::Refused).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_says_nothing_to_a_session_being_resumed_is_met_anew_in_the_same_poll() {
    meets_anew_in_each_of(2, Resumed::Unanswered).await;
}

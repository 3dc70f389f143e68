//! What the HTTP server does when there is too much: of connections, passwords, feeds and missed points.

mod web_client;

use std::sync::Arc;

use serde_json::{Value, json};
use sixlock_cloud::{Append, Idempotency, Reading, Tls};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::aws_lc_rs::default_provider;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use web_client::{Cloud, PASSWORD, PATIENCE, bearer, read_answer};

/// A cloud that believes what a proxy on this machine says.
async fn behind_proxy() -> Cloud {
    Cloud::start(|config| config.trusted_proxies = vec!["127.0.0.1".parse().unwrap()]).await
}

fn from(address: &str) -> String {
    format!("X-Forwarded-For: 198.51.100.200, {address}\r\n")
}

/// Connections that hang: more than there may be, if the system lets this process open as many files.
fn as_many_as_may_hang() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let files = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(1024);
    if files > 3000 { 1100 } else { files / 4 }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_signed_in_is_served_while_slow_bodies_hang() {
    let cloud = Cloud::start(|_| {}).await;
    let mut hanging = Vec::new();
    for n in 0..as_many_as_may_hang() {
        let mut stream = TcpStream::connect(cloud.address()).await.unwrap();
        let begun = "POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                     Content-Length: 1000\r\n\r\n{";
        // Those that have ended already are hung up on.
        let _ = stream.write_all(begun.as_bytes()).await;
        hanging.push(stream);
        if n % 100 == 0 {
            assert_eq!(cloud.as_admin("GET /api/v1/me", Value::Null).await.status, 200, "{n}");
        }
    }
    for _ in 0..20 {
        assert_eq!(cloud.as_admin("GET /api/v1/me", Value::Null).await.status, 200);
    }
    drop(hanging);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn who_is_signed_in_is_served_over_tls_while_handshakes_and_bodies_hang() {
    let certified = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let files = tempfile::tempdir().unwrap();
    let tls = Tls { certificates: files.path().join("cert.pem"), key: files.path().join("key.pem") };
    std::fs::write(&tls.certificates, certified.cert.pem()).unwrap();
    sixlock_cloud::create_private(&tls.key, &certified.signing_key.serialize_pem()).unwrap();
    let cloud = Cloud::start(|config| config.tls = Some(tls)).await;
    let connector = connector(certified.cert.der());
    let connect = async || {
        let stream = TcpStream::connect(cloud.address()).await.unwrap();
        connector.connect("localhost".try_into().unwrap(), stream).await
    };
    let (mut silent, mut slow) = (Vec::new(), Vec::new());
    for n in 0..as_many_as_may_hang() {
        let mut stream = TcpStream::connect(cloud.address()).await.unwrap();
        // The beginning of a record, of which the rest never comes.
        let _ = stream.write_all(&[22, 3, 1]).await;
        silent.push(stream);
        if n % 10 == 0
            && let Ok(mut stream) = connect().await
        {
            let _ = stream.write_all(b"POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
            slow.push(stream);
        }
    }
    let request = format!(
        "GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{}\r\n",
        bearer(&cloud.admin)
    );
    for _ in 0..5 {
        let mut stream = connect().await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        timeout(PATIENCE, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

/// A TLS client that knows this certificate.
fn connector(certificate: &CertificateDer<'static>) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_too_long_is_refused_before_it_is_read() {
    let cloud = Cloud::start(|_| {}).await;
    let resources = "/api/v1/users/admin/resources";
    for (path, length, headers, status) in [
        ("/api/v1/login", 8193, String::new(), 413),
        (resources, 65_537, bearer(&cloud.admin), 413),
        (resources, 65_536, String::new(), 401),
    ] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{{"
        );
        let mut stream = TcpStream::connect(cloud.address()).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        assert_eq!(read_answer(&mut stream).await.status, status, "{path} {length}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_tries_wrong_passwords_has_to_wait_and_nobody_else() {
    let cloud = behind_proxy().await;
    cloud.user("ann", false).await;
    let login = async |user: &str, password: &str, address: &str| {
        let answer = cloud.login(user, password, &from(address)).await;
        (answer.status, answer.header("retry-after").map(|wait| wait.parse::<u64>().unwrap()))
    };
    // An account that is not there is counted like one that is.
    for (user, here) in [("ann", "192.0.2.1"), ("nobody", "192.0.2.2"), ("ann", "2001:db8::1")] {
        for _ in 0..3 {
            assert_eq!(login(user, "something else", here).await, (401, None));
        }
    }
    // As long as the third try takes on a busy machine the wait may be over.
    let mut answers = Vec::new();
    for _ in 0..10 {
        answers.push(login("ann", "something else", "192.0.2.1").await);
    }
    assert!(answers.iter().any(|(status, wait)| *status == 429 && wait.is_some()), "{answers:?}");
    assert!(answers.iter().all(|(status, _)| matches!(status, 401 | 429)), "{answers:?}");
    // From elsewhere she signs in, and others from there.
    assert_eq!(login("ann", PASSWORD, "192.0.2.9").await.0, 200);
    assert_eq!(login("ann", PASSWORD, "2001:db8:0:1::1").await.0, 200);
    cloud.user("bob", false).await;
    assert_eq!(login("bob", PASSWORD, "192.0.2.1").await.0, 200);
    let audit = cloud.as_admin("GET /api/v1/audit?limit=1000", Value::Null).await.json();
    let refused = audit.as_array().unwrap().iter().find(|line| line["reason"] == "wrong_password").unwrap();
    assert!(["192.0.2.1", "2001:db8::1"].contains(&refused["from"].as_str().unwrap()), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_follows_eight_feeds_and_leaves_others_theirs() {
    let cloud = Cloud::start(|_| {}).await;
    let (ann, bob) = (cloud.user("ann", false).await, cloud.user("bob", false).await);
    let mut feeds = Vec::new();
    for _ in 0..8 {
        feeds.push(cloud.feed("/api/v1/live", &bearer(&ann)).await);
    }
    let ninth = cloud.ask("GET /api/v1/live", &bearer(&ann), Value::Null).await;
    assert_eq!((ninth.status, ninth.code().as_str()), (429, "live_feeds"));
    assert!(ninth.header("retry-after").is_some());
    feeds.push(cloud.feed("/api/v1/live", &bearer(&bob)).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_missed_too_much_is_told_to_fetch_it_and_hears_what_is_new() {
    let cloud = Cloud::start(|_| {}).await;
    let bob = cloud.user("bob", false).await;
    cloud.node("bob").await;
    let store = &cloud.running.store;
    let user = store.user("bob").await.unwrap().unwrap();
    let resource = store.resource(user.id, "node").await.unwrap().unwrap().id;
    for n in 0..=10_000i64 / 250 {
        let reading = |m| Reading { stream: "t".into(), unit: None, time: 250 * n + m, value: 1.0.into() };
        let readings = (0..250).map(reading).collect();
        let idempotency = Idempotency::unique().unwrap();
        store.append(Append { resource, idempotency, readings }).await.unwrap();
    }
    let headers = format!("{}Last-Event-ID: 0\r\n", bearer(&bob));
    let mut feed = cloud.feed("/api/v1/live", &headers).await;
    feed.until(|text| text.contains("event: history")).await;
    cloud.post("bob", [77.5]).await;
    feed.until(|text| text.contains("77.5")).await;
    assert_eq!(feed.text.matches("event: point").count(), 1, "{}", feed.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_done_is_recorded_with_who_and_from_where() {
    let cloud = behind_proxy().await;
    let headers = bearer(&cloud.admin) + &from("203.0.113.9");
    let ask = async |request: &str, body: Value| cloud.ask(request, &headers, body).await.status;
    let ann = json!({"username": "ann", "password": PASSWORD});
    assert_eq!(ask("POST /api/v1/users", ann).await, 201);
    assert_eq!(cloud.login("ann", PASSWORD, &from("203.0.113.7")).await.status, 200);
    assert_eq!(ask("PUT /api/v1/users/ann", json!({"admin": true})).await, 200);
    assert_eq!(ask("POST /api/v1/users/ann/tokens", json!({"label": "script"})).await, 201);
    assert_eq!(ask("DELETE /api/v1/users/ann/tokens/script", Value::Null).await, 204);
    // What is refused was not done.
    assert_eq!(ask("DELETE /api/v1/users/ann/tokens/script", Value::Null).await, 404);
    let expected = [
        ("user_added", "admin", "203.0.113.9", "/api/v1/users/ann"),
        ("signed_in", "ann", "203.0.113.7", "/api/v1/login"),
        ("role_changed_to_administrator", "admin", "203.0.113.9", "/api/v1/users/ann"),
        ("token_made", "admin", "203.0.113.9", "/api/v1/users/ann/tokens/script"),
        ("token_revoked", "admin", "203.0.113.9", "/api/v1/users/ann/tokens/script"),
    ];
    let page = async |query: &str| {
        let answer = cloud.as_admin(&format!("GET /api/v1/audit{query}"), Value::Null).await;
        assert_eq!(answer.status, 200);
        answer.json().as_array().unwrap().clone()
    };
    // The record is written by a thread of its own.
    while page("").await.len() < expected.len() {}
    // A page at a time, from the newest to the oldest.
    let (mut read, mut query) = (Vec::new(), "?limit=2".to_owned());
    loop {
        let lines = page(&query).await;
        let Some(last) = lines.last() else { break };
        query = format!("?limit=2&before={}", last["id"]);
        read.extend(lines);
    }
    read.reverse();
    let field = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
    let told: Vec<_> = read
        .iter()
        .map(|line| (field(line, "action"), field(line, "who"), field(line, "from"), field(line, "what")))
        .collect();
    let expected: Vec<_> = expected
        .iter()
        .map(|(a, b, c, d)| (a.to_string(), b.to_string(), c.to_string(), d.to_string()))
        .collect();
    assert_eq!(told, expected);
    let all = cloud.as_admin("GET /api/v1/audit?format=jsonl", Value::Null).await;
    let kept = std::fs::read_to_string(cloud.directory.path().join("data/audit.jsonl")).unwrap();
    assert_eq!(all.header("content-type"), Some("application/jsonl"));
    assert!(all.body.contains(kept.lines().next().unwrap()), "{}", all.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operators_token_sets_a_lost_password_and_no_other_does() {
    let cloud = Cloud::start(|_| {}).await;
    let password = json!({"password": "quite another one"});
    let first = cloud.running.first_password.clone().unwrap();
    let session = cloud.login("admin", &first, "").await.json()["token"].as_str().unwrap().to_owned();
    let other = cloud.user("eve", true).await;
    let put =
        async |token: &str| cloud.ask("PUT /api/v1/users/admin", &bearer(token), password.clone()).await;
    assert_eq!(put(&session).await.status, 403);
    let named = json!({"label": "admin-token"});
    let named = cloud.ask("POST /api/v1/users/admin/tokens", &bearer(&session), named).await;
    assert_eq!(named.status, 400, "a session makes itself an operator's token");
    assert_eq!(put(&cloud.admin).await.status, 200);
    assert_eq!(cloud.login("admin", "quite another one", "").await.status, 200);
    // One administrator sets another's.
    assert_eq!(put(&other).await.status, 200);
    let demoted = cloud.as_admin("PUT /api/v1/users/admin", json!({"admin": false})).await;
    assert_eq!(demoted.status, 400, "the administrator stays one");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stranger_states_is_recorded_cut_and_no_name_that_may_be_a_password() {
    let cloud = Cloud::start(|_| {}).await;
    cloud.user("ann", false).await;
    let long = "A".repeat(31_000);
    let (secret, path) = ("Tr0ub4dor and three", format!("GET /api/v1/users/{long}"));
    assert_eq!(cloud.ask(&path, "", Value::Null).await.status, 401);
    assert_eq!(cloud.login(&long[..7900], "something else", "").await.status, 400);
    for user in [secret, "ann"] {
        // From the third on, they wait: that is recorded no otherwise.
        for _ in 0..5 {
            assert!(matches!(cloud.login(user, "something else", "").await.status, 401 | 429));
        }
    }
    let admin = cloud.admin.clone();
    assert_eq!(cloud.as_admin("DELETE /api/v1/users/ann", Value::Null).await.status, 204);
    // The record is written by a thread of its own.
    let lines = loop {
        let lines = cloud.ask("GET /api/v1/audit?actions=true", &bearer(&admin), Value::Null).await.json();
        if lines.as_array().unwrap().iter().any(|line| line["action"] == "user_deleted") {
            break lines;
        }
    };
    assert!(lines.as_array().unwrap().iter().all(|line| line["reason"].is_null()), "{lines}");
    let kept = std::fs::read_to_string(cloud.directory.path().join("data/audit.jsonl")).unwrap();
    assert!(!kept.contains(secret), "{kept}");
    assert!(kept.lines().all(|line| line.len() <= 600), "{kept}");
    assert!(kept.contains("/api/v1/users/AAAA") && kept.contains(r#""who":"ann""#), "{kept}");
}

#[tokio::test(flavor = "multi_thread")]
async fn right_passwords_at_the_same_time_are_not_counted_as_wrong() {
    let cloud = behind_proxy().await;
    cloud.user("ann", false).await;
    for _ in 0..2 {
        let address = from("192.0.2.1");
        let logins = (0..10).map(|_| cloud.login("ann", PASSWORD, &address));
        for answer in futures_util::future::join_all(logins).await {
            assert!(matches!(answer.status, 200 | 503), "{} {}", answer.status, answer.body);
            assert!(answer.status == 200 || answer.header("retry-after") == Some("1"));
        }
    }
    assert_eq!(cloud.login("ann", PASSWORD, &from("192.0.2.1")).await.status, 200);
}

//! The nine faults of Sicsth Sense that the cloud's design rules out, each provoked from outside: docs/sicsth-sense.md lists them.

#[allow(dead_code, reason = "a part of it is used here")]
mod client;
#[allow(dead_code, reason = "the server alone is used here")]
#[path = "pollers/web.rs"]
mod web;
mod web_client;

use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

use client::{Client, ask_plain};
use rusqlite::Connection;
use serde_json::{Value, json};
use sixlock_cloud::public_keys::{KeyPair, pem};
use sixlock_cloud::{Device, Enrolled, Running, Secret};
use sixlock_coap_msg::{Builder, Code, ContentFormat, OptionNumber, Type};
use tokio::task::spawn_blocking;
use web::{Server, answer};
use web_client::{Cloud, PASSWORD, PATIENCE, bearer};

const KEY: &str = "0123456789abcdef";
const OTHER_KEY: &str = "fedcba9876543210";
const ANN: &str = "/api/v1/users/ann";
const NODE: &str = "/api/v1/users/ann/resources/node";

/// A cloud with plain CoAP, and the users ann and bob, each with the resource `node` and its stream `t`; and their tokens.
async fn start() -> (Cloud, String, String) {
    let cloud = Cloud::start(|config| config.coap = Some(config.coaps)).await;
    let (ann, bob) = (cloud.user("ann", false).await, cloud.user("bob", false).await);
    cloud.node("ann").await;
    cloud.node("bob").await;
    (cloud, bearer(&ann), bearer(&bob))
}

/// The values of the stream `t` of the resource `node` of a user.
async fn values(cloud: &Cloud, user: &str) -> Vec<f64> {
    let path = format!("GET /api/v1/users/{user}/resources/node/streams/t/data");
    let points = cloud.as_admin(&path, Value::Null).await.json();
    points.as_array().unwrap().iter().map(|point| point["value"].as_f64().unwrap()).collect()
}

/// All that is kept of ann, but for secrets.
async fn kept_of_ann(cloud: &Cloud) -> String {
    let export = cloud.as_admin(&format!("GET {ANN}/export"), Value::Null).await;
    assert_eq!(export.status, 200, "{}", export.body);
    export.body
}

/// A confirmable POST of a reading to `/resources/data`.
fn coap_post(id: u16, query: &[&str], payload: &str) -> Vec<u8> {
    let mut datagram = [0; 1024];
    let token = id.to_be_bytes();
    let mut builder = Builder::new(&mut datagram, Type::Confirmable, Code::POST, id, &token).unwrap();
    builder.path(&["resources", "data"]).unwrap().content_format(ContentFormat::JSON).unwrap();
    for argument in query {
        builder.option(OptionNumber::URI_QUERY, argument.as_bytes()).unwrap();
    }
    let len = builder.finish_with(payload.as_bytes()).unwrap();
    datagram[..len].to_vec()
}

async fn ask_over_plain_coap(address: SocketAddr, message: Vec<u8>) -> Code {
    spawn_blocking(move || ask_plain(address, &message).1).await.unwrap().expect("no answer")
}

async fn enrol(running: &Running, label: &str, mode: &str, key: String) -> Enrolled {
    let (mode, key) = (mode.parse().unwrap(), Some(Secret::new(key.into_bytes())));
    running.enrol(Device { mode, key, ..Device::named(label) }).await.unwrap()
}

/// After "forbidden", the handlers of the original went on and did the work.
#[tokio::test(flavor = "multi_thread")]
async fn fault_1_what_is_forbidden_is_not_done() {
    let (cloud, ann, bob) = start().await;
    cloud.post("ann", [1.0, 2.0, 3.0]).await;
    let threshold = json!({"kind": "threshold", "operator": ">", "operand": 1});
    let hook = json!({"label": "hook", "kind": "webhook", "address": "https://example.org/"});
    let requests = [
        (format!("POST {ANN}/resources"), json!({"label": "another"})),
        (format!("POST {ANN}/tokens"), json!({"label": "mine"})),
        (format!("POST {ANN}/channels"), hook),
        (
            format!("POST {ANN}/rules"),
            json!({"label": "r", "resource": "node", "stream": "t", "condition": threshold}),
        ),
        (format!("PUT {NODE}"), json!({"description": "changed"})),
        (format!("POST {NODE}/data"), json!({"t": 99.0})),
        (
            format!("POST {NODE}/parsers"),
            json!({"label": "p", "kind": "json-path", "expression": "$.u", "stream": "u"}),
        ),
        (format!("PUT {NODE}/poller"), json!({"url": "https://example.org/", "period": 3600})),
        (format!("POST {NODE}/streams"), json!({"label": "new"})),
        (
            format!("POST {NODE}/computed-streams"),
            json!({"label": "twice", "expression": "2 * t", "inputs": {"t": {"stream": "t"}}}),
        ),
        (format!("POST {NODE}/commands"), json!({"actuator": "led", "value": true})),
        (format!("POST {NODE}/credentials"), json!({})),
        (format!("POST {NODE}/streams/t/data"), json!({"value": 99.0})),
        (format!("PUT {NODE}/streams/t"), json!({"public_access": true})),
        (format!("PUT {NODE}/streams/t/retention"), json!({"history_size": 1, "discard": true})),
        (
            format!("POST {NODE}/streams/t/triggers"),
            json!({"operator": ">", "operand": 5, "url": "https://example.org/"}),
        ),
        (format!("DELETE {NODE}/poller"), Value::Null),
        (format!("DELETE {NODE}/streams/t/data?all=true"), Value::Null),
        (format!("DELETE {NODE}/streams/t"), Value::Null),
        (format!("DELETE {NODE}"), Value::Null),
    ];
    let before = kept_of_ann(&cloud).await;
    for (request, body) in &requests {
        assert_eq!(cloud.ask(request, &bob, body.clone()).await.status, 403, "{request}");
        assert_eq!(kept_of_ann(&cloud).await, before, "{request} was refused, and done");
    }
    // There was something to be done: by ann, each of them does it.
    for (request, body) in requests {
        let before = kept_of_ann(&cloud).await;
        let answer = cloud.ask(&request, &ann, body).await;
        assert!((200..300).contains(&answer.status), "{request}: {} {}", answer.status, answer.body);
        assert_ne!(kept_of_ann(&cloud).await, before, "{request} changes nothing");
    }
}

/// The original compared a key with the one in the posted body, or with none: for parsers, and to compute streams anew.
#[tokio::test(flavor = "multi_thread")]
async fn fault_2_a_key_in_the_body_opens_nothing_and_that_of_one_resource_no_other() {
    let (cloud, ann, _) = start().await;
    let one = enrol(&cloud.running, "one", "none", KEY.into()).await.resource.id;
    let other = enrol(&cloud.running, "other", "none", OTHER_KEY.into()).await.resource.id;
    let coap = cloud.running.coap.unwrap();
    let to = |id| format!("id={id}");
    let (one, other) = (to(one.0), to(other.0));
    let (key, other_key) = (format!("key={KEY}"), format!("key={OTHER_KEY}"));
    for (n, query, payload, expected) in [
        (1, vec![&*one, &key], r#"{"t": 1}"#, Code::CHANGED),
        (2, vec![&other, &other_key], r#"{"t": 1}"#, Code::CHANGED),
        (3, vec![&other, &key], r#"{"t": 2}"#, Code::UNAUTHORIZED),
        (4, vec![&other, &key], r#"{"t": 2, "key": "fedcba9876543210"}"#, Code::UNAUTHORIZED),
        (5, vec![&other], r#"{"t": 2, "key": "fedcba9876543210"}"#, Code::UNAUTHORIZED),
    ] {
        assert_eq!(ask_over_plain_coap(coap, coap_post(n, &query, payload)).await, expected, "{query:?}");
    }

    // Over HTTP: ann's own token in the body, or her device's key there, is none.
    let token = ann.trim_start_matches("Authorization: Bearer ").trim();
    let parser = json!({"label": "p", "kind": "json-path", "expression": "$.u", "stream": "u"});
    let computed = json!({"label": "twice", "expression": "2 * t", "inputs": {"t": {"stream": "t"}}});
    for (path, body) in [("parsers", parser), ("computed-streams", computed)] {
        let before = kept_of_ann(&cloud).await;
        for (name, secret) in [("key", KEY), ("token", token)] {
            let mut body = body.clone();
            body[name] = secret.into();
            let answer = cloud.ask(&format!("POST {NODE}/{path}"), "", body).await;
            assert_eq!(answer.status, 401, "{path} with {name}: {}", answer.body);
        }
        // A token for another resource of the same user is none either.
        let limited = json!({"label": path, "resource": "elsewhere"});
        let elsewhere = json!({"label": "elsewhere"});
        cloud.ask(&format!("POST {ANN}/resources"), &ann, elsewhere).await;
        let limited = cloud.ask(&format!("POST {ANN}/tokens"), &ann, limited).await.json();
        let limited = bearer(limited["token"].as_str().unwrap());
        let answer = cloud.ask(&format!("POST {NODE}/{path}"), &limited, body.clone()).await;
        assert_eq!(answer.status, 403, "{path}: {}", answer.body);
        let parsers_and_streams = |kept: &str| {
            let is_one = |line: &&str| line.contains(r#""type":"parser""#) || line.contains(r#"_stream""#);
            kept.lines().filter(is_one).count()
        };
        assert_eq!(parsers_and_streams(&kept_of_ann(&cloud).await), parsers_and_streams(&before));
    }
}

/// The keys of the original travelled in URLs, and stood in logs.
#[tokio::test(flavor = "multi_thread")]
async fn fault_3_no_token_is_taken_from_a_url_and_a_key_sent_in_one_stands_in_no_file() {
    let (cloud, ann, _) = start().await;
    let token = ann.trim_start_matches("Authorization: Bearer ").trim().to_owned();
    for name in ["token", "key", "access_token", "api_key"] {
        let answer = cloud.ask(&format!("GET {NODE}?{name}={token}"), "", Value::Null).await;
        assert_eq!(answer.status, 401, "{name}");
    }
    // Where a device cannot send a header, the key stands in the query: over plain CoAP.
    let node = enrol(&cloud.running, "plain", "none", KEY.into()).await.resource.id;
    let (coap, id) = (cloud.running.coap.unwrap(), format!("id={}", node.0));
    let good = coap_post(1, &[&id, &format!("key={KEY}")], r#"{"t": 1}"#);
    assert_eq!(ask_over_plain_coap(coap, good).await, Code::CHANGED);
    let wrong = coap_post(2, &[&id, &format!("key={OTHER_KEY}")], r#"{"t": 2}"#);
    assert_eq!(ask_over_plain_coap(coap, wrong).await, Code::UNAUTHORIZED);

    let Cloud { running, directory, .. } = cloud;
    running.stop().await.unwrap();
    let data = directory.path().join("data");
    let record = std::fs::read_to_string(data.join("audit.jsonl")).unwrap();
    assert!(record.contains(&format!("GET {NODE}")) && record.contains("wrong_key"), "{record}");
    let mut files = 0;
    for file in std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().path()) {
        let bytes = std::fs::read(&file).unwrap_or_default();
        for secret in [&token, KEY, OTHER_KEY] {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{} holds {secret}", file.display());
        }
        files += 1;
    }
    assert!(files > 3, "{files} files in {}", data.display());
}

/// The original had one pre-shared key for all devices, and bound an identity of DTLS to nobody.
#[tokio::test(flavor = "multi_thread")]
async fn fault_4_whoever_proves_an_identity_writes_to_its_resource_alone() {
    let (cloud, ..) = start().await;
    let running = &cloud.running;
    let [raw, certified] = std::array::from_fn(|_| KeyPair::random().unwrap());
    let [raw_public, certified_public] = [&raw, &certified].map(|pair| pem::public_key(&pair.point));
    let shared = enrol(running, "shared", "dtls-psk", KEY.into()).await;
    let another = enrol(running, "another", "dtls-psk", OTHER_KEY.into()).await;
    let by_key = enrol(running, "by key", "dtls-rpk", raw_public).await;
    let by_certificate = enrol(running, "by certificate", "dtls-x509", certified_public).await;
    let certificate = by_certificate.certificate.clone().unwrap();
    let ids = [&shared, &another, &by_key, &by_certificate].map(|enrolled| enrolled.resource.id);

    let (coaps, own) = (running.coaps, running.store.own_keys().clone());
    let speak = move || {
        let clients = [
            Client::connect(coaps, "shared", KEY.as_bytes()).unwrap(),
            Client::connect(coaps, "another", OTHER_KEY.as_bytes()).unwrap(),
            Client::with_key(coaps, &raw, None, &own).unwrap(),
            Client::with_key(coaps, &certified, Some(&certificate), &own).unwrap(),
        ];
        for (n, mut client) in clients.into_iter().enumerate() {
            let mut ask = |id: usize, query: &[&str]| {
                let payload = format!(r#"{{"t": {n}}}"#);
                client.ask(&coap_post((8 * n + id) as u16, query, &payload))
            };
            assert_eq!(ask(4, &[]), Some(Code::CHANGED));
            for (at, id) in ids.iter().enumerate() {
                let expected = if at == n { Code::CHANGED } else { Code::FORBIDDEN };
                assert_eq!(ask(at, &[&format!("id={}", id.0)]), Some(expected), "{n} to {at}");
            }
        }
    };
    spawn_blocking(speak).await.unwrap();
    for (n, id) in ids.into_iter().enumerate() {
        let stream = running.store.stream(id, "t").await.unwrap().unwrap();
        let page = sixlock_cloud::Page { limit: 10, from: None, until: None };
        let points = running.store.points(stream.id, page).await.unwrap();
        let values: Vec<f64> = points.into_iter().map(|point| point.value.number().unwrap()).collect();
        assert_eq!(values, [n as f64; 2]);
    }
}

/// Triggers of the original never fired, polled data never reached what was computed of it, labels of streams were lost, and `{"value","time"}` was
/// stored as 0.
#[tokio::test(flavor = "multi_thread")]
async fn fault_5_what_is_polled_is_computed_with_and_fires_triggers_under_its_label_and_value() {
    let other = Server::start(|path| match path {
        "/readings" => answer("200 OK", "Content-Type: application/json\r\n", r#"{"warmth": 31.5}"#),
        _ => answer("200 OK", "", ""),
    });
    let cloud = Cloud::start(|config| {
        config.poll_allow = vec!["127.0.0.1".parse().unwrap()];
        config.alert_allow = config.poll_allow.clone();
    })
    .await;
    cloud.user("ann", false).await;
    cloud.node("ann").await;
    let made = |request: String, body| {
        let cloud = &cloud;
        async move {
            let answer = cloud.as_admin(&request, body).await;
            assert_eq!(answer.status, 201, "{request}: {}", answer.body);
        }
    };
    made(format!("POST {NODE}/streams"), json!({"label": "warmth"})).await;
    let computed =
        json!({"label": "twice", "expression": "2 * warmth", "inputs": {"warmth": {"stream": "warmth"}}});
    made(format!("POST {NODE}/computed-streams"), computed).await;
    let url = format!("http://{}/fired", other.address);
    let trigger = json!({"operator": ">", "operand": 62, "url": url, "payload": "warm"});
    made(format!("POST {NODE}/streams/twice/triggers"), trigger).await;
    let poller = json!({"url": format!("http://{}/readings", other.address), "period": 3600});
    made(format!("PUT {NODE}/poller"), poller).await;

    let end = Instant::now() + PATIENCE;
    while !other.requests().iter().any(|request| request.starts_with("POST /fired ")) {
        assert!(Instant::now() < end, "no trigger has fired: {:?}", other.requests());
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    for (label, value) in [("warmth", 31.5), ("twice", 63.0)] {
        let stream = cloud.as_admin(&format!("GET {NODE}/streams/{label}"), Value::Null).await.json();
        assert_eq!((&stream["label"], &stream["latest"]["value"]), (&json!(label), &json!(value)));
    }
    let point = json!({"value": 21.5, "time": 1_700_000_000_123i64});
    assert_eq!(cloud.as_admin(&format!("POST {NODE}/streams/t/data"), point.clone()).await.status, 204);
    let stored = cloud.as_admin(&format!("GET {NODE}/streams/t/data"), Value::Null).await;
    assert_eq!(stored.json(), json!([point]));
}

/// Of the points of a millisecond, the original kept the last.
#[tokio::test(flavor = "multi_thread")]
async fn fault_6_points_of_one_millisecond_are_all_there() {
    let (cloud, ann, _) = start().await;
    let point = |value: f64| json!({"value": value, "time": 1_700_000_000_123i64});
    let points = [1.0, 2.0, 1.0, 3.0].map(point);
    // In one post, and each in one of its own.
    assert_eq!(cloud.ask(&format!("POST {NODE}/streams/t/data"), &ann, json!(points)).await.status, 204);
    for point in points {
        assert_eq!(cloud.ask(&format!("POST {NODE}/streams/t/data"), &ann, point).await.status, 204);
    }
    assert_eq!(values(&cloud, "ann").await, [1.0, 2.0, 1.0, 3.0, 1.0, 2.0, 1.0, 3.0]);
}

/// Pollers and triggers of the original fetched any URL, also those of the machine and the network that the server stands in.
#[tokio::test(flavor = "multi_thread")]
async fn fault_7_neither_pollers_nor_triggers_reach_what_the_operator_does_not_allow() {
    let inside = Server::start(|_| answer("200 OK", "Content-Type: application/json\r\n", r#"{"t": 1}"#));
    let (cloud, ann, _) = start().await;
    let port = inside.address.port();
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        "http://10.0.0.1/".into(),
        "http://192.168.1.1/".into(),
        "http://169.254.169.254/latest/meta-data".into(),
        "file:///etc/passwd".into(),
    ] {
        let poller = json!({"url": url, "period": 3600});
        let answer = cloud.ask(&format!("PUT {NODE}/poller"), &ann, poller).await;
        assert_eq!(answer.status, 400, "{url}: {}", answer.body);
        let trigger = json!({"operator": ">", "operand": 0, "url": url});
        let answer = cloud.ask(&format!("POST {NODE}/streams/t/triggers"), &ann, trigger).await;
        assert_eq!(answer.status, 400, "{url}: {}", answer.body);
    }
    // Where a name leads is known only when it is looked up: each time, before anything is sent.
    let url = format!("http://localhost:{port}/");
    let poller = json!({"url": url, "period": 3600});
    assert_eq!(cloud.ask(&format!("PUT {NODE}/poller"), &ann, poller).await.status, 201);
    let trigger = json!({"operator": ">", "operand": 0, "url": url});
    let trigger = cloud.ask(&format!("POST {NODE}/streams/t/triggers"), &ann, trigger).await;
    assert_eq!(trigger.status, 201, "{}", trigger.body);
    let channels = cloud.ask(&format!("GET {ANN}/channels"), &ann, Value::Null).await.json();
    cloud.post("ann", [1.0]).await;
    for path in [format!("{NODE}/poller"), format!("{ANN}/channels/{}", channels[0]["id"])] {
        let end = Instant::now() + PATIENCE;
        loop {
            let shown = cloud.ask(&format!("GET {path}"), &ann, Value::Null).await.json();
            if shown["failures"].as_i64() >= Some(1) {
                break;
            }
            assert!(Instant::now() < end, "{path}: {shown}");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    assert_eq!(inside.requests(), [] as [String; 0]);
}

fn password_hashes(data: &Path) -> Vec<String> {
    let database = Connection::open(data.join("sixlock.db")).unwrap();
    let mut statement = database.prepare("SELECT password FROM users WHERE name IN ('ann', 'bob')").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// The original kept MD5 of each password, without salt.
#[tokio::test(flavor = "multi_thread")]
async fn fault_8_of_a_password_argon2id_with_a_salt_of_its_own_is_kept() {
    let (cloud, ..) = start().await;
    let hashes = password_hashes(&cloud.directory.path().join("data"));
    let [ann, bob] = &hashes[..] else { panic!("{hashes:?}") };
    for hash in [ann, bob] {
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$") && !hash.contains(PASSWORD), "{hash}");
    }
    assert_ne!(ann, bob, "the same password of two users");
}

/// The original looked labels up without their owner: who named things alike reached another's.
#[tokio::test(flavor = "multi_thread")]
async fn fault_9_a_label_is_looked_up_among_its_owners_things_alone() {
    let (cloud, ann, bob) = start().await;
    cloud.post("ann", [1.0]).await;
    cloud.post("bob", [2.0]).await;
    assert_eq!((values(&cloud, "ann").await, values(&cloud, "bob").await), (vec![1.0], vec![2.0]));
    let own = "/api/v1/users/bob/resources";
    let id = cloud.ask(&format!("GET {NODE}"), &ann, Value::Null).await.json()["id"].clone();
    let stream = cloud.ask(&format!("GET {NODE}/streams/t"), &ann, Value::Null).await.json()["id"].clone();
    for (path, what) in
        [(format!("{own}/{id}"), "resource"), (format!("{own}/node/streams/{stream}"), "stream")]
    {
        let answer = cloud.ask(&format!("GET {path}"), &bob, Value::Null).await;
        assert_eq!(answer.status, 404, "ann's {what} by its id among bob's: {}", answer.body);
    }
    // Labels in bodies, too: what only ann has is nothing that bob may compute with, or watch.
    let only = json!({"label": "only hers"});
    assert_eq!(cloud.ask(&format!("POST {ANN}/resources"), &ann, only).await.status, 201);
    let only = json!({"label": "t"});
    let path = format!("POST {ANN}/resources/only%20hers/streams");
    assert_eq!(cloud.ask(&path, &ann, only).await.status, 201);
    let condition = json!({"kind": "threshold", "operator": ">", "operand": 0});
    for (resource, good) in
        [(json!("only hers"), false), (id.to_string().into(), false), (json!("node"), true)]
    {
        let inputs = json!({"t": {"resource": resource, "stream": "t"}});
        let computed = json!({"label": "copy", "expression": "t", "inputs": inputs});
        let answer = cloud.ask(&format!("POST {own}/node/computed-streams"), &bob, computed).await;
        assert_eq!(answer.status == 201, good, "{resource}: {}", answer.body);
        let rule = json!({"label": "r", "resource": resource, "stream": "t", "condition": condition});
        let answer = cloud.ask("POST /api/v1/users/bob/rules", &bob, rule).await;
        assert_eq!(answer.status == 201, good, "{resource}: {}", answer.body);
    }
    // Bob's rule and computed stream are of his own readings.
    cloud.post("ann", [5.0]).await;
    cloud.post("bob", [3.0]).await;
    let copied = cloud.ask(&format!("GET {own}/node/streams/copy"), &bob, Value::Null).await.json();
    assert_eq!(copied["latest"]["value"], 3.0);
}

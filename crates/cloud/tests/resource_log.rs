//! What happened to a device, as its owner reads it.

#[allow(dead_code, reason = "one whose handshake fails does little")]
mod client;
mod web_client;

use std::time::{Duration, Instant};

use client::Client;
use serde_json::{Value, json};
use sixlock_cloud::Config;
use tokio::task::spawn_blocking;
use web_client::{Cloud, PATIENCE, bearer};

const NODE: &str = "/api/v1/users/ann/resources/node";
/// The beginning of 2020.
const LONG_AGO: i64 = 1_577_836_800_000;

/// The log of a device, once it has a line of each of these kinds.
async fn log_with(cloud: &Cloud, token: &str, kinds: &[&str]) -> Vec<Value> {
    let end = Instant::now() + PATIENCE;
    loop {
        let answer = cloud.ask(&format!("GET {NODE}/log"), &bearer(token), Value::Null).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let lines = answer.json().as_array().unwrap().clone();
        if kinds.iter().all(|kind| lines.iter().any(|line| line["kind"] == *kind)) {
            return lines;
        }
        assert!(Instant::now() < end, "not all of {kinds:?} in {lines:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// What the lines of this kind say: their details, how often it happened, and whether strangers did it.
fn said<'a>(lines: &'a [Value], kind: &str) -> Vec<(&'a str, i64, bool)> {
    let lines = lines.iter().filter(|line| line["kind"] == kind);
    let mut said: Vec<_> = lines
        .map(|line| {
            let detail = line["detail"].as_str().unwrap();
            (detail, line["count"].as_i64().unwrap(), line["stranger"].as_bool().unwrap())
        })
        .collect();
    said.sort();
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_reads_what_happened_to_a_device_and_strangers_are_marked() {
    let cloud = Cloud::start(|config| config.dtls_timeout = Duration::from_millis(100)).await;
    let (ann, bob) = (cloud.user("ann", false).await, cloud.user("bob", false).await);
    cloud.node("ann").await;
    cloud.node("bob").await;
    let as_ann = async |request: &str, body: Value| {
        let (method, path) = request.split_once(' ').unwrap();
        cloud.ask(&format!("{method} {NODE}{path}"), &bearer(&ann), body).await
    };
    // Three posts hold no reading, one a reading that is older than what is kept.
    for _ in 0..3 {
        assert_eq!(as_ann("POST /data", json!("nothing")).await.status, 400);
    }
    let keep = json!({"keep_s": 3600, "discard": true});
    assert_eq!(as_ann("PUT /streams/t/retention", keep).await.status, 200);
    let points = json!([{"time": LONG_AGO, "value": 1}, {"value": 2}]);
    assert_eq!(as_ann("POST /streams/t/data", points).await.status, 200);
    // Others want something of it: another user, who is nobody and who has no key.
    for headers in [bearer(&bob), String::new()] {
        let posted = json!({"secret-of-another": 1});
        let answer = cloud.ask(&format!("POST {NODE}/data"), &headers, posted).await;
        assert!([401, 403].contains(&answer.status), "{}", answer.body);
    }
    let coaps = cloud.running.coaps;
    let failed = spawn_blocking(move || Client::connect(coaps, "ann-node", b"another key of 16").is_err());
    assert!(failed.await.unwrap());
    assert_eq!(as_ann("POST /credentials", json!({"overlap_s": 0})).await.status, 201);

    let lines = log_with(&cloud, &ann, &["key_replaced", "handshake_failed", "refused"]).await;
    let refused = said(&lines, "post_refused");
    assert_eq!(refused.len(), 1, "{lines:?}");
    assert!(refused[0].0.contains("number") && (refused[0].1, refused[0].2) == (3, false), "{lines:?}");
    assert_eq!(said(&lines, "left_out"), [("older than what is kept of \"t\"", 1, false)]);
    assert_eq!(said(&lines, "key_replaced"), [("ann", 1, false)]);
    assert_eq!(said(&lines, "refused"), [("forbidden", 1, true), ("unauthenticated", 1, true)]);
    assert_eq!(said(&lines, "handshake_failed"), [("wrong-key", 1, true)]);
    assert!(lines.is_sorted_by(|one, next| one["last"].as_i64() >= next["last"].as_i64()), "{lines:?}");
    // Nothing of what others are or send is in it.
    let text = serde_json::to_string(&lines).unwrap();
    assert!(!text.contains("secret") && !text.contains("bob") && !text.contains("127.0.0.1"), "{text}");

    // Nobody else reads it, and the log of another's device has nothing of it.
    let log = format!("GET {NODE}/log");
    let other = cloud.ask(&log, &bearer(&bob), Value::Null).await;
    assert_eq!((other.status, other.code()), (403, "forbidden".into()));
    assert_eq!(cloud.ask(&log, "", Value::Null).await.status, 401);
    let own = cloud.ask("GET /api/v1/users/bob/resources/node/log", &bearer(&bob), Value::Null).await;
    assert_eq!((own.status, &*own.body), (200, "[]"));
    let exported = cloud.ask("GET /api/v1/users/ann/export", &bearer(&ann), Value::Null).await;
    assert!(exported.body.contains(r#""type":"log""#), "{}", exported.body);

    // It outlives a restart, and what was gathered when the cloud stopped is in it.
    let parser = json!({"kind": "json-path", "expression": "$.h", "stream": "h"});
    assert_eq!(as_ann("POST /parsers", parser).await.status, 201);
    let data = cloud.running.store.directory().to_owned();
    cloud.running.stop().await.unwrap();
    let config = Config { max_sessions: 100, ..Config::on_loopback(&data) };
    let cloud = Cloud { running: sixlock_cloud::start(config, None).await.unwrap(), ..cloud };
    let lines = log_with(&cloud, &ann, &["parsers_changed"]).await;
    assert_eq!(said(&lines, "post_refused").len(), 1, "{lines:?}");
    cloud.running.stop().await.unwrap();
}

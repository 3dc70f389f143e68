//! The cloud is killed while it publishes to mosquitto: what was accepted arrives, at least once and in order.

mod support;

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sixlock_interop::Mosquitto;
use sixlock_load::{Cloud, Program, Random, variable};
use support::{PATIENCE, own_address};

/// Posts by the administrator; nothing if there is no cloud.
fn post(http: SocketAddr, data: &Path, path: &str, body: &Value) -> Option<u16> {
    let token = std::fs::read_to_string(data.join("admin-token")).ok()?;
    let (mut stream, body) = (TcpStream::connect(http).ok()?, body.to_string());
    let head = format!(
        "POST /api/v1/users/admin/{path} HTTP/1.1\r\nHost: {http}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        token.trim(),
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.split(' ').nth(1)?.parse().ok()
}

#[test]
fn killed_at_random_moments_the_cloud_publishes_all_that_was_accepted_in_order() {
    let kills = variable("SIXLOCK_KILLS").unwrap_or(3);
    let mut random = Random::seeded();
    let mosquitto = Mosquitto::start(|_, _| "allow_anonymous true".into());
    let subscriber = mosquitto.subscribe(&[]);
    let (program, data) = (Program::built(), tempfile::tempdir().unwrap());
    let start =
        |coaps| Cloud::start(&program, data.path(), coaps, &["--broker-allow", "127.0.0.0/8"]).unwrap();
    let mut cloud = start(own_address());
    let coaps = cloud.coaps;
    for (path, body) in [
        ("resources", json!({"label": "room", "mode": "dtls-psk"})),
        ("resources/room/streams", json!({"label": "t"})),
        ("brokers", json!({"label": "home", "url": format!("mqtt://{}", mosquitto.address())})),
    ] {
        assert_eq!(post(cloud.http, data.path(), path, &body), Some(201));
    }
    // A value is accepted when its post was answered; one that was under way at a kill may be stored, too.
    let (mut accepted, mut next) = (Vec::new(), 0u64);
    for kill in 0..=kills {
        let is_killed = AtomicBool::new(false);
        let http = cloud.http;
        thread::scope(|scope| {
            let posts = scope.spawn(|| {
                let mut answered = Vec::new();
                while !is_killed.load(Ordering::SeqCst) && (kill < kills || answered.len() < 50) {
                    let path = "resources/room/streams/t/data";
                    if post(http, data.path(), path, &json!({"value": next})) == Some(204) {
                        answered.push(next);
                    }
                    next += 1;
                }
                answered
            });
            if kill < kills {
                thread::sleep(Duration::from_micros(200_000 + random.below(1_500_000)));
                cloud.kill().unwrap();
                is_killed.store(true, Ordering::SeqCst);
            }
            accepted.extend(posts.join().unwrap());
        });
        if kill < kills {
            cloud = start(coaps);
        }
    }
    let arrived = || {
        let printed = subscriber.output();
        let payloads = printed
            .lines()
            .filter_map(|line| Some(line.strip_prefix("message ")?.splitn(3, '|').nth(2)?.to_owned()));
        let values = payloads.map(|payload| {
            serde_json::from_str::<Value>(&payload).unwrap()["value"].as_f64().unwrap() as u64
        });
        values.collect::<Vec<u64>>()
    };
    let end = Instant::now() + PATIENCE;
    loop {
        let arrived: BTreeSet<u64> = arrived().into_iter().collect();
        if accepted.iter().all(|value| arrived.contains(value)) {
            break;
        }
        assert!(Instant::now() < end, "{} of {} arrived", arrived.len(), accepted.len());
        thread::sleep(Duration::from_millis(50));
    }
    let (mut seen, mut first) = (BTreeSet::new(), arrived());
    first.retain(|value| seen.insert(*value));
    println!("{} accepted, {} arrived, {} of them different", accepted.len(), arrived().len(), first.len());
    assert!(first.is_sorted(), "they arrived in another order: {first:?}");
}

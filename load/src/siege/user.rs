//! A user who is signed in, and looks at devices meanwhile.

use std::net::Ipv4Addr;
use std::thread;
use std::time::{Duration, Instant};

use super::connection::HttpServer;
use crate::Latencies;

/// How long a request is made again, as browsers do when a connection ends without an answer, before it is taken for not served.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long after a connection that ended comes the next.
const BETWEEN_TRIES: Duration = Duration::from_millis(20);
/// How long an answer is waited for at least. A limit of zero would be none.
const LEAST: Duration = Duration::from_millis(1);
/// What is looked at, in turn: who one is, all devices, and the latest values of one.
const LOOKS: [&str; 3] = [
    "/api/v1/me",
    "/api/v1/users/admin/resources",
    "/api/v1/users/admin/resources/load-0/streams/temperature/data?limit=50",
];

/// What the user was served.
#[derive(Debug, Default)]
pub(super) struct Served {
    /// From when a request was due until all of the answer was there.
    pub(super) latencies: Latencies,
    /// Requests that were not answered, or refused, or not made in time.
    pub(super) unserved: usize,
    /// The first of these.
    pub(super) first: Option<String>,
    /// How often a request was made again.
    pub(super) repeats: usize,
}

/// Looks `count` times, spread over `span` and each time in a connection of its own, at most until `end`.
pub(super) fn look(
    server: &HttpServer,
    from: Ipv4Addr,
    token: &str,
    (count, span): (usize, Duration),
    end: Instant,
) -> Served {
    let (started, mut served) = (Instant::now(), Served::default());
    for n in 0..count {
        let due = started + span.mul_f64(n as f64 / count as f64);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if Instant::now() >= end {
            served.unserved += count - n;
            break;
        }
        let path = LOOKS[n % LOOKS.len()];
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n",
            server.host()
        );
        let given_up = Instant::now() + PATIENCE;
        let answer = loop {
            let left = given_up.saturating_duration_since(Instant::now());
            let answer = server.ask(from, request.as_bytes(), left.max(LEAST));
            if answer.is_ok() || left.is_zero() {
                break answer;
            }
            served.repeats += 1;
            thread::sleep(BETWEEN_TRIES);
        };
        served.latencies.add(due.elapsed());
        if !answer.as_ref().is_ok_and(|answer| answer.is_success() && answer.is_whole) {
            served.unserved += 1;
            served.first.get_or_insert_with(|| format!("{path}: {answer:?}"));
        }
    }
    served
}

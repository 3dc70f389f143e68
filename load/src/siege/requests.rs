//! Hostile requests of many kinds, wrong passwords, and what the cloud answers to them.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::connection::HttpServer;

/// How many requests are under way at the same time.
const AT_ONCE: usize = 16;
/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is sent.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Requests of all kinds that break rules, in turn.
    Hostile,
    /// Sign-ins with passwords that are wrong.
    WrongPassword,
}

impl Kind {
    /// The request number `n`.
    fn request(self, n: usize, host: &str) -> Vec<u8> {
        match self {
            Self::Hostile => hostile(n, host),
            Self::WrongPassword => {
                let user = ["admin", "nobody"][n % 2];
                let body = format!(r#"{{"username":"{user}","password":"wrong password {n}"}}"#);
                posted("POST /api/v1/login", host, "", &body)
            }
        }
    }
}

/// What was answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    /// How many requests were sent.
    pub(super) sent: usize,
    /// How many were answered by each status; those that were not, by 0.
    pub(super) by_status: BTreeMap<u16, usize>,
}

impl Answers {
    fn count(&self, of: impl Fn(u16) -> bool) -> usize {
        self.by_status.iter().filter(|(status, _)| of(**status)).map(|(_, count)| count).sum()
    }

    /// Requests that were served.
    pub(super) fn served(&self) -> usize {
        self.count(|status| (200..=299).contains(&status))
    }

    /// Requests that were refused as those of somebody else: for that, a password has to be looked into.
    pub(super) fn refused(&self) -> usize {
        self.count(|status| status == 401)
    }

    /// Requests that the cloud says it failed at. That there is too much to do (503) is no failure.
    pub(super) fn failures(&self) -> usize {
        self.count(|status| status >= 500 && status != 503)
    }
}

/// Sends `count` requests, spread over `span` and from the addresses `from` in turn, until all are answered, at most until `end`.
pub(super) fn send(
    server: &HttpServer,
    from: &[Ipv4Addr],
    (kind, count): (Kind, usize),
    span: Duration,
    end: Instant,
) -> Answers {
    let (started, next, answers) = (Instant::now(), AtomicUsize::new(0), Mutex::new(Answers::default()));
    let host = server.host();
    let one = |n: usize| {
        let answer = server.ask(from[n % from.len()], &kind.request(n, &host), PATIENCE);
        let mut answers = answers.lock().expect("no thread panics with it");
        answers.sent += 1;
        *answers.by_status.entry(answer.map_or(0, |answer| answer.status)).or_default() += 1;
    };
    thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(count) {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= count || Instant::now() >= end {
                        break;
                    }
                    let due = started + span.mul_f64(n as f64 / count as f64);
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                    one(n);
                }
            });
        }
    });
    answers.into_inner().expect("no thread panics with it")
}

/// A request with a body of JSON.
fn posted(what: &str, host: &str, more: &str, body: &str) -> Vec<u8> {
    format!(
        "{what} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A request that breaks a rule. None may be served.
fn hostile(n: usize, host: &str) -> Vec<u8> {
    let get = |target: &str, more: &str| {
        format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n").into_bytes()
    };
    match n % 16 {
        0 => b"GET\r\n\r\n".to_vec(),
        1 => [b"\x16\x03\x01\xff\xff".repeat(20), b"\r\n\r\n".to_vec()].concat(),
        2 => get("/api/v1/me", "no colon here\r\n"),
        3 => b"GET /api/v1/me HTTP/9.9\r\n\r\n".to_vec(),
        4 => format!(
            "POST /api/v1/login HTTP/1.1\r\nHost: {host}\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /api/v1/me HTTP/1.1\r\n\r\n"
        )
        .into_bytes(),
        5 => format!("POST /api/v1/login HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{{}}")
            .into_bytes(),
        6 => get("/api/v1/me", &format!("X-Long: {}\r\n", "a".repeat(1 << 20))),
        7 => get("/api/v1/me", &"X-Many: 1\r\n".repeat(500)),
        8 => get("/../../../../../etc/passwd", ""),
        9 => get("/assets/..%2f..%2f..%2fmaster.key", ""),
        10 => format!("TRACE /api/v1/me HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").into_bytes(),
        11 => posted("DELETE /api/v1/login", host, "", ""),
        12 => posted("POST /api/v1/login", host, "", r#"{"username": ["#),
        13 => posted("POST /api/v1/login", host, "", &"[".repeat(100_000)),
        14 => get("/api/v1/users", &format!("Authorization: Bearer {n:064x}\r\n")),
        _ => posted("POST /api/v1/users", host, "Authorization: Bearer \u{7f}\r\n", "{}"),
    }
}

//! Connections that are held open and of no use: bodies that never come to their end, and readers who never read.

use std::io::Write;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::connection::{Connection, HttpServer};

/// How long a connection is waited for: who besieges has others to open.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long after a look at all connections comes the next.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// The most connections that are opened between two looks, so that a server which hangs up at once is not flooded by that alone.
const OPENED_AT_ONCE: usize = 20;
/// Requests that are sent by who reads no answer: more than fit the buffers on the way.
const UNREAD: usize = 200;

/// What somebody does with a connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Misbehaviour {
    /// Begins a body and never ends it.
    SlowBody,
    /// Asks for much and reads nothing.
    NeverReads,
}

impl Misbehaviour {
    /// What is sent, once.
    fn opening(self, host: &str) -> Vec<u8> {
        match self {
            Self::SlowBody => format!(
                "POST /api/v1/login HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{"
            )
            .into_bytes(),
            Self::NeverReads => {
                format!("GET /api/v1/openapi.json HTTP/1.1\r\nHost: {host}\r\n\r\n").repeat(UNREAD).into_bytes()
            }
        }
    }
}

/// What became of the connections.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    /// The most that were open at a time, as far as the client knows.
    pub(super) most: usize,
    /// How often the server hung up.
    pub(super) ended: usize,
}

/// Holds `count` connections open until it is told to stop; each that the server ends is opened again. How many it has tried to open, `tried` tells
/// meanwhile.
pub(super) fn hold(
    server: &HttpServer,
    from: &[Ipv4Addr],
    (habit, count): (Misbehaviour, usize),
    tried: &AtomicUsize,
    stop: &AtomicBool,
) -> Held {
    let opening = habit.opening(&server.host());
    let mut connections: Vec<Option<Connection>> = (0..count).map(|_| None).collect();
    let mut held = Held::default();
    while !stop.load(Ordering::Relaxed) {
        for connection in &mut connections {
            if connection.as_mut().is_some_and(|open| has_ended(open, habit)) {
                (*connection, held.ended) = (None, held.ended + 1);
            }
        }
        let closed = connections.iter_mut().zip(from.iter().cycle()).filter(|(open, _)| open.is_none());
        for (connection, &from) in closed.take(OPENED_AT_ONCE) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            *connection = open(server, from, &opening);
            tried.fetch_add(1, Ordering::Relaxed);
        }
        held.most = held.most.max(connections.iter().flatten().count());
        std::thread::sleep(BETWEEN_LOOKS);
    }
    held
}

/// A connection on which `opening` was sent, as far as the server takes it; nothing if it takes none of it.
fn open(server: &HttpServer, from: Ipv4Addr, opening: &[u8]) -> Option<Connection> {
    let mut connection = server.connect(from, PATIENCE).ok()?;
    let mut left = opening;
    while !left.is_empty() {
        match connection.write(left) {
            Ok(sent @ 1..) => left = &left[sent..],
            // Its buffers are full: that was the aim.
            _ => break,
        }
    }
    let _ = connection.flush();
    (left.len() < opening.len()).then_some(connection)
}

/// Whether the server has hung up, or answered, after which it hears no more.
fn has_ended(connection: &mut Connection, habit: Misbehaviour) -> bool {
    match habit {
        // What has come would have to be read to see the end behind it.
        Misbehaviour::NeverReads => false,
        Misbehaviour::SlowBody => connection.poll().is_none_or(|answer| !answer.is_empty()),
    }
}

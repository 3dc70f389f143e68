//! Many live feeds of one user.

use std::io::Write;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::connection::{Connection, HttpServer};

/// How long a connection is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long after a look at all feeds comes the next.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// What is known of a feed.
enum Feed {
    Asked(Connection),
    Open(Connection),
    /// Refused, or ended.
    Closed,
}

/// Asks for `count` live feeds with one token, from the first point on, and reads what comes until it is told to stop; how many were open at a
/// time.
pub(super) fn follow(
    server: &HttpServer,
    from: Ipv4Addr,
    token: &str,
    count: usize,
    stop: &AtomicBool,
) -> usize {
    let request = format!(
        "GET /api/v1/live HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nLast-Event-ID: 0\r\n\r\n",
        server.host()
    );
    let mut feeds: Vec<Feed> = (0..count).map(|_| ask(server, from, &request)).collect();
    let mut most = 0;
    while !stop.load(Ordering::Relaxed) {
        feeds = feeds.into_iter().map(look).collect();
        most = most.max(feeds.iter().filter(|feed| matches!(feed, Feed::Open(_))).count());
        std::thread::sleep(BETWEEN_LOOKS);
    }
    most
}

fn ask(server: &HttpServer, from: Ipv4Addr, request: &str) -> Feed {
    let asked = server.connect(from, PATIENCE).and_then(|mut connection| {
        connection.write_all(request.as_bytes())?;
        connection.flush()?;
        Ok(connection)
    });
    asked.map_or(Feed::Closed, Feed::Asked)
}

/// Reads what has come.
fn look(feed: Feed) -> Feed {
    let (mut connection, is_open) = match feed {
        Feed::Asked(connection) => (connection, false),
        Feed::Open(connection) => (connection, true),
        Feed::Closed => return Feed::Closed,
    };
    match connection.poll() {
        Some(bytes) if bytes.is_empty() && !is_open => Feed::Asked(connection),
        Some(bytes) if is_open || bytes.starts_with(b"HTTP/1.1 200") => Feed::Open(connection),
        _ => Feed::Closed,
    }
}

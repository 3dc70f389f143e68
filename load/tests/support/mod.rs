//! What the tests share.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use sixlock_load::Progress;

/// How many devices there are.
pub(crate) const DEVICES: usize = 50;
/// How long anything may take before a test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// An address that no other program comes upon while the cloud is away.
pub(crate) fn own_address() -> SocketAddr {
    let [.., a, b] = std::process::id().to_be_bytes();
    SocketAddr::from(([127, 77, a, b], 0))
}

/// Waits until `more` posts were acknowledged, and tells how many a second it was, from the first on.
pub(crate) fn await_more(progress: &Progress, more: u64) -> f64 {
    let start = progress.acknowledged();
    let reach = |count| {
        let (mut acknowledged, mut last) = (start, Instant::now());
        while acknowledged < start + count {
            assert!(last.elapsed() < PATIENCE, "posts are not acknowledged any more");
            thread::sleep(Duration::from_millis(1));
            let now = progress.acknowledged();
            if now > acknowledged {
                (acknowledged, last) = (now, Instant::now());
            }
        }
        Instant::now()
    };
    let (first, last) = (reach(1), reach(more));
    more as f64 / (last - first).as_secs_f64()
}

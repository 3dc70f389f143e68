//! Sessions that stay open when their devices are gone.

use std::io;
use std::time::Duration;

use crate::device::AT_ONE_ADDRESS;
use crate::{Authentication, Fleet, Habits, Target, Tell};

/// Handshakes or first requests that are under way at the same time.
const AT_ONCE: usize = 64;
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Opens so many sessions and uses each of them once. Each is from another address and port, in turn from those of each device; what a
/// device has of it goes as soon as it was used, but for the last ones, which are returned.
pub(crate) fn open(
    target: Target,
    authentications: &[Authentication],
    sessions: usize,
    tell: &mut Tell,
) -> io::Result<Fleet> {
    let (mut open, mut first) = (0, 0);
    loop {
        let authentications =
            &authentications[..authentications.len().min(AT_ONE_ADDRESS).min(sessions - open)];
        let mut fleet = Fleet::numbered(first, target, authentications, Habits::default())?;
        let connected = fleet.connect_in_turn(AT_ONCE, PATIENCE, |done| {
            tell.progress("sessions open", open + done, sessions)
        })?;
        if !connected || !fleet.post_in_turn(AT_ONCE, PATIENCE, |_| {})? {
            return Err(io::Error::other("not every device is answered"));
        }
        (open, first) = (open + authentications.len(), first + AT_ONE_ADDRESS);
        if open >= sessions || authentications.is_empty() {
            return Ok(fleet);
        }
    }
}

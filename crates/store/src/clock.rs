//! The clock of the system.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the present time, in milliseconds since 1970.
pub fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

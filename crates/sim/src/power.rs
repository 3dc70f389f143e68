//! Whether a station has power.

use crate::time::Time;

/// The power of a station.
#[derive(Clone, Copy, Default)]
pub(crate) struct Power {
    pub(crate) is_off: bool,
    /// When it is on again, if that is known.
    pub(crate) returns: Option<Time>,
    /// How often the station has started anew.
    pub(crate) boots: u32,
}

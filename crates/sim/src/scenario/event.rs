//! What happens to a network while it is simulated.

use crate::time::Span;

/// Something that happens to a station: an `[[event]]` of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScenarioEvent {
    /// How long after the begin.
    pub at: Span,
    /// The node; 0 is the border router.
    pub node: u32,
    /// What happens.
    pub kind: ScenarioEventKind,
}

/// What happens to a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScenarioEventKind {
    /// It starts anew, and forgets what is not durable. That takes a second.
    Reboot,
    /// It stands elsewhere from then on.
    Move {
        /// Millimetres east.
        x: i32,
        /// Millimetres north.
        y: i32,
    },
    /// It is off from then on.
    Die,
    /// It is off until then.
    Join,
}

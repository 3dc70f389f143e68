//! The timeline of a run: each change of state of each component of each station. `docs/timeline.md` describes its lines.

mod change;
mod lines;
mod picture;

pub(crate) use self::change::{Change, Component, State, TimelineStation};
pub(crate) use self::lines::{EndOfNode, begin, change, end};
pub(crate) use self::picture::{Caption, PICTURED, Picture};

/// A timeline that is recorded.
pub(crate) struct Timeline {
    pub(crate) stations: Vec<TimelineStation>,
    /// The picture of it, if one is drawn.
    pub(crate) picture: Option<Picture>,
    /// How much has happened since changes were taken.
    events: u32,
}

impl Timeline {
    /// How much may happen before changes are taken: they are kept until then.
    const EVENTS: u32 = 1 << 16;

    pub(crate) fn new(stations: Vec<TimelineStation>, picture: Option<Picture>) -> Self {
        Self { stations, picture, events: 0 }
    }

    /// Something happens; whether changes are to be taken now.
    pub(crate) fn is_due(&mut self) -> bool {
        self.events += 1;
        let is_due = self.events >= Self::EVENTS;
        if is_due {
            self.events = 0;
        }
        is_due
    }
}

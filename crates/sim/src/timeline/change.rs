//! A change of state, and what the components of stations and their states are called.

use crate::meters::RadioState;
use crate::platform::Platform;
use crate::time::Time;

/// What is in one of several states at each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Component {
    /// A processor, where it takes time.
    Cpu,
    /// A radio.
    Radio,
    /// An accelerator.
    Engine,
    /// Non-volatile storage.
    Storage,
    /// Whether a DTLS handshake of the node is under way.
    Handshake,
}

impl Component {
    /// Those of a node that runs on a board.
    pub(crate) const OF_BOARDS: &[Self] =
        &[Self::Cpu, Self::Radio, Self::Engine, Self::Storage, Self::Handshake];
    /// Those of a node whose CPU takes no time.
    pub(crate) const OF_NATIVE_NODES: &[Self] = &[Self::Radio, Self::Handshake];
    /// Those of a border router, of which nobody is told what it consumes.
    pub(crate) const OF_ROUTERS: &[Self] = &[Self::Radio];

    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Radio => "radio",
            Self::Engine => "engine",
            Self::Storage => "storage",
            Self::Handshake => "handshake",
        }
    }

    /// What its two states are called, if it has two: that in which it is not busy first.
    const fn two_states(self) -> [&'static str; 2] {
        match self {
            Self::Cpu => ["lpm", "active"],
            Self::Engine => ["idle", "work"],
            Self::Storage => ["idle", "write"],
            Self::Radio | Self::Handshake => ["none", "under-way"],
        }
    }
}

/// The state of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// A radio's.
    Radio(RadioState),
    /// Whether another is busy.
    Busy(bool),
}

/// A component enters a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) time: Time,
    pub(crate) station: u32,
    pub(crate) component: Component,
    pub(crate) state: State,
}

impl Change {
    /// What the state is called.
    pub(crate) fn name(&self) -> &'static str {
        match self.state {
            State::Radio(state) => state.name(),
            State::Busy(is_busy) => self.component.two_states()[usize::from(is_busy)],
        }
    }
}

/// A station of a timeline.
pub(crate) struct TimelineStation {
    /// Its number in reports.
    pub(crate) number: u32,
    /// What it runs on, if that takes time.
    pub(crate) platform: Option<Platform>,
    /// Its components.
    pub(crate) components: &'static [Component],
}

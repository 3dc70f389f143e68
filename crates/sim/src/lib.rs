//! A deterministic discrete-event simulator: the real protocol code runs, only time is modelled.

mod environment;
mod events;
mod medium;
mod random;
mod recorder;
mod scenario;
mod time;
mod toml_reader;
mod topology;
mod units;

pub use random::Probability;
pub use recorder::{Sinks, create_key_log};
pub use scenario::{Csma, MAX_NODES, Overrides, Radio, Scenario, ScenarioError, Traffic, TrafficKind};
pub use time::{Span, Time};
pub use topology::{Layout, Placement, Topology, TopologyError};
pub use units::parse_span;

//! A deterministic discrete-event simulator: the real protocol code runs, only time is modelled.
//!
//! A [`Scenario`] says what stands where and sends what; a [`Simulation`] drives the nodes, the border
//! router and the cloud of it through one queue of events. The same seed gives the same capture, event
//! log and report, byte for byte, on every machine and in every build.

mod accelerator;
mod accounting;
mod application;
mod arrivals;
mod attack;
mod battery;
mod board;
mod buffers;
mod built_image;
mod captured;
mod carried;
mod changes;
mod chip;
mod clock;
mod cloud;
mod costs;
mod decibel;
mod device_backend;
mod devices;
mod discovery;
mod drops;
mod echo_host;
mod echoes;
mod emulated;
mod energest;
mod energy;
mod engine;
mod environment;
mod error;
mod event_log;
mod events;
mod far_end;
mod forest;
mod frame_time;
mod geometry;
mod handshakes;
mod images;
mod layers;
mod listening;
mod mac;
mod machines;
mod measured;
mod medium;
mod memory;
mod meters;
mod metrics;
mod modelled;
mod network;
mod numbers;
mod options;
mod outbound;
mod outcome;
mod peerings;
mod platform;
mod power;
mod processor;
mod profile;
mod protection;
mod public_keys;
mod quantity;
mod radio;
mod radio_model;
mod random;
mod random_block;
mod readings;
mod receipts;
mod recorder;
mod router;
mod router_processor;
mod routing;
mod runs;
mod scenario;
mod security_gateway;
mod simulation;
mod sized;
mod sizes;
mod spread;
mod station;
mod statistics;
mod swarm;
mod table;
mod text_file;
mod time;
mod timed_crypto;
mod timeline;
mod timer;
pub mod toml_reader;
mod topology;
mod trial;
mod units;
mod xfrm;

pub use accelerator::Accelerator;
pub use battery::Battery;
pub use built_image::built_image;
pub use chip::Chip;
pub use costs::{Costs, HeldOut, MeasuredTask, Step, StepCost, Work};
pub use device_backend::DeviceBackend;
pub use devices::Device;
pub use discovery::{Addressing, DiscoveryKind};
pub use echoes::Echo;
pub use energest::{Energest, EnergestTicks};
pub use energy::{ByState, Energy, StateTimes};
pub use engine::{Accelerated, Effort, Job};
pub use environment::{Environment, Reading};
pub use error::ScenarioError;
pub use images::{FirmwareImage, ImageMac, ImageTraffic, Most, Role};
pub use medium::airtime;
pub use metrics::{ATTACK_METRICS, COST_METRICS, METRICS, Metric, Source};
pub use network::{CLOUD, MAX_NODES, PAN_ID};
pub use options::{FarEnd, Options};
pub use outbound::Outbound;
pub use peerings::{ChangeError, Changed, Peerings};
pub use platform::{EmulatedNode, Platform};
pub use profile::{Profile, Storage};
pub use protection::{Host, Peering, Prefix, Tunnel};
pub use public_keys::KeyRings;
pub use quantity::{Estimate, Quantity};
pub use random::Probability;
pub use recorder::{Sinks, create_key_log};
pub use routing::{Objective, RoutingKind, RplMode};
pub use runs::{run, run_each, run_seeds, with_cost};
pub use scenario::{
    Attack, AttackKind, AttackedFrom, Credential, Csma, Destination, Flood, LinkTable, Listen, LogDistance,
    Mac, Pattern, Radio, RadioModel, Scenario, ScenarioBuilder, ScenarioEvent, ScenarioEventKind, Setting,
    Traffic, TrafficKind, simulated_mode, trusted_mode,
};
pub use security_gateway::{InternetHost, InternetSide, NodesSide, SecurityGateway};
pub use simulation::Simulation;
pub use sixlock_gateway::{Error as GatewayError, FlowId};
pub use sixlock_node::contikimac::Times;
pub use sixlock_node::{Backoff, KeyRing, Rules, SendError};
pub use spread::Spread;
pub use statistics::{
    AttackCost, AttackReport, BorderRouterReport, CloudReport, Distribution, EchoWork, HandshakeReport,
    Network, NetworkNode, NodeReport, Provenance, Report, RouterReport, SteadyReport, Transmissions,
    TravelReport,
};
pub use swarm::{TrialResult, swarm, trial};
pub use text_file::read_text;
pub use time::{Span, Time};
pub use timed_crypto::{CryptoTime, TimedCrypto};
pub use topology::{Layout, Links, Placement, Topology, TopologyError};
pub use trial::{Breach, Invariant};
pub use units::{parse_duration, parse_span};
pub use xfrm::{xfrm, xfrm_algorithms};

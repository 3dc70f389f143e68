//! How a simulation is run.

use sixlock_base::Nv;

use crate::devices::Device;
use crate::protection::Host;
use crate::recorder::Sinks;
use crate::security_gateway::SecurityGateway;

/// Where datagrams for the cloud go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FarEnd {
    /// To a cloud inside the simulation, over a link that takes no time.
    Inside,
    /// Out of the simulation: see [`Simulation::poll_upstream`](crate::Simulation::poll_upstream).
    Outside,
}

/// How a simulation is run.
pub struct Options {
    /// Where to write what happens.
    pub sinks: Sinks,
    /// Where datagrams for the cloud go.
    pub far_end: FarEnd,
    /// Whether the border router lets whole packets out and in: see [`Simulation::poll_packet`](crate::Simulation::poll_packet). What is for the cloud
    /// goes to the far end as ever.
    pub packets: bool,
    /// A host outside with which nodes share associations of IPsec too, where the security mode has it: see
    /// [`Simulation::peerings`](crate::Simulation::peerings).
    pub host: Option<Host>,
    /// What the border router is as a security gateway, if it is one; without, what the scenario says.
    pub security_gateway: Option<SecurityGateway>,
    /// Counters of the border router that outlast the simulation: for keys that do.
    pub router_counters: Option<Box<dyn Nv + Send>>,
    /// What the nodes from 1 on are known by at the far end; without, [`Device::of_node`].
    pub devices: Option<Vec<Device>>,
    /// Whether each emulated node has a native one beside it that is handed the same, must want the same, and says what
    /// was done in each task: see [`Simulation::take_measured`](crate::Simulation::take_measured).
    pub shadows: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sinks: Sinks::default(),
            far_end: FarEnd::Inside,
            packets: false,
            host: None,
            security_gateway: None,
            router_counters: None,
            devices: None,
            shadows: false,
        }
    }
}

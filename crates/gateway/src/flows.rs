//! Which datagram from outside belongs to which node.

use core::net::Ipv6Addr;

use sixlock_base::{Counter, Counters, Duration, Instant};

/// A flow not used for this long is forgotten.
pub const IDLE: Duration = Duration::from_secs(180);

/// The first UDP port that is given to a flow begun from outside.
const FIRST_HOST_PORT: u16 = 49_152;

/// Names a flow. A flow that takes another's place in the table has another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId {
    index: u16,
    generation: u16,
}

impl FlowId {
    /// The flow's place in the table.
    pub const fn index(self) -> usize {
        self.index as usize
    }
}

/// The two ends of a flow: a node inside the mesh, a host outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The node's address.
    pub node: Ipv6Addr,
    /// The node's UDP port.
    pub node_port: u16,
    /// The address of the host outside.
    pub host: Ipv6Addr,
    /// The UDP port of the host outside.
    pub host_port: u16,
}

#[derive(Clone, Copy)]
struct Entry {
    flow: Flow,
    used: Instant,
    generation: u16,
    live: bool,
}

impl Entry {
    const VACANT: Self = Self {
        flow: Flow { node: Ipv6Addr::UNSPECIFIED, node_port: 0, host: Ipv6Addr::UNSPECIFIED, host_port: 0 },
        used: Instant::from_millis(0),
        generation: 0,
        live: false,
    };
}

/// At most `N` flows. A flow idle for [`IDLE`] makes room for a new one; when none is, the
/// one idle for longest gives way and is counted.
pub(crate) struct Flows<const N: usize> {
    entries: [Entry; N],
}

impl<const N: usize> Flows<N> {
    const FITS: () = assert!(
        N > 0 && N <= (u16::MAX - FIRST_HOST_PORT) as usize,
        "a flow table holds 1 to 16,383 flows, each of which may need a port"
    );

    pub(crate) const fn new() -> Self {
        let () = Self::FITS;
        Self { entries: [Entry::VACANT; N] }
    }

    /// The flow of a datagram from inside the mesh, begun if there is none.
    pub(crate) fn of(&mut self, now: Instant, flow: Flow, counters: &mut Counters) -> FlowId {
        let known = self.entries.iter().position(|entry| entry.live && entry.flow == flow);
        let place = known.unwrap_or_else(|| self.vacate(now, counters));
        self.occupy(now, place, known.is_none(), flow)
    }

    /// The flow of a datagram, if there is one.
    pub(crate) fn find(&mut self, now: Instant, flow: &Flow) -> Option<FlowId> {
        let place = self.entries.iter().position(|entry| entry.live && entry.flow == *flow)?;
        Some(self.occupy(now, place, false, *flow))
    }

    /// A new flow to a node's port, begun from outside: `host` gets a port of its own.
    pub(crate) fn open(
        &mut self,
        now: Instant,
        node: Ipv6Addr,
        node_port: u16,
        host: Ipv6Addr,
        counters: &mut Counters,
    ) -> FlowId {
        let place = self.vacate(now, counters);
        let host_port = FIRST_HOST_PORT + place as u16;
        self.occupy(now, place, true, Flow { node, node_port, host, host_port })
    }

    /// The flow named `id`, unless it is gone.
    pub(crate) fn get(&mut self, now: Instant, id: FlowId) -> Option<Flow> {
        let entry = self.entries.get_mut(id.index())?;
        if !entry.live || entry.generation != id.generation {
            return None;
        }
        entry.used = now;
        Some(entry.flow)
    }

    fn occupy(&mut self, now: Instant, place: usize, new: bool, flow: Flow) -> FlowId {
        let entry = &mut self.entries[place];
        if new {
            entry.generation = entry.generation.wrapping_add(1);
        }
        *entry = Entry { flow, used: now, generation: entry.generation, live: true };
        FlowId { index: place as u16, generation: entry.generation }
    }

    /// A place for a new flow.
    fn vacate(&mut self, now: Instant, counters: &mut Counters) -> usize {
        let idle = |entry: &Entry| now.since(entry.used).millis();
        if let Some(free) = self.entries.iter().position(|entry| !entry.live) {
            return free;
        }
        let longest = (0..N).max_by_key(|&place| idle(&self.entries[place])).unwrap_or(0);
        if idle(&self.entries[longest]) < IDLE.millis() {
            counters.count(Counter::GatewayFlowsEvicted);
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(n: u32) -> Flow {
        let node = sixlock_base::Eui64::of_node(n).with_prefix(sixlock_base::MESH_PREFIX);
        Flow { node, node_port: 5683, host: Ipv6Addr::LOCALHOST, host_port: 5684 }
    }

    #[test]
    fn a_flow_is_found_again_and_the_longest_idle_gives_way_when_the_table_is_full() {
        let mut flows = Flows::<2>::new();
        let mut counters = Counters::new();
        let at = |seconds| Instant::from_millis(0) + Duration::from_secs(seconds);
        let first = flows.of(at(0), flow(1), &mut counters);
        let second = flows.of(at(1), flow(2), &mut counters);
        assert_eq!(flows.of(at(2), flow(1), &mut counters), first);
        assert_eq!(flows.get(at(3), second), Some(flow(2)));

        let third = flows.of(at(4), flow(3), &mut counters);
        assert_eq!(counters.get(Counter::GatewayFlowsEvicted), 1);
        assert_eq!(flows.get(at(4), first), None, "its name died with it");
        assert_eq!(flows.get(at(4), third), Some(flow(3)));

        flows.of(at(4 + 200), flow(4), &mut counters);
        assert_eq!(counters.get(Counter::GatewayFlowsEvicted), 1, "an idle flow is not missed");
    }

    #[test]
    fn flows_from_outside_have_ports_of_their_own() {
        let mut flows = Flows::<4>::new();
        let mut counters = Counters::new();
        let now = Instant::from_millis(0);
        let host = Ipv6Addr::LOCALHOST;
        let a = flows.open(now, flow(1).node, 7, host, &mut counters);
        let b = flows.open(now, flow(1).node, 7, host, &mut counters);
        let (a_flow, b_flow) = (flows.get(now, a).unwrap(), flows.get(now, b).unwrap());
        assert_ne!(a_flow.host_port, b_flow.host_port);
        assert_eq!(flows.of(now, a_flow, &mut counters), a, "the answer finds its flow");
    }
}

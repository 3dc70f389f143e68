//! Who is at the far end: the cloud, or a host that sends echoes.

use sixlock_gateway::FlowId;

use crate::cloud::Cloud;
use crate::events::Owner;

use super::reports::state_times;
use super::{Happening, Simulation};

/// The largest UDP payload that the mesh carries.
const MAX_DATAGRAM: usize = 1232;

/// Who is at the far end.
pub(super) enum Far {
    Cloud(Box<Cloud>),
    /// A host that sends echoes of this many bytes; a flow for each node from 1 on.
    Echo {
        payload: usize,
        flows: Vec<FlowId>,
    },
    Outside,
}

impl Simulation {
    /// Carries datagrams between border router and far end.
    pub(super) fn settle_far_end(&mut self) {
        let now = self.now;
        match &mut self.far {
            Far::Outside => {}
            Far::Echo { flows, .. } => {
                while let Some(datagram) = self.outbound.pop_front() {
                    let node = flows.iter().position(|flow| *flow == datagram.flow);
                    let Some(node) = node else { continue };
                    let tally = &mut self.nodes[node].tally;
                    let sent = tally.sent.to_be_bytes();
                    if datagram.payload.get(..sent.len()) == Some(&sent[..])
                        && let Some(round_trip) = tally.confirmed(now)
                    {
                        tally.round_trips.push(round_trip);
                        self.echoes.back(node as u32 + 1, round_trip);
                        let after = Some(("after_us", round_trip.micros()));
                        self.recorder.event(now, node as u32 + 1, "echoed", after);
                    }
                }
            }
            Far::Cloud(cloud) => {
                while let Some(mut datagram) = self.outbound.pop_front() {
                    cloud.handle(now, &mut datagram, |node| {
                        if self.nodes[node as usize - 1].tally.delivered() {
                            self.recorder.event(now, node, "accepted", None);
                        }
                    });
                }
                let mut payload = [0; MAX_DATAGRAM];
                while let Some((flow, len)) = cloud.poll_transmit(now, &mut payload) {
                    // What the border router cannot send is lost, as on any link.
                    let _ = self.stations[0].with_gateway(now, |gateway, cx| {
                        gateway.handle_upstream(cx, now.symbols(), flow, &payload[..len])
                    });
                }
                if let Some(time) = cloud.poll_timer(now) {
                    self.events.push(time, Owner::Cloud, Happening::Timer);
                }
                self.settle(0);
            }
        }
    }

    pub(super) fn send_echo(&mut self, node: u32) {
        let Far::Echo { payload: len, flows } = &self.far else { return };
        let (len, flow) = (*len, flows[node as usize - 1]);
        let tally = &mut self.nodes[node as usize - 1].tally;
        tally.sent(self.now);
        self.recorder.event(self.now, node, "echo", Some(("number", tally.sent)));
        let times = |id| state_times(&self.stations, &self.medium, id, self.now);
        self.echoes.sent(self.now, self.layout.way(node), times);
        let mut payload = [0; MAX_DATAGRAM];
        let number = tally.sent.to_be_bytes();
        payload[..number.len()].copy_from_slice(&number);
        // What the border router cannot send is lost, as on any link.
        let _ = self.handle_upstream(flow, &payload[..len]);
        let next = self.now + self.scenario.traffic.period;
        self.events.push(next, Owner::Cloud, Happening::Echo(node));
    }
}

//! Who is at the far end: the cloud, or a host that sends echoes.

use crate::cloud::Cloud;
use crate::echo_host::{EchoHost, Ended};
use crate::events::Owner;

use super::reports::state_times;
use super::{Happening, Simulation};

/// The largest UDP payload that the mesh carries.
const MAX_DATAGRAM: usize = 1232;

/// Who is at the far end.
pub(super) enum Far {
    Cloud(Box<Cloud>),
    Echo(EchoHost),
    Outside,
}

impl Simulation {
    /// Does what is due at the far end.
    pub(super) fn handle_far_end_timer(&mut self) {
        match &mut self.far {
            Far::Cloud(cloud) => cloud.handle_timer(self.now),
            Far::Echo(host) => {
                if let Some(clients) = host.clients() {
                    clients.handle_timer(self.now);
                }
            }
            Far::Outside => {}
        }
        self.settle_far_end();
    }

    /// Carries datagrams between border router and far end.
    pub(super) fn settle_far_end(&mut self) {
        match &self.far {
            Far::Cloud(_) => self.settle_cloud(),
            Far::Echo(_) => self.settle_echoes(),
            Far::Outside => {}
        }
    }

    fn settle_cloud(&mut self) {
        let now = self.now;
        let Far::Cloud(cloud) = &mut self.far else { return };
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

    fn settle_echoes(&mut self) {
        let now = self.now;
        let Far::Echo(host) = &mut self.far else { return };
        while let Some(mut datagram) = self.outbound.pop_front() {
            let Some(node) = host.node(datagram.flow) else { continue };
            let tally = &mut self.nodes[node as usize - 1].tally;
            host.handle(now, node, &mut datagram.payload, |echo| {
                if echo.starts_with(&tally.sent.to_be_bytes())
                    && let Some(round_trip) = tally.confirmed(now)
                {
                    tally.round_trips.push(round_trip);
                    self.echoes.back(node, round_trip);
                    let after = Some(("after_us", round_trip.micros()));
                    self.recorder.event(now, node, "echoed", after);
                }
            });
        }
        let Some(clients) = host.clients() else { return };
        let mut connected = Vec::new();
        while let Some((node, ended)) = clients.poll_ended(now) {
            match ended {
                Ended::Connected(after) => {
                    if let Some(keys) = clients.key_log(node) {
                        self.recorder.key(keys.client_random, keys.master_secret);
                    }
                    self.recorder.event(now, node, "handshake", Some(("after_us", after.micros())));
                    self.nodes[node as usize - 1].tally.handshakes.push(after);
                    connected.push(node);
                }
                Ended::Failed => {
                    let next = now + self.scenario.traffic.period;
                    self.events.push(next, Owner::Cloud, Happening::Echo(node));
                }
            }
        }
        let mut payload = [0; MAX_DATAGRAM];
        while let Some((flow, len)) = host.poll_transmit(now, &mut payload) {
            // What the border router cannot send is lost, as on any link.
            let _ = self.stations[0].with_gateway(now, |gateway, cx| {
                gateway.handle_upstream(cx, now.symbols(), flow, &payload[..len])
            });
        }
        if let Some(time) = host.clients().and_then(|clients| clients.poll_timer(now)) {
            self.events.push(time, Owner::Cloud, Happening::Timer);
        }
        self.settle(0);
        for node in connected {
            self.send_echo(node);
        }
    }

    /// Sends an echo to a node; if it is to go over DTLS, as soon as there is a session with it.
    pub(super) fn send_echo(&mut self, node: u32) {
        let now = self.now;
        let Far::Echo(host) = &mut self.far else { return };
        if let Some(clients) = host.clients()
            && !clients.is_connected(node)
        {
            clients.connect(now, node);
            return self.settle_echoes();
        }
        let tally = &mut self.nodes[node as usize - 1].tally;
        tally.sent(now);
        self.recorder.event(now, node, "echo", Some(("number", tally.sent)));
        let times = |id| state_times(&self.stations, &self.medium, id, now);
        self.echoes.sent(now, self.layout.way(node), times);
        let mut echo = vec![0; host.payload()];
        let number = tally.sent.to_be_bytes();
        echo[..number.len()].copy_from_slice(&number);
        if let Some(datagram) = host.datagram(now, node, echo) {
            let flow = host.flow(node);
            // What the border router cannot send is lost, as on any link.
            let _ = self.handle_upstream(flow, &datagram);
        }
        let next = now + self.scenario.traffic.period;
        self.events.push(next, Owner::Cloud, Happening::Echo(node));
    }
}

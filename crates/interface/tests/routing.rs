//! A routing protocol that is told what becomes of frames, changes routes, and sends packets of its own.

use std::net::Ipv6Addr;

use sixlock_base::{
    Cx, Duration, Entropy, Eui64, Instant, LINK_LOCAL_PREFIX, MESH_PREFIX, New, Nv, Packet, Symbols,
};
use sixlock_crypto::Soft;
use sixlock_ieee802154::ack;
use sixlock_interface::{
    Config, Csma, Datagrams, FrameOutcome, Interface, Link, MacConfig, Outcome, RadioCommand, Route, Router,
    Routes, Routing, SendError, Stack, Uplink,
};
use sixlock_ipv6::{Header, next_header};
use sixlock_testing::Rig;

const OWN: Eui64 = Eui64::of_node(1);
const ROUTER: Eui64 = Eui64::of_node(2);
const FAR: Eui64 = Eui64::of_node(3);

/// How long after a loss the neighbour is asked whether it is back.
const PAUSE: Duration = Duration::from_secs(5);

/// Takes the route off that leads over a neighbour which does not acknowledge, and puts it on the list again when that
/// acknowledges a probe.
struct Probing {
    routes: Routes<[Route; 1]>,
    outcomes: Vec<FrameOutcome>,
    probe: Option<Instant>,
    is_due: bool,
}

impl New for Probing {
    const NEW: Self = Self { routes: Routes::NEW, outcomes: Vec::new(), probe: None, is_due: false };
}

impl Router for Probing {
    fn next_hop(&self, destination: Ipv6Addr) -> Option<Eui64> {
        self.routes.next_hop(destination)
    }
}

impl Routing for Probing {
    const ROUTES: bool = true;

    fn handle_outcome<C, E: Entropy, N: Nv>(&mut self, _: &mut Cx<'_, C, E, N>, outcome: &FrameOutcome) {
        self.outcomes.push(*outcome);
        match outcome.outcome {
            Outcome::Delivered => self.routes.add(FAR, ROUTER).unwrap(),
            Outcome::NoAck | Outcome::ChannelBusy => {
                self.routes.remove(FAR);
                self.probe = Some(Instant::from_millis(0) + PAUSE);
            }
        }
    }

    fn has_output(&self) -> bool {
        self.is_due
    }

    fn poll_transmit<C, E: Entropy, N: Nv>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        out: &mut [u8],
    ) -> Option<usize> {
        self.is_due = false;
        let header = Header {
            traffic_class: 0,
            flow_label: 0,
            payload_length: 0,
            next_header: next_header::NONE,
            hop_limit: 1,
            source: OWN.with_prefix(LINK_LOCAL_PREFIX),
            destination: ROUTER.with_prefix(LINK_LOCAL_PREFIX),
        };
        header.emit(out).ok().map(|()| Header::LEN)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.probe
    }

    fn handle_timeout<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.is_due |= self.probe.take_if(|due| cx.now.has_reached(*due)).is_some();
    }
}

/// The layers of a host whose routing probes.
type Layers = Stack<Link<false, 4, 2>, Datagrams<1280, 4>, Probing>;

struct Host {
    interface: Interface<Soft, Layers>,
    rig: Rig,
    at: Symbols,
}

impl Host {
    fn new() -> Self {
        let mut host = Self { interface: Interface::new(), rig: Rig::without_ranges(0), at: Symbols::new(0) };
        let csma = Csma { min_be: 0, max_be: 3, max_backoffs: 4, max_retries: 2 };
        let mac = MacConfig { address: OWN, pan_id: 1, csma, ack: true, security: None };
        host.interface.start(&mut host.rig.cx(), &Config { mac, uplink: Uplink::None });
        host.interface.routing().routes.add(FAR, ROUTER).unwrap();
        host
    }

    fn send(&mut self) -> Result<(), SendError> {
        let mut packet = Packet::<[u8; 128]>::new();
        packet.reset(self.interface.front());
        packet.extend(b"reading").unwrap();
        let to = FAR.with_prefix(MESH_PREFIX);
        self.interface.send(&mut self.rig.cx(), self.at, &mut packet, 5683, to, 5683)
    }

    /// Lets the radio do what is to be done, where the neighbour acknowledges each frame or none; how many frames were sent.
    fn work(&mut self, acknowledged: bool) -> usize {
        let mut sent = 0;
        for _ in 0..1000 {
            self.at = self.at.after(1);
            self.interface.handle_radio_timeout(&mut self.rig.cx(), self.at);
            if let Some(RadioCommand::Send { .. }) = self.interface.poll_radio_due() {
                sent += 1;
                let sequence = self.interface.transmit_frame()[2];
                self.interface.handle_transmitted(&mut self.rig.cx(), self.at);
                if acknowledged {
                    let arrival =
                        self.interface.handle_frame(&mut self.rig.cx(), self.at, &mut ack(sequence));
                    assert!(arrival.is_none());
                }
            }
        }
        sent
    }

    fn outcomes(&mut self) -> Vec<(Eui64, Outcome, u8)> {
        let outcomes = core::mem::take(&mut self.interface.routing().outcomes);
        outcomes.into_iter().map(|told| (told.neighbour, told.outcome, told.attempts)).collect()
    }
}

#[test]
fn a_route_is_removed_for_what_became_of_frames_and_comes_back_with_an_answered_probe() {
    let mut host = Host::new();
    host.send().unwrap();
    assert_eq!(host.work(true), 1);
    assert_eq!(host.outcomes(), [(ROUTER, Outcome::Delivered, 1)]);
    assert_eq!(host.interface.poll_timeout(), None);

    host.send().unwrap();
    assert_eq!(host.work(false), 3);
    assert_eq!(host.outcomes(), [(ROUTER, Outcome::NoAck, 3)]);
    assert_eq!(host.send(), Err(SendError::NoRoute));

    assert_eq!(host.interface.poll_timeout(), Some(host.rig.now + PAUSE));
    assert_eq!(host.work(true), 0, "it is not due");
    host.rig.now = host.rig.now + PAUSE;
    host.interface.handle_timeout(&mut host.rig.cx(), host.at);
    assert_eq!(host.work(true), 1, "the probe");
    assert_eq!(host.outcomes(), [(ROUTER, Outcome::Delivered, 1)]);
    host.send().unwrap();
    assert_eq!(host.work(true), 1);
}

//! The border router: one machine, or two at the ends of a serial line, which takes its time.

use core::net::Ipv6Addr;
use std::collections::VecDeque;

use sixlock_base::{Counter, Cx, Entropy, Eui64, Instant, Nv, Symbols};
use sixlock_bridge::Bridge;
use sixlock_gateway::{Error, Exit, FlowId, Gateway, Serial, SerialGateway, Tunnels, Upstream};
use sixlock_node::ipsec::Automated;
use sixlock_node::{Interface, InterfaceConfig, RadioMachine};

use crate::engine::Accelerated;
use crate::machines::{Context, GatewayLayers, RouterIpsec, StationMac};
use crate::network::CLOUD;
use crate::protection::Keyed;
use crate::sizes::FLOWS;
use crate::time::{Span, Time};

/// Hosts outside with tunnels to a security gateway, at most.
const HOSTS: usize = 16;
/// Packets that wait for the line in each direction, as at `sixlock router`; more are dropped, and counted.
const WAITING: usize = 256;
/// Bits on the line for each byte: it, a start bit and a stop bit.
const BITS: u64 = 10;

type Hosts = Tunnels<Accelerated, Keyed, HOSTS, Automated<HOSTS>>;

/// The border router as the simulator sizes it.
pub(crate) enum Router {
    /// One machine.
    Whole(Box<Gateway<Accelerated, GatewayLayers, FLOWS, Hosts>>),
    /// A bridge and a host.
    Split(Box<Split>),
}

/// A bridge on the air and a host, with a serial line between them.
pub(crate) struct Split {
    bridge: Bridge<Accelerated, GatewayLayers>,
    host: SerialGateway<Accelerated, RouterIpsec, FLOWS, Hosts>,
    up: Line,
    down: Line,
}

impl Router {
    /// One without routes or flows, at this address of the mesh; with this many bits per second on its line, if it has one.
    pub(crate) fn new(
        cx: &mut Context<'_>,
        config: &InterfaceConfig,
        address: Ipv6Addr,
        exit: Exit,
        baud: Option<u32>,
    ) -> Self {
        let Some(baud) = baud else { return Self::Whole(Box::new(Gateway::new(cx, config, exit))) };
        let mut bridge = Bridge::new();
        bridge.start(cx, config);
        let serial = Serial { bridge: address, host: CLOUD };
        let host = SerialGateway::new(cx.now, serial, exit);
        Self::Split(Box::new(Split { bridge, host, up: Line::new(baud), down: Line::new(baud) }))
    }

    /// What protects packets between the mesh and the hosts that it speaks for.
    pub(crate) fn security(&mut self) -> &mut RouterIpsec {
        match self {
            Self::Whole(gateway) => gateway.interface().security(),
            Self::Split(split) => split.host.security(),
        }
    }

    /// Its MAC.
    pub(crate) fn mac(&mut self) -> &mut StationMac<4> {
        self.interface().mac()
    }

    /// Its address on the air.
    pub(crate) fn address(&mut self) -> Eui64 {
        self.interface().address()
    }

    /// What is done to packets that leave the mesh whole, and that come whole.
    pub(crate) fn internet(&mut self) -> &mut Hosts {
        match self {
            Self::Whole(gateway) => gateway.internet(),
            Self::Split(split) => split.host.internet(),
        }
    }

    /// Takes in a received frame, and gives what leaves the mesh at once to `upstream`.
    pub(crate) fn handle_frame(
        &mut self,
        cx: &mut Context<'_>,
        at: Symbols,
        frame: &mut [u8],
        upstream: impl FnOnce(Upstream<'_>),
    ) {
        match self {
            Self::Whole(gateway) => gateway.handle_frame(cx, at, frame, upstream),
            Self::Split(split) => {
                let Split { bridge, up, .. } = &mut **split;
                let mut bytes = Vec::new();
                bridge.handle_frame(cx, at, frame, |encoded| bytes.extend(encoded));
                up.put(cx, bytes);
            }
        }
    }

    /// Takes in a packet from outside, the first `len` bytes of `buffer`; the answer for outside, if there is one.
    pub(crate) fn handle_packet<'b>(
        &'b mut self,
        cx: &mut Context<'_>,
        at: Symbols,
        buffer: &'b mut [u8],
        len: usize,
    ) -> Option<&'b [u8]> {
        match self {
            Self::Whole(gateway) => gateway.handle_packet(cx, at, buffer, len),
            Self::Split(split) => {
                let Split { host, down, .. } = &mut **split;
                let mut bytes = Vec::new();
                let answer = host.handle_packet(cx, buffer, len, |encoded| bytes.extend(encoded));
                down.put(cx, bytes);
                answer
            }
        }
    }

    /// Begins a flow from `host` to a node's port.
    pub(crate) fn open(&mut self, cx: &mut Context<'_>, host: Ipv6Addr, node: Ipv6Addr, port: u16) -> FlowId {
        match self {
            Self::Whole(gateway) => gateway.open(cx, host, node, port),
            Self::Split(split) => split.host.open(cx, host, node, port),
        }
    }

    /// Sends a datagram from outside to the node of its flow.
    pub(crate) fn handle_upstream(
        &mut self,
        cx: &mut Context<'_>,
        at: Symbols,
        flow: FlowId,
        payload: &[u8],
    ) -> Result<(), Error> {
        match self {
            Self::Whole(gateway) => gateway.handle_upstream(cx, at, flow, payload),
            Self::Split(split) => {
                let Split { host, down, .. } = &mut **split;
                let mut bytes = Vec::new();
                let sent = host.handle_upstream(cx, flow, payload, |encoded| bytes.extend(encoded));
                down.put(cx, bytes);
                sent
            }
        }
    }

    /// Begins to carry what was put on the line since this was last called; when each packet is at the other end.
    pub(crate) fn carry(&mut self, now: Time) -> impl Iterator<Item = Time> {
        let [up, down] = match self {
            Self::Whole(_) => [Vec::new(), Vec::new()],
            Self::Split(split) => [split.up.carry(now), split.down.carry(now)],
        };
        up.into_iter().chain(down)
    }

    /// Whether a packet for the mesh is at the other end of the line by now.
    pub(crate) fn waits(&self, now: Time) -> bool {
        matches!(self, Self::Split(split) if split.down.has_arrived(now))
    }

    /// Takes in what is at the other end of the line by now, of what is for the mesh at most so many packets, and gives what leaves the mesh
    /// to `upstream`. What enters it is as long as `entered` is told.
    pub(crate) fn arrive(
        &mut self,
        cx: &mut Context<'_>,
        (now, at): (Time, Symbols),
        room: usize,
        mut upstream: impl FnMut(Upstream<'_>),
        mut entered: impl FnMut(usize),
    ) {
        let Self::Split(split) = self else { return };
        let Split { bridge, host, up, down } = &mut **split;
        while let Some(bytes) = up.arrived(now) {
            host.handle_line(cx, &bytes, &mut upstream);
        }
        for _ in 0..room {
            let Some(bytes) = down.arrived(now) else { return };
            entered(bytes.len());
            let mut answers = Vec::new();
            bridge.handle_line(cx, at, &bytes, |encoded| answers.push(encoded.collect()));
            answers.into_iter().for_each(|answer| up.put(cx, answer));
        }
    }
}

impl RadioMachine for Router {
    type Crypto = Accelerated;
    type Layers = GatewayLayers;

    fn interface(&mut self) -> &mut Interface<Accelerated, GatewayLayers> {
        match self {
            Self::Whole(gateway) => gateway.interface(),
            Self::Split(split) => split.bridge.interface(),
        }
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        match self {
            Self::Whole(gateway) => gateway.poll_timeout(),
            Self::Split(split) => {
                Instant::earliest(split.bridge.poll_timeout(), Some(split.host.poll_timeout()))
            }
        }
    }

    fn handle_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, Accelerated, E, N>, at: Symbols) {
        match self {
            Self::Whole(gateway) => gateway.handle_timeout(cx, at),
            Self::Split(split) => {
                let Split { bridge, host, down, .. } = &mut **split;
                bridge.handle_timeout(cx, at);
                let mut bytes = Vec::new();
                host.handle_timeout(cx, |encoded| bytes.extend(encoded));
                down.put(cx, bytes);
                // Nobody is there to be told.
                while host.poll_event().is_some() {}
            }
        }
    }
}

/// One direction of a serial line.
struct Line {
    /// How long a byte takes, in nanoseconds.
    byte: u64,
    /// Packets in SLIP that do not go yet.
    put: Vec<Vec<u8>>,
    /// Those that go, or wait, with the time at which they are at the other end.
    under_way: VecDeque<(Time, Vec<u8>)>,
    /// Until when it is busy.
    busy: Time,
}

impl Line {
    fn new(baud: u32) -> Self {
        let byte = BITS * 1_000_000_000 / u64::from(baud);
        Self { byte, put: Vec::new(), under_way: VecDeque::new(), busy: Time::ZERO }
    }

    /// Takes a packet, if it is one.
    fn put<C, E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, bytes: Vec<u8>) {
        match bytes.is_empty() {
            true => {}
            false if self.put.len() + self.under_way.len() >= WAITING => {
                cx.counters.count(Counter::LowpanTransmitFull);
            }
            false => self.put.push(bytes),
        }
    }

    fn carry(&mut self, now: Time) -> Vec<Time> {
        let Self { byte, put, under_way, busy } = self;
        let carried = put.drain(..).map(|bytes| {
            *busy = now.max(*busy) + Span::from_micros(bytes.len() as u64 * *byte / 1000);
            under_way.push_back((*busy, bytes));
            *busy
        });
        carried.collect()
    }

    fn has_arrived(&self, now: Time) -> bool {
        self.under_way.front().is_some_and(|(time, _)| *time <= now)
    }

    fn arrived(&mut self, now: Time) -> Option<Vec<u8>> {
        self.under_way.pop_front_if(|(time, _)| *time <= now).map(|(_, bytes)| bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_testing::Rig;

    #[test]
    fn packets_on_a_line_take_ten_bits_for_each_byte_one_after_the_other() {
        let (mut rig, mut line) = (Rig::seeded(1), Line::new(9600));
        let start = Time::ZERO + Span::from_secs(1);
        for len in [96, 0, 96] {
            line.put(&mut rig.cx(), vec![7; len]);
        }
        // 960 bits are 100 ms.
        let at = |millis| start + Span::from_millis(millis);
        let times = line.carry(start);
        let after = |time: Time| time.since(start).micros() / 100;
        assert_eq!(times.into_iter().map(after).collect::<Vec<_>>(), [999, 1999]);
        assert_eq!(line.arrived(at(99)), None);
        assert_eq!(line.arrived(at(100)), Some(vec![7; 96]));
        assert_eq!(line.arrived(at(100)), None);
        assert!(line.arrived(at(200)).is_some());
    }

    #[test]
    fn a_line_on_which_too_many_wait_drops_and_counts_the_next() {
        let (mut rig, mut line) = (Rig::seeded(1), Line::new(9600));
        for _ in 0..WAITING + 2 {
            line.put(&mut rig.cx(), vec![7]);
        }
        assert_eq!((line.carry(Time::ZERO).len(), rig.count(Counter::LowpanTransmitFull)), (WAITING, 2));
    }
}

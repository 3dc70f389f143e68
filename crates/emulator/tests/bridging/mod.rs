//! A host at the serial port of a border router in an emulator, and native nodes behind that, each in range of the one before it alone. In the border
//! router's place may be a node, which the first of them asks something.

#![allow(dead_code, reason = "each user needs a part of it")]

use core::net::Ipv6Addr;
use core::ops::ControlFlow;
use std::path::Path;

use sixlock_base::{Entropy, Eui64, Instant, LinkSuite, MESH_PREFIX, Packet, Symbols};
use sixlock_crypto::Soft;
use sixlock_emulator::{Image, Lockstep, Request, Task};
use sixlock_interface::rpl::RplNode;
use sixlock_interface::{
    Arrival, Config, Csma, Datagrams, Interface, Link, LinkSecurity, MacConfig, RadioCommand,
    Route as Listed, Routes, Routing, Stack, Uplink,
};
use sixlock_lockstep::{Command, Device, DeviceEvent, FRAME, LinkKey, ROUTE, Route};
use sixlock_rpl::objective::Mrhof;
use sixlock_rpl::{Advertiser, Neighbour, Profile};
use sixlock_slip::{Decoder, Encoder};
use sixlock_testing::{Random, Rig};

/// The largest packet.
const MTU: usize = 1280;
/// The border router.
const BRIDGE: Eui64 = Eui64::of_node(0);
/// The host.
pub(crate) const HOST: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 1);

const PAN_ID: u16 = 0xabcd;
const KEY: [u8; 16] = *b"the key of a PAN";
/// The port of the echo service, and one of who asks it.
const ECHO_PORT: u16 = 7;
const CLIENT_PORT: u16 = 49_152;
/// How long nothing happens before everything counts as over, in milliseconds: less than a reassembly may take.
const QUIET: u32 = 5_000;

/// The border router's address in the mesh.
pub(crate) fn bridge() -> Ipv6Addr {
    BRIDGE.with_prefix(MESH_PREFIX)
}

/// The address in the mesh of the node that is so many hops away.
pub(crate) fn node(hops: u32) -> Ipv6Addr {
    Eui64::of_node(hops).with_prefix(MESH_PREFIX)
}

/// A thousand milliseconds are 62,500 symbols.
fn instant(at: Symbols) -> Instant {
    Instant::from_millis(at.count() / 125 * 2)
}

fn symbols(at: Instant) -> Symbols {
    Symbols::new(at.millis().div_ceil(2) * 125)
}

/// A router of RPL.
pub(crate) enum Router {}

impl Profile for Router {
    type Neighbours = [Neighbour; 2];
    type Objective = Mrhof;
    type Advertising = Advertiser;
    type Downward = ();
    type Prefix = ();
    type External = ();
}

/// Nodes of which each has one route: to itself.
type ByRoutes = Routes<[Listed; 1]>;
/// Nodes that speak RPL.
type ByRpl = RplNode<Router>;

/// A node.
struct Node<R: Routing> {
    interface: Interface<Soft, Stack<Link<true, 2, 2>, Datagrams<MTU, 4>, R>>,
    rig: Rig,
    /// What came to it by UDP.
    received: Vec<Vec<u8>>,
}

impl<R: Routing> Node<R> {
    fn start(hops: u32, security: Option<LinkSecurity>) -> Self {
        let mut node = Self { interface: Interface::new(), rig: Rig::seeded(6 + hops), received: Vec::new() };
        let address = Eui64::of_node(hops);
        let mac = MacConfig { address, pan_id: PAN_ID, csma: Csma::default(), ack: false, security };
        node.interface.start(&mut node.rig.cx(), &Config { mac, uplink: Uplink::NextHop(BRIDGE) });
        node
    }

    /// The frame that it sends now, if it does.
    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        let sends = matches!(self.interface.poll_radio_due(), Some(RadioCommand::Send { .. }));
        sends.then(|| self.interface.transmit_frame().to_vec())
    }

    fn handle_frame(&mut self, at: Symbols, frame: &mut [u8]) {
        let cx = &mut self.rig.at(instant(at));
        if let Some(Arrival::Datagram(delivered)) = self.interface.handle_frame(cx, at, frame) {
            self.received.push(self.interface.datagram(&delivered).payload.to_vec());
            self.interface.release(delivered);
        }
    }

    /// Sends `payload` to the echo service of the one at the border router's place.
    fn ask(&mut self, at: Symbols, payload: &[u8]) {
        let mut packet = Packet::<[u8; MTU]>::new();
        packet.reset(self.interface.front());
        packet.extend(payload).unwrap();
        let cx = &mut self.rig.at(instant(at));
        self.interface.send(cx, at, &mut packet, CLIENT_PORT, bridge(), ECHO_PORT).unwrap();
    }

    /// Does what is due; whether there was something.
    fn handle_timeouts(&mut self, at: Symbols) -> bool {
        let due = |timer: Option<Symbols>| timer.is_some_and(|due| at.has_reached(due));
        let cx = &mut self.rig.at(instant(at));
        if due(self.interface.poll_radio_timeout()) {
            self.interface.handle_radio_timeout(cx, at);
        } else if due(self.interface.poll_timeout().map(symbols)) {
            self.interface.handle_timeout(cx, at);
        } else {
            return false;
        }
        true
    }
}

/// All of them.
pub(crate) struct Bridged<R: Routing> {
    image: Image,
    bridge: Lockstep,
    entropy: Random,
    storage: [u8; 64],
    /// What the border router wants of its radio, and when it wants to be woken.
    command: Command,
    frame: Vec<u8>,
    timers: [Option<Symbols>; 2],
    nodes: Vec<Node<R>>,
    host: Decoder<[u8; MTU]>,
    arrived: Vec<Vec<u8>>,
    at: Symbols,
}

impl Bridged<ByRoutes> {
    /// The border router of the image at `path`, with a route to one node; frames are secured if `secured`.
    pub(crate) fn new(path: &Path, secured: bool) -> Self {
        let to_node = Route { destination: Eui64::of_node(1), next_hop: Eui64::of_node(1) };
        Self::start(path, secured, &[to_node.to_bytes()], 1)
    }
}

impl Bridged<ByRpl> {
    /// The same without routes, and with so many nodes that speak RPL.
    pub(crate) fn root(path: &Path, secured: bool, nodes: u32) -> Self {
        let mut bridged = Self::start(path, secured, &[], nodes);
        for (Node { interface, rig, .. }, hops) in bridged.nodes.iter_mut().zip(1..) {
            interface.routing().0.start(&mut rig.cx(), Eui64::of_node(hops), 0).unwrap();
        }
        bridged
    }
}

impl<R: Routing> Bridged<R> {
    fn start(path: &Path, secured: bool, routes: &[[u8; ROUTE]], nodes: u32) -> Self {
        let csma = Csma::default();
        let device = Device {
            address: BRIDGE,
            pan_id: PAN_ID,
            channel: 26,
            min_be: csma.min_be,
            max_be: csma.max_be,
            max_backoffs: csma.max_backoffs,
            max_retries: csma.max_retries,
            ack: false,
            link: secured.then_some(LinkKey { suite: LinkSuite::Ccm64, key: KEY, index: 1 }),
            parent: BRIDGE,
            routes,
            cloud: None,
            identity: &[],
            key: &[],
            serves: false,
            echoes: false,
        };
        let mut image = Image::read(path).unwrap_or_else(|error| panic!("{error}"));
        image.patch("DEVICE", &device.emit().unwrap()).unwrap();
        let security = secured.then_some(LinkSecurity { suite: LinkSuite::Ccm64, key: KEY, key_index: 1 });
        let mut bridged = Self {
            bridge: boot(&image),
            image,
            entropy: Random::new(9),
            storage: [0xff; 64],
            command: Command::None,
            frame: Vec::new(),
            timers: [None; 2],
            nodes: (1..=nodes).map(|hops| Node::start(hops, security.clone())).collect(),
            host: Decoder::new(),
            arrived: Vec::new(),
            at: Symbols::new(0),
        };
        bridged.run(DeviceEvent::Start, &[]);
        bridged
    }

    /// The border router loses its power, and begins anew with what is in its storage.
    pub(crate) fn reboot(&mut self) {
        self.bridge = boot(&self.image);
        self.run(DeviceEvent::Start, &[]);
    }

    /// The border router's next task.
    fn run(&mut self, event: DeviceEvent, bytes: &[u8]) {
        let Self { bridge, entropy, storage, host, arrived, at, .. } = self;
        let task = Task::in_no_time(event, instant(*at), *at, bytes);
        let outcome = bridge.run(&task, |request| {
            match request {
                Request::Entropy(bytes) => entropy.fill(bytes),
                Request::Restore(address, bytes) => {
                    bytes.copy_from_slice(&storage[address.into()..][..bytes.len()]);
                }
                Request::Persist(address, bytes) => {
                    storage[address.into()..][..bytes.len()].copy_from_slice(bytes);
                }
                Request::Serial(bytes) => {
                    for &byte in bytes {
                        if let Some(len) = host.push(byte) {
                            arrived.push(host.buffer_mut()[..len.unwrap()].to_vec());
                        }
                    }
                }
            }
            ControlFlow::Continue(())
        });
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}")).expect("power");
        self.command = outcome.command;
        self.frame = outcome.exchange.frame().to_vec();
        self.timers = [outcome.exchange.radio_timer(), outcome.exchange.timer().map(symbols)];
    }

    /// Hands a frame to those in range of who has sent it, from so many hops away.
    fn deliver(&mut self, hops: usize, frame: &[u8]) {
        for hearer in hops.checked_sub(1).into_iter().chain([hops + 1]) {
            match hearer.checked_sub(1) {
                None => self.run(DeviceEvent::Frame, frame),
                Some(node) => {
                    let at = self.at;
                    if let Some(node) = self.nodes.get_mut(node) {
                        node.handle_frame(at, &mut frame.to_vec());
                    }
                }
            }
        }
    }

    /// Lets so many milliseconds pass, and everything happen that is due: one sends at a time, and what it sends arrives.
    pub(crate) fn pass(&mut self, millis: u32) {
        let begun = self.at;
        loop {
            match self.command {
                Command::Cca => {
                    self.at = self.at.after(8);
                    self.run(DeviceEvent::CcaClear, &[]);
                    continue;
                }
                Command::Transmit => {
                    let frame = core::mem::take(&mut self.frame);
                    self.at = self.at.after(airtime(&frame));
                    self.run(DeviceEvent::Transmitted, &[]);
                    self.deliver(0, &frame);
                    continue;
                }
                _ => {}
            }
            if instant(self.at).since(instant(begun)).millis() >= millis {
                return;
            }
            let sent =
                self.nodes.iter_mut().zip(1..).find_map(|(node, hops)| Some((hops, node.poll_transmit()?)));
            if let Some((hops, frame)) = sent {
                self.at = self.at.after(airtime(&frame));
                let (at, Node { interface, rig, .. }) = (self.at, &mut self.nodes[hops - 1]);
                interface.handle_transmitted(&mut rig.at(instant(at)), at);
                self.deliver(hops, &frame);
                continue;
            }
            let at = self.at;
            let timers = [(self.timers[0], DeviceEvent::RadioTimer), (self.timers[1], DeviceEvent::Timer)];
            let is_due = |timer: Option<Symbols>| timer.is_some_and(|due| at.has_reached(due));
            if let Some((_, event)) = timers.into_iter().find(|(timer, _)| is_due(*timer)) {
                self.run(event, &[]);
            } else if !self.nodes.iter_mut().any(|node| node.handle_timeouts(at)) {
                self.at = at.after(10);
            }
        }
    }

    /// What the host gets for `packet`.
    pub(crate) fn send(&mut self, packet: &[u8]) -> Vec<Vec<u8>> {
        let bytes: Vec<u8> = Encoder::new(packet).collect();
        for bytes in bytes.chunks(FRAME) {
            self.run(DeviceEvent::Serial, bytes);
            // Bytes do not wait until the radio is quiet.
            if self.command != Command::None {
                self.pass(QUIET);
            }
        }
        self.pass(QUIET);
        core::mem::take(&mut self.arrived)
    }

    /// What the first node gets for a datagram to the echo service of the one at the border router's place.
    pub(crate) fn ask(&mut self, payload: &[u8]) -> Vec<Vec<u8>> {
        self.nodes[0].ask(self.at, payload);
        self.pass(QUIET);
        core::mem::take(&mut self.nodes[0].received)
    }

    /// The stack's peak.
    pub(crate) fn stack_peak(&mut self) -> u32 {
        let peak = self.bridge.stack_peak().unwrap_or_else(|error| panic!("{error}"));
        assert!(peak < self.bridge.stack_len(), "it needs more stack than there is");
        peak
    }
}

fn boot(image: &Image) -> Lockstep {
    Lockstep::start_as_built(image.clone()).unwrap_or_else(|error| panic!("{error}"))
}

/// How long a frame is on the air, in symbols.
fn airtime(frame: &[u8]) -> u32 {
    (6 + frame.len() as u32) * 2
}

//! A host at the serial port of a border router in an emulator, and a native node beside that.

use core::net::Ipv6Addr;
use core::ops::ControlFlow;
use std::path::Path;

use sixlock_base::{Entropy, Eui64, Instant, LinkSuite, MESH_PREFIX, Symbols};
use sixlock_crypto::Soft;
use sixlock_emulator::{Image, Lockstep, Request, Task};
use sixlock_interface::{
    Arrival, Config, Csma, Datagrams, Interface, Link, LinkSecurity, MacConfig, RadioCommand,
    Route as Listed, Routes, Stack, Uplink,
};
use sixlock_lockstep::{Command, Device, DeviceEvent, FRAME, LinkKey, Route};
use sixlock_slip::{Decoder, Encoder};
pub(crate) use sixlock_testing::packets::icmpv6;
use sixlock_testing::{Random, Rig};

/// The largest packet.
const MTU: usize = 1280;
/// The border router.
const BRIDGE: Eui64 = Eui64::of_node(0);
/// The node.
const NODE: Eui64 = Eui64::of_node(1);
/// The host.
pub(crate) const HOST: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 1);

const PAN_ID: u16 = 0xabcd;
const KEY: [u8; 16] = *b"the key of a PAN";
/// How long nothing happens before everything counts as over, in milliseconds: less than a reassembly may take.
const QUIET: u32 = 5_000;

/// The border router's address in the mesh.
pub(crate) fn bridge() -> Ipv6Addr {
    BRIDGE.with_prefix(MESH_PREFIX)
}

/// The node's address in the mesh.
pub(crate) fn node() -> Ipv6Addr {
    NODE.with_prefix(MESH_PREFIX)
}

/// A thousand milliseconds are 62,500 symbols.
fn instant(at: Symbols) -> Instant {
    Instant::from_millis(at.count() / 125 * 2)
}

fn symbols(at: Instant) -> Symbols {
    Symbols::new(at.millis().div_ceil(2) * 125)
}

/// All three.
pub(crate) struct Bridged {
    bridge: Lockstep,
    entropy: Random,
    storage: [u8; 64],
    /// What the border router wants of its radio, and when it wants to be woken.
    command: Command,
    frame: Vec<u8>,
    timers: [Option<Symbols>; 2],
    node: Interface<Soft, Stack<Link<true, 2, 2>, Datagrams<MTU, 4>, Routes<[Listed; 1]>>>,
    rig: Rig,
    host: Decoder<[u8; MTU]>,
    arrived: Vec<Vec<u8>>,
    at: Symbols,
}

impl Bridged {
    /// The border router of the image at `path`; frames are secured if `secured`.
    pub(crate) fn new(path: &Path, secured: bool) -> Self {
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
            routes: &[Route { destination: NODE, next_hop: NODE }.to_bytes()],
            cloud: None,
            identity: &[],
            key: &[],
            serves: false,
            echoes: false,
        };
        let image = Image::read(path).unwrap_or_else(|error| panic!("{error}"));
        let security = secured.then_some(LinkSecurity { suite: LinkSuite::Ccm64, key: KEY, key_index: 1 });
        let mac = MacConfig { address: NODE, pan_id: PAN_ID, csma, ack: false, security };
        let config = Config { mac, uplink: Uplink::NextHop(BRIDGE) };
        let at = Symbols::new(0);
        let mut bridged = Self {
            bridge: Lockstep::start(image, &device).unwrap_or_else(|error| panic!("{error}")),
            entropy: Random::new(9),
            storage: [0xff; 64],
            command: Command::None,
            frame: Vec::new(),
            timers: [None; 2],
            node: Interface::new(),
            rig: Rig::seeded(7),
            host: Decoder::new(),
            arrived: Vec::new(),
            at,
        };
        bridged.node.start(&mut bridged.rig.at(instant(at)), &config);
        bridged.run(DeviceEvent::Start, &[]);
        bridged
    }

    /// The border router's next task.
    fn run(&mut self, event: DeviceEvent, bytes: &[u8]) {
        let Self { bridge, entropy, storage, host, arrived, at, .. } = self;
        let task = Task { event, now: instant(*at), at: *at, frame: bytes, sensors: [0; 3] };
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

    /// Lets everything happen that is under way: one sends at a time, and what it sends arrives.
    fn settle(&mut self) {
        let begun = self.at;
        while instant(self.at).since(instant(begun)).millis() < QUIET {
            match self.command {
                Command::Cca => {
                    self.at = self.at.after(8);
                    self.run(DeviceEvent::CcaClear, &[]);
                    continue;
                }
                Command::Transmit => {
                    let mut frame = core::mem::take(&mut self.frame);
                    self.at = self.at.after((6 + frame.len() as u32) * 2);
                    self.run(DeviceEvent::Transmitted, &[]);
                    let (cx, at) = (&mut self.rig.at(instant(self.at)), self.at);
                    if let Some(Arrival::Datagram(datagram)) = self.node.handle_frame(cx, at, &mut frame) {
                        self.node.echo(cx, at, datagram);
                    }
                    continue;
                }
                _ => {}
            }
            let (cx, at) = (&mut self.rig.at(instant(self.at)), self.at);
            if let Some(RadioCommand::Send { .. }) = self.node.poll_radio_due() {
                let frame = self.node.transmit_frame().to_vec();
                self.at = at.after((6 + frame.len() as u32) * 2);
                self.node.handle_transmitted(cx, self.at);
                self.run(DeviceEvent::Frame, &frame);
                continue;
            }
            let timers = [(self.timers[0], DeviceEvent::RadioTimer), (self.timers[1], DeviceEvent::Timer)];
            let due = |timer: &Option<Symbols>| timer.is_some_and(|due| self.at.has_reached(due));
            if let Some((_, event)) = timers.into_iter().find(|(timer, _)| due(timer)) {
                self.run(event, &[]);
            } else if due(&self.node.poll_radio_timeout()) {
                self.node.handle_radio_timeout(cx, at);
            } else if due(&self.node.poll_timeout().map(symbols)) {
                self.node.handle_timeout(cx, at);
            } else {
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
                self.settle();
            }
        }
        self.settle();
        core::mem::take(&mut self.arrived)
    }

    /// The stack's peak.
    pub(crate) fn stack_peak(&mut self) -> u32 {
        self.bridge.stack_peak().unwrap_or_else(|error| panic!("{error}"))
    }
}

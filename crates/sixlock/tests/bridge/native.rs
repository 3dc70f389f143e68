//! The bridge's own code, run on the host.

use sixlock_base::{Eui64, LinkSuite, NvSlot};
use sixlock_bridge::{
    Bridge, Config, Csma, Datagrams, Link, LinkSecurity, MacConfig, RadioCommand, RadioMachine, Route,
    Routes, Stack, Uplink,
};
use sixlock_crypto::Soft;
use sixlock_node::Format;
use sixlock_node::ipsec::Contexts;
use sixlock_slip::Encoder;
use sixlock_testing::{Ranges, Rig};

use super::{Board, Input, Moment, Output};

type Layers = Stack<Link<true, 8, 4>, Datagrams<1280, 8>, Routes<[Route; 8]>, (), Contexts<8>>;

/// A bridge with this key of links, if they are secured, and these nodes beside it.
pub(crate) struct Native {
    bridge: Box<Bridge<Soft, Layers>>,
    rig: Rig,
}

impl Native {
    /// Its frame counter, which a board keeps in flash, goes on at `frame_counter`. `spi` is the security parameters index that
    /// packets with AH and ESP do not carry on the air, if their headers are compressed.
    pub(crate) fn new(key: Option<[u8; 16]>, nodes: u32, spi: Option<u32>, frame_counter: u32) -> Self {
        let nv = Ranges::starting_at(NvSlot::LinkFrameCounter, frame_counter);
        let mut rig = Rig { nv, ..Rig::seeded(3) };
        let security = key.map(|key| LinkSecurity { suite: LinkSuite::Ccm64, key, key_index: 1 });
        let address = Eui64::of_node(0);
        let mac = MacConfig { address, pan_id: 0xabcd, csma: Csma::NONE, ack: false, security };
        let mut bridge: Box<Bridge<Soft, Layers>> = Box::new(Bridge::new());
        bridge.start(&mut rig.cx(), &Config { mac, uplink: Uplink::External });
        if let Some(spi) = spi {
            bridge.interface().compression().start(Format::default(), spi);
        }
        for node in (1..=nodes).map(Eui64::of_node) {
            bridge.interface().routing().add(node, node).unwrap();
        }
        Self { bridge, rig }
    }
}

impl Board for Native {
    fn step(&mut self, time: Moment, input: Option<Input<'_>>, output: &mut Output) {
        let Self { bridge, rig } = self;
        let (mut cx, at) = (rig.at(time.now), time.at);
        let line = |bytes: Encoder<'_>| output.line.extend(bytes);
        match input {
            Some(Input::Frame(frame)) => bridge.handle_frame(&mut cx, at, frame, line),
            Some(Input::Line(bytes)) => bridge.handle_line(&mut cx, at, bytes, line),
            None => {}
        }
        if bridge.poll_radio_timeout().is_some_and(|due| at.has_reached(due)) {
            bridge.handle_radio_timeout(&mut cx, at);
        }
        if bridge.poll_timeout().is_some_and(|due| time.now.has_reached(due)) {
            bridge.handle_timeout(&mut cx, at);
        }
        while let Some(command) = bridge.poll_radio_due() {
            match command {
                RadioCommand::Send { .. } => {
                    output.frames.push(bridge.transmit_frame().to_vec());
                    bridge.handle_transmitted(&mut cx, at);
                }
                RadioCommand::Assess { .. } => bridge.handle_cca(&mut cx, at, true),
                RadioCommand::Listen { .. } | RadioCommand::Off { .. } => {}
            }
        }
    }
}

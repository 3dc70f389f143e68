//! The bridge's own code, run on the host.

use sixlock_base::{Eui64, LinkSuite, MESH_PREFIX, NvSlot};
use sixlock_bridge::{
    Bridge, Config, Csma, Datagrams, Link, LinkSecurity, MacConfig, RadioCommand, RadioMachine, Route,
    Routes, Stack, Uplink,
};
use sixlock_crypto::Soft;
use sixlock_node::ipsec::Contexts;
use sixlock_node::rpl::RplRoot;
use sixlock_node::{Format, Routing};
use sixlock_rpl::objective::Mrhof;
use sixlock_rpl::{Member, Settings, SourceRoutes};
use sixlock_slip::Encoder;
use sixlock_testing::{Ranges, Rig};

use super::{Board, Input, Moment, Output};

type Layers<R> = Stack<Link<true, 8, 4>, Datagrams<1280, 8>, R, (), Contexts<8>>;
/// Nodes are listed.
pub(crate) type Listed = Routes<[Route; 8]>;
/// The bridge is the root of a DODAG.
pub(crate) type Root = RplRoot<SourceRoutes<[Member; 8]>>;

/// A bridge that finds ways as `R` does.
pub(crate) struct Native<R: Routing> {
    bridge: Box<Bridge<Soft, Layers<R>>>,
    rig: Rig,
}

impl Native<Listed> {
    /// One with this key of links, if they are secured, and these nodes beside it.
    pub(crate) fn new(key: Option<[u8; 16]>, nodes: u32, spi: Option<u32>, frame_counter: u32) -> Self {
        let mut native = Self::begun(key, spi, frame_counter);
        for node in (1..=nodes).map(Eui64::of_node) {
            native.bridge.interface().routing().add(node, node).unwrap();
        }
        native
    }
}

impl Native<Root> {
    /// The same whose nodes speak RPL.
    pub(crate) fn root(key: Option<[u8; 16]>, spi: Option<u32>) -> Self {
        let mut native = Self::begun(key, spi, 0);
        let Self { bridge, rig } = &mut native;
        let root = &mut bridge.interface().routing().0;
        root.start(&mut rig.cx(), Eui64::of_node(0), &Settings::usual::<Mrhof>(MESH_PREFIX)).unwrap();
        native
    }
}

impl<R: Routing> Native<R> {
    /// Its frame counter, which a board keeps in flash, goes on at `frame_counter`. `spi` is the security parameters index that
    /// packets with AH and ESP do not carry on the air, if their headers are compressed.
    fn begun(key: Option<[u8; 16]>, spi: Option<u32>, frame_counter: u32) -> Self {
        let nv = Ranges::starting_at(NvSlot::LinkFrameCounter, frame_counter);
        let mut rig = Rig { nv, ..Rig::seeded(3) };
        let security = key.map(|key| LinkSecurity { suite: LinkSuite::Ccm64, key, key_index: 1 });
        let address = Eui64::of_node(0);
        let mac = MacConfig { address, pan_id: 0xabcd, csma: Csma::NONE, ack: false, security };
        let mut bridge: Box<Bridge<Soft, Layers<R>>> = Box::new(Bridge::new());
        bridge.start(&mut rig.cx(), &Config { mac, uplink: Uplink::External });
        if let Some(spi) = spi {
            bridge.interface().compression().start(Format::default(), spi);
        }
        Self { bridge, rig }
    }
}

impl<R: Routing> Board for Native<R> {
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

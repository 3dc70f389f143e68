//! Payloads compressed between two hosts, as the types of their interfaces say.

use std::net::Ipv6Addr;

use sixlock_base::{Counter, Eui64, MESH_PREFIX, Packet, Symbols};
use sixlock_crypto::Soft;
use sixlock_interface::{
    Arrival, Config, Csma, Datagrams, Ghc, Interface, Link, Lithe, MacConfig, Payloads, RadioCommand, Route,
    Routes, Stack, Uplink,
};
use sixlock_testing::Rig;

/// A record of DTLS.
const RECORD: &[u8] =
    b"\x17\xfe\xfd\x00\x01\x00\x00\x00\x00\x00\x05\x00\x18\x00\x01\x00\x00\x00\x00\x00\x05sealed+8 of code";

fn address(id: u32) -> Ipv6Addr {
    Eui64::of_node(id).with_prefix(MESH_PREFIX)
}

/// An interface whose link compresses payloads as `P` says.
type LayersOf<P> = Stack<Link<false, 4, 2>, Datagrams<1280, 4>, Routes<[Route; 4]>, (), P>;

struct Host<P: Payloads> {
    interface: Box<Interface<Soft, LayersOf<P>>>,
    rig: Rig,
}

impl<P: Payloads> Host<P> {
    fn new(id: u32, neighbour: u32) -> Self {
        let mut host = Self { interface: Box::new(Interface::new()), rig: Rig::without_ranges(0) };
        let csma = Csma { min_be: 0, max_be: 3, max_backoffs: 4, max_retries: 3 };
        let mac = MacConfig { address: Eui64::of_node(id), pan_id: 1, csma, ack: false, security: None };
        let uplink = Uplink::NextHop(Eui64::of_node(neighbour));
        host.interface.start(&mut host.rig.cx(), &Config { mac, uplink });
        host
    }

    /// The frame that carries a record to host `to`.
    fn send(&mut self, to: u32) -> Vec<u8> {
        let mut packet = Packet::<[u8; 1280]>::new();
        packet.reset(self.interface.front());
        packet.extend(RECORD).unwrap();
        self.interface
            .send(&mut self.rig.cx(), Symbols::new(0), &mut packet, 5684, address(to), 5684)
            .unwrap();
        for now in 0..1000 {
            let at = Symbols::new(now);
            self.interface.handle_radio_timeout(&mut self.rig.cx(), at);
            if let Some(RadioCommand::Send { .. }) = self.interface.poll_radio_due() {
                return self.interface.transmit_frame().to_vec();
            }
        }
        panic!("no frame is sent");
    }

    /// What the frame carries, if it is understood.
    fn receive(&mut self, mut frame: Vec<u8>) -> Option<Vec<u8>> {
        match self.interface.handle_frame(&mut self.rig.cx(), Symbols::new(0), &mut frame)? {
            Arrival::Datagram(delivered) => {
                let payload = self.interface.datagram(&delivered).payload.to_vec();
                self.interface.release(delivered);
                Some(payload)
            }
            Arrival::External(_) => None,
        }
    }
}

/// The length of the frame that carries a record between two hosts of this kind.
fn carried<P: Payloads>() -> usize {
    let frame = Host::<P>::new(1, 2).send(2);
    let length = frame.len();
    assert_eq!(Host::<P>::new(2, 1).receive(frame).as_deref(), Some(RECORD));
    length
}

#[test]
fn the_type_says_what_a_link_compresses() {
    let plain = carried::<()>();
    assert_eq!([plain - carried::<Lithe>(), plain - carried::<Ghc>()], [16, 13]);
}

#[test]
fn who_does_not_compress_refuses_what_is() {
    let mut receiver = Host::<()>::new(2, 1);
    assert_eq!(receiver.receive(Host::<Lithe>::new(1, 2).send(2)), None);
    assert_eq!(receiver.rig.count(Counter::LowpanMalformed), 1);
    // What is no record goes as it is.
    let plain = Host::<()>::new(1, 2).send(2);
    assert_eq!(Host::<Ghc>::new(2, 1).receive(plain).as_deref(), Some(RECORD));
}

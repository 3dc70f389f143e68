//! RPL at a router that stores routes, at one that does not, and at both kinds of roots.

use core::net::Ipv6Addr;

use sixlock_base::{Eui64, LINK_LOCAL_PREFIX, MESH_PREFIX};
use sixlock_ipv6::nd::RegisteredAddress;
use sixlock_ipv6::rpl::{ALL_RPL_NODES, ICMPV6_TYPE, ModeOfOperation};
use sixlock_ipv6::{Header, checksum, next_header};
use sixlock_rpl::objective::{Mrhof, ObjectiveFunction, Of0};
use sixlock_rpl::{
    Advertiser, ExternalHost, Externals, Knowledge, Member, Neighbour, Node, Profile, Root, Route, Settings,
    SourceRoutes, Storing, StoringRoot,
};
use sixlock_testing::{Rig, packets};

use crate::{join, split};

/// The machine that is attacked.
const OWN: u32 = 1;
/// The neighbour that is heard and hears, before an input comes.
const PARENT: u32 = 2;
/// The longest packet of a machine.
const PACKET: usize = 200;
/// Room for what is put around a packet.
const ROOM: usize = 400;

enum StoringRouter {}

impl Profile for StoringRouter {
    type Neighbours = [Neighbour; 4];
    type Objective = Mrhof;
    type Advertising = Advertiser;
    type Downward = Storing<[Route; 4]>;
    type Prefix = ();
    type External = Externals<[ExternalHost; 2]>;
}

enum Router {}

impl Profile for Router {
    type Neighbours = [Neighbour; 4];
    type Objective = Of0;
    type Advertising = Advertiser;
    type Downward = ();
    type Prefix = ();
    type External = Externals<[ExternalHost; 2]>;
}

fn link_local(id: u32) -> Ipv6Addr {
    Eui64::of_node(id).with_prefix(LINK_LOCAL_PREFIX)
}

fn global(id: u32) -> Ipv6Addr {
    Eui64::of_node(id).with_prefix(MESH_PREFIX)
}

/// The control message whose code and body are `bytes`, with the checksum that chance would hardly find.
fn message(source: Ipv6Addr, destination: Ipv6Addr, bytes: &[u8]) -> Vec<u8> {
    let (code, body) = bytes.split_first().unwrap_or((&0, &[]));
    let mut message = [&[ICMPV6_TYPE, *code, 0, 0], body].concat();
    let sum = checksum(source, destination, next_header::ICMPV6, &message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    message
}

/// What an item of an input is, by its first byte: what happens, and with which neighbour.
struct Item<'a> {
    what: u8,
    neighbour: u32,
    bytes: &'a [u8],
}

impl<'a> Item<'a> {
    fn new(bytes: &'a [u8]) -> Option<Self> {
        let (&choice, bytes) = bytes.split_first()?;
        Some(Self { what: choice & 7, neighbour: PARENT + u32::from(choice >> 3), bytes })
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// The addresses of a control message.
    fn addresses(&self) -> (Ipv6Addr, Ipv6Addr) {
        match self.what {
            0 => (link_local(self.neighbour), ALL_RPL_NODES),
            1 => (link_local(self.neighbour), link_local(OWN)),
            _ => (global(self.neighbour), global(OWN)),
        }
    }
}

/// Control messages, data packets, outcomes and time, at a machine that the first byte chooses.
pub(crate) fn messages(input: &[u8]) -> usize {
    let Some((&choice, items)) = input.split_first() else { return 0 };
    match choice & 3 {
        0 => node::<StoringRouter>(ModeOfOperation::STORING, items),
        1 => node::<Router>(ModeOfOperation::NON_STORING, items),
        2 => root::<StoringRoot<[Route; 4], [Member; 4]>>(items),
        _ => root::<SourceRoutes<[Member; 4]>>(items),
    }
}

/// What a machine sends is a whole packet that its neighbours can read.
fn check_sent(packet: &[u8]) {
    let (header, payload) = Header::parse(packet).expect("a packet");
    assert_eq!((header.next_header, payload.len()), (next_header::ICMPV6, packet.len() - Header::LEN));
    sixlock_ipv6::rpl::Message::parse(header.source, header.destination, payload).expect("a message");
}

fn node<P: Profile>(mode: ModeOfOperation, items: &[u8]) -> usize {
    let mut rig = Rig::near_wrap(5);
    let mut node = Node::<P>::new();
    node.start(&mut rig.cx(), Eui64::of_node(OWN), 0).expect("a sequence");
    let (source, destination) = (link_local(PARENT), ALL_RPL_NODES);
    let dio = dio::<P::Objective>(mode);
    let heard = node.handle(&mut rig.cx(), source, destination, &message(source, destination, &dio));
    assert_eq!(heard, Ok(()));
    node.handle_outcome(&mut rig.cx(), Eui64::of_node(PARENT), true, 1);
    assert_eq!(node.parent(), Some(Eui64::of_node(PARENT)));
    let mut taken = 0;
    for item in split(items).filter_map(Item::new) {
        let neighbour = Eui64::of_node(item.neighbour);
        match item.what {
            0..=2 => {
                let (source, destination) = item.addresses();
                let message = message(source, destination, item.bytes);
                taken += usize::from(node.handle(&mut rig.cx(), source, destination, &message).is_ok());
            }
            3 => {
                let mut packet = item.bytes.to_vec();
                let sent = node.forward(&mut rig.cx(), neighbour, &mut packet);
                assert_eq!(packet.len(), item.bytes.len());
                assert_ne!(sent, Ok(Eui64::of_node(OWN)));
                taken += usize::from(sent.is_ok());
            }
            4 => {
                let mut packet = [item.bytes, &[0; ROOM]].concat();
                let length = node.originate(&mut packet, item.bytes.len());
                assert!(
                    length.is_err()
                        || length.is_ok_and(|length| (item.bytes.len()..=packet.len()).contains(&length))
                );
                taken += usize::from(length.is_ok());
            }
            5 => node.handle_outcome(&mut rig.cx(), neighbour, item.byte(0) & 1 != 0, item.byte(1)),
            7 => {
                let registered = item.bytes.as_chunks().0.iter().map(|&[id, transaction, lifetime]| {
                    let (address, lifetime) = (global(id.into()), lifetime.into());
                    RegisteredAddress { address, transaction, lifetime }
                });
                node.take_registered(&mut rig.cx(), registered);
                assert!(node.external_count() <= 2);
                let ports = sixlock_ipv6::udp::Header { source_port: 1, destination_port: 2 };
                let packet = packets::udp(global(item.byte(0).into()), global(0), 64, ports, item.bytes);
                let mut buffer = [&packet[..], &[0; ROOM]].concat();
                // An error if the node has lost its way.
                let length = node.encapsulate(&mut buffer, packet.len()).unwrap_or(packet.len());
                assert!(buffer[..length].ends_with(&packet));
            }
            _ => rig.pass(u32::from(item.byte(0)) << (item.byte(1) % 16)),
        }
        node.handle_timeout(&mut rig.cx());
        let mut out = [0; PACKET];
        for _ in 0..100 {
            let Some(length) = node.poll_transmit(&mut rig.cx(), &mut out) else { break };
            check_sent(&out[..length]);
        }
        assert!(!node.has_output(), "it comes to an end");
        assert_ne!(node.parent(), Some(Eui64::of_node(OWN)));
    }
    taken
}

fn root<K: Knowledge>(items: &[u8]) -> usize {
    let mut rig = Rig::near_wrap(6);
    let mut root = Root::<K>::new();
    let settings = Settings::usual::<Mrhof>(MESH_PREFIX);
    root.start(&mut rig.cx(), Eui64::of_node(OWN), &settings).expect("a version");
    let version = root.version();
    let mut taken = 0;
    for item in split(items).filter_map(Item::new) {
        let neighbour = Eui64::of_node(item.neighbour);
        match item.what {
            0..=2 => {
                let (source, destination) = item.addresses();
                let message = message(source, destination, item.bytes);
                taken += usize::from(root.handle(&mut rig.cx(), source, destination, &message).is_ok());
            }
            3 => {
                let mut packet = item.bytes.to_vec();
                taken += usize::from(root.forward(&mut rig.cx(), neighbour, &mut packet).is_ok());
            }
            4 => {
                let mut packet = [item.bytes, &[0; ROOM]].concat();
                if let Ok(length) = root.encapsulate(&mut packet, item.bytes.len()) {
                    assert!((item.bytes.len()..=packet.len()).contains(&length));
                    taken += 1;
                }
            }
            5 => root.handle_outcome(&mut rig.cx(), neighbour, item.byte(0) & 1 != 0, item.byte(1)),
            _ => rig.pass(u32::from(item.byte(0)) << (item.byte(1) % 16)),
        }
        root.handle_timeout(&mut rig.cx());
        let mut out = [0; PACKET];
        while let Some(length) = root.poll_transmit(&mut out) {
            check_sent(&out[..length]);
        }
        assert!(root.node_count() <= 4 && root.version() == version, "nothing makes a new version");
    }
    taken
}

/// The code and body of the control message in a packet.
fn body(packet: &[u8]) -> Vec<u8> {
    [&packet[41..42], &packet[44..]].concat()
}

/// The first DIO of a root, as if its mode were this.
fn dio<O: ObjectiveFunction>(mode: ModeOfOperation) -> Vec<u8> {
    fn first<K: Knowledge>(settings: &Settings) -> Vec<u8> {
        let (mut root, mut rig) = (Root::<K>::new(), Rig::seeded(1));
        root.start(&mut rig.cx(), Eui64::of_node(0), settings).expect("a version");
        rig.now = root.poll_timeout().expect("Trickle");
        root.handle_timeout(&mut rig.cx());
        let mut out = [0; PACKET];
        let length = root.poll_transmit(&mut out).expect("a DIO");
        body(&out[..length])
    }
    let settings = Settings::usual::<O>(MESH_PREFIX);
    match mode {
        ModeOfOperation::STORING => first::<StoringRoot<[Route; 1], [Member; 1]>>(&settings),
        _ => first::<SourceRoutes<[Member; 1]>>(&settings),
    }
}

/// All that a router says in its first minutes.
fn said<P: Profile>(mode: ModeOfOperation, id: u32) -> Vec<Vec<u8>> {
    let (mut node, mut rig) = (Node::<P>::new(), Rig::seeded(id));
    node.start(&mut rig.cx(), Eui64::of_node(id), 0).expect("a sequence");
    let (source, destination) = (link_local(OWN), ALL_RPL_NODES);
    let mut said = Vec::new();
    for _ in 0..40 {
        let dio = message(source, destination, &dio::<P::Objective>(mode));
        node.handle(&mut rig.cx(), source, destination, &dio).expect("a DIO");
        node.handle_outcome(&mut rig.cx(), Eui64::of_node(OWN), true, 1);
        rig.pass(1_000);
        node.handle_timeout(&mut rig.cx());
        let mut out = [0; PACKET];
        while let Some(length) = node.poll_transmit(&mut rig.cx(), &mut out) {
            said.push(body(&out[..length]));
        }
    }
    said
}

/// Inputs for [`messages`]: what other machines say, and what passes through this one.
pub(crate) fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let item = |what: u8, neighbour: u32, bytes: &[u8]| {
        [&[what | ((neighbour - PARENT) as u8) << 3], bytes].concat()
    };
    let input =
        |choice: u8, items: &[Vec<u8>]| [vec![choice], join(items.iter().map(|item| &item[..]))].concat();
    let stored: Vec<_> = said::<StoringRouter>(ModeOfOperation::STORING, 7);
    let told: Vec<_> = said::<Router>(ModeOfOperation::NON_STORING, 7);
    let from_neighbour =
        |what, all: &[Vec<u8>]| -> Vec<Vec<u8>> { all.iter().map(|bytes| item(what, 7, bytes)).collect() };
    let ports = sixlock_ipv6::udp::Header { source_port: 1, destination_port: 2 };
    let packet = packets::udp(global(7), global(0), 64, ports, b"reading");
    let hosts = item(7, 7, &[20, 240, 60, 21, 250, 1]);
    let passing = [item(4, 7, &packet), item(3, 7, &packet), item(5, 7, &[0, 4]), item(6, 7, &[200, 9])];
    vec![
        ("storing-router", input(0, &[from_neighbour(1, &stored), passing.to_vec()].concat())),
        ("router", input(1, &[from_neighbour(0, &told), passing.to_vec()].concat())),
        ("hosts", input(1, &[hosts.clone(), item(6, 7, &[200, 9]), hosts])),
        ("storing-root", input(2, &[from_neighbour(1, &stored), passing.to_vec()].concat())),
        ("root", input(3, &[from_neighbour(2, &told), passing.to_vec()].concat())),
    ]
}

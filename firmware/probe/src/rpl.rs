//! RPL: a router that stores routes, a leaf that does not, and a root.

use sixlock_base::{Cx, Entropy, Eui64, Instant, MESH_PREFIX, Nv};
use sixlock_ipv6::nd::RegisteredAddress;
use sixlock_rpl::objective::{Mrhof, Of0};
use sixlock_rpl::{
    Advertiser, ExternalHost, Externals, Member, Neighbour, Node, Profile, Root as AnyRoot, Route, Settings,
    SourceRoutes, Storing,
};

use crate::io;
use crate::sizes::{MESSAGE, NEIGHBOURS, ROUTES};

pub enum Router {}

impl Profile for Router {
    type Neighbours = [Neighbour; NEIGHBOURS];
    type Objective = Mrhof;
    type Advertising = Advertiser;
    type Downward = Storing<[Route; ROUTES]>;
    type Prefix = ();
    type External = Externals<[ExternalHost; ROUTES]>;
}

pub enum Leaf {}

impl Profile for Leaf {
    type Neighbours = [Neighbour; 2];
    type Objective = Of0;
    type Advertising = ();
    type Downward = ();
    type Prefix = ();
    type External = ();
}

pub struct Rpl {
    router: Node<Router>,
    leaf: Node<Leaf>,
}

pub type Root = AnyRoot<SourceRoutes<[Member; ROUTES]>>;

pub fn new<C, E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>) -> Rpl {
    let mut rpl = Rpl { router: Node::new(), leaf: Node::new() };
    let started = [
        rpl.router.start(cx, Eui64(io::bytes()), io::byte()),
        rpl.leaf.start(cx, Eui64(io::bytes()), io::byte()),
    ];
    io::write(&started.map(|started| started.is_ok().into()));
    rpl
}

pub fn new_root<C, E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>) -> Root {
    let mut root = Root::new();
    let settings =
        Settings { instance: io::byte(), preference: io::byte(), ..Settings::usual::<Mrhof>(MESH_PREFIX) };
    io::write(&[root.start(cx, Eui64(io::bytes()), &settings).is_ok().into()]);
    root
}

#[inline(never)]
pub fn probe<C, E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>, rpl: &mut Rpl) {
    match io::byte() {
        0 => probe_node(cx, &mut rpl.router),
        _ => probe_node(cx, &mut rpl.leaf),
    }
}

#[inline(never)]
fn probe_node<C, E: Entropy, N: Nv, P: Profile>(cx: &mut Cx<'_, C, E, N>, node: &mut Node<P>) {
    let mut buffer = io::bytes::<MESSAGE>();
    let length = usize::from(io::byte()).min(MESSAGE);
    let neighbour = Eui64(io::bytes());
    match io::byte() {
        0 => {
            let (source, destination) = (io::bytes::<16>().into(), io::bytes::<16>().into());
            let taken = node.handle(cx, source, destination, buffer.get(..length).unwrap_or_default());
            io::write(&[taken.map_or_else(|error| error as u8, |()| 0xff)]);
        }
        1 => {
            let sent = node.forward(cx, neighbour, buffer.get_mut(..length).unwrap_or_default());
            io::write(&sent.map_or([0; 8], |next_hop| next_hop.0));
        }
        2 => {
            let length = node.originate(&mut buffer, length).unwrap_or(0);
            io::write(buffer.get(..length).unwrap_or_default());
        }
        3 => node.handle_outcome(cx, neighbour, io::byte() != 0, io::byte()),
        4 => {
            let length = node.poll_transmit(cx, &mut buffer).unwrap_or(0);
            io::write(buffer.get(..length).unwrap_or_default());
        }
        5 => io::write(&[node.poll_event().map_or(0, |event| event as u8), node.has_output().into()]),
        6 => io::write(&node.next_hop(io::bytes::<16>().into()).map_or([0; 8], |next_hop| next_hop.0)),
        7 => {
            let (address, transaction) = (io::bytes::<16>().into(), io::byte());
            let registered = RegisteredAddress { address, transaction, lifetime: io::byte().into() };
            node.take_registered(cx, core::iter::once(registered));
        }
        8 => {
            let length = node.encapsulate(&mut buffer, length).unwrap_or(0);
            io::write(buffer.get(..length).unwrap_or_default());
        }
        _ => node.handle_timeout(cx),
    }
    write_state(node.poll_timeout(), node.rank());
}

fn write_state(due: Option<Instant>, rank: u16) {
    io::write(&due.map_or(0, Instant::millis).to_le_bytes());
    io::write(&rank.to_le_bytes());
}

#[inline(never)]
pub fn probe_root<C, E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>, root: &mut Root) {
    let mut buffer = io::bytes::<{ 2 * MESSAGE }>();
    let length = usize::from(io::byte()).min(MESSAGE);
    let neighbour = Eui64(io::bytes());
    match io::byte() {
        0 => {
            let (source, destination) = (io::bytes::<16>().into(), io::bytes::<16>().into());
            let taken = root.handle(cx, source, destination, buffer.get(..length).unwrap_or_default());
            io::write(&[taken.map_or_else(|error| error as u8, |()| 0xff)]);
        }
        1 => {
            let read = root.forward(cx, neighbour, buffer.get_mut(..length).unwrap_or_default());
            io::write(&[read.is_ok().into()]);
        }
        2 | 3 => {
            let length = root.encapsulate(&mut buffer, length).unwrap_or(0);
            io::write(buffer.get(..length).unwrap_or_default());
        }
        4 => {
            let length = root.poll_transmit(&mut buffer).unwrap_or(0);
            io::write(buffer.get(..length).unwrap_or_default());
        }
        5 => {
            let length = root.originate(&mut buffer, length).unwrap_or(0);
            io::write(buffer.get(..length).unwrap_or_default());
        }
        6 => io::write(&root.next_hop(io::bytes::<16>().into()).map_or([0; 8], |next_hop| next_hop.0)),
        7 => io::write(&[root.global_repair(cx).is_ok().into()]),
        8 => root.refresh(cx),
        9 => io::write(&[root.poll_event().map_or(0, |event| event as u8), root.has_output().into()]),
        _ => root.handle_timeout(cx),
    }
    write_state(root.poll_timeout(), root.rank());
}

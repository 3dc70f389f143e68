//! A root and a router of RPL, side by side in memory: DIOs tell the router of the root, it joins, and its DAO tells the root the way to it.
//! Prints the messages in hexadecimal digits, with their ICMPv6 header: scapy and tshark read them.
//!
//! `cargo run -p sixlock-rpl --example dodag`

use sixlock_base::{Environment, Eui64, Instant, MESH_PREFIX, VolatileCounters, entropy_from};
use sixlock_ipv6::Header;
use sixlock_rpl::objective::Mrhof;
use sixlock_rpl::{
    Advertiser, Member, Neighbour, Node, Profile, Root, Route, Settings, Storing, StoringRoot,
};

/// What the router is made of.
struct Router;

impl Profile for Router {
    type Neighbours = [Neighbour; 4];
    type Objective = Mrhof;
    type Advertising = Advertiser;
    type Downward = Storing<[Route; 4]>;
    type Prefix = ();
    type External = ();
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let entropy =
        entropy_from(|bytes: &mut [u8]| getrandom::fill(bytes).expect("the system gives random bytes"));
    let mut environment = Environment::new((), entropy, VolatileCounters::default());
    let (root_address, router_address) = (Eui64::of_node(0), Eui64::of_node(1));
    let (mut root, mut router) = (Root::<StoringRoot<[Route; 4], [Member; 4]>>::new(), Node::<Router>::new());
    let mut now = Instant::from_millis(0);
    root.start(&mut environment.cx(now), root_address, &Settings::usual::<Mrhof>(MESH_PREFIX))?;
    router.start(&mut environment.cx(now), router_address, 0)?;
    let mut out = [0; 256];
    while root.node_count() == 0 {
        now = Instant::earliest(root.poll_timeout(), router.poll_timeout()).ok_or("nothing is due")?;
        let mut cx = environment.cx(now);
        root.handle_timeout(&mut cx);
        router.handle_timeout(&mut cx);
        while root.has_output() || router.has_output() {
            if let Some(length) = root.poll_transmit(&mut out) {
                let (header, message) = show("root", now, &out[..length])?;
                router.handle(&mut cx, header.source, header.destination, message)?;
            }
            if let Some(length) = router.poll_transmit(&mut cx, &mut out) {
                let (header, message) = show("router", now, &out[..length])?;
                root.handle(&mut cx, header.source, header.destination, message)?;
                // The MAC tells what became of a frame: whether it was acknowledged, and at which attempt.
                if !header.destination.is_multicast() {
                    router.handle_outcome(&mut cx, root_address, true, 1);
                }
            }
        }
    }
    println!(
        "the root reaches {} router by {:?}",
        root.node_count(),
        root.next_hop(router_address.with_prefix(MESH_PREFIX))
    );
    Ok(())
}

/// Prints a packet, and takes it apart.
fn show<'p>(from: &str, now: Instant, packet: &'p [u8]) -> Result<(Header, &'p [u8]), sixlock_ipv6::Error> {
    let (header, message) = Header::parse(packet)?;
    let hex: String = message.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("{} ms, {from} to {}: {hex}", now.millis(), header.destination);
    Ok((header, message))
}

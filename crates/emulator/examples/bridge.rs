//! Runs the image of a border router, has it pass packets to a node and back, and prints how many bytes of stack it has
//! used. With `rpl`, it is the root, and the node is the last of three that have joined.
//!
//! Usage: bridge IMAGE [secured] [rpl]

#[path = "../tests/bridging/mod.rs"]
mod bridging;

use std::net::Ipv6Addr;
use std::path::Path;

use bridging::{Bridged, HOST, bridge, node};
use sixlock_interface::Routing;
use sixlock_ipv6::icmpv6::{Echo, Message};
use sixlock_testing::packets::icmpv6;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let peak = match words[..] {
        [image] => by_routes(image, false),
        [image, "secured"] => by_routes(image, true),
        [image, "rpl"] => by_rpl(image, false),
        [image, "secured", "rpl"] => by_rpl(image, true),
        _ => {
            eprintln!("usage: bridge IMAGE [secured] [rpl]");
            std::process::exit(2);
        }
    };
    println!("{peak}");
}

fn by_routes(image: &str, secured: bool) -> u32 {
    exchange(Bridged::new(Path::new(image), secured), node(1), 1232)
}

fn by_rpl(image: &str, secured: bool) -> u32 {
    let mut bridged = Bridged::root(Path::new(image), secured, 3);
    // Until they have joined.
    bridged.pass(60_000);
    exchange(bridged, node(3), 1100)
}

/// Has a border router answer, and pass to `node` and back, packets of up to so many bytes; its stack's peak then.
fn exchange<R: Routing>(mut bridged: Bridged<R>, node: Ipv6Addr, longest: usize) -> u32 {
    let echo = Echo { identifier: 1, sequence: 1 };
    for there in [bridge(), node] {
        for len in [0, longest] {
            let answers =
                bridged.send(&icmpv6(HOST, there, 64, Message::EchoRequest(echo), &vec![0xc0; len]));
            assert_eq!(answers.len(), 1, "a ping of {len} bytes to {there} is answered");
        }
    }
    bridged.stack_peak()
}

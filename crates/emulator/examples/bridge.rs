//! Runs the image of a border router, has it pass packets to a node and back, and prints how many bytes of stack it has
//! used.
//!
//! Usage: bridge IMAGE [secured]

#[path = "../tests/bridging/mod.rs"]
mod bridging;

use std::path::Path;

use bridging::{Bridged, HOST, bridge, icmpv6, node};
use sixlock_ipv6::icmpv6::{Echo, Message};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (image, secured) = match &arguments[..] {
        [image] => (image, false),
        [image, secured] if secured == "secured" => (image, true),
        _ => {
            eprintln!("usage: bridge IMAGE [secured]");
            std::process::exit(2);
        }
    };
    let mut bridged = Bridged::new(Path::new(image), secured);
    let echo = Echo { identifier: 1, sequence: 1 };
    for there in [bridge(), node()] {
        for len in [0, 1232] {
            let answers =
                bridged.send(&icmpv6(HOST, there, 64, Message::EchoRequest(echo), &vec![0xc0; len]));
            assert_eq!(answers.len(), 1, "a ping of {len} bytes to {there} is answered");
        }
    }
    println!("{}", bridged.stack_peak());
}

//! The kernel as a host on the Internet, and nodes behind a security gateway: what is between each of them and the gateway
//! is chosen for itself.

use std::collections::BTreeMap;

use sixlock_base::{Counter, NetworkSuite, Security};
use sixlock_ipv6::next_header;
use sixlock_sim::{
    FarEnd, InternetHost, InternetSide, NodesSide, Options, Prefix, Scenario, SecurityGateway, Simulation,
};

use crate::network::{NODE, Path, altered, gateway, node};
use crate::peer::{Kernel, RUN, outside};
use sixlock_testing::ipsec::{datagram, keys, packet};

/// A chain behind a gateway that has a tunnel with the kernel, of the mode `internet`, and tunnels with nodes.
fn network(internet: Option<&str>, tunnels: bool, security: &str) -> Simulation {
    let text = format!(
        "security = \"{security}\"\n[topology]\nkind = \"chain\"\nnodes = {NODE}\n[traffic]\nperiod = \"3600s\""
    );
    let scenario = Scenario::parse("chain", &text).unwrap();
    let internet = internet.map(|mode| InternetSide { address: gateway(), hosts: vec![host(mode)] });
    let gateway =
        SecurityGateway { internet, nodes: NodesSide { tunnels, enforce: tunnels, ..NodesSide::default() } };
    let options = Options {
        far_end: FarEnd::Outside,
        packets: true,
        security_gateway: Some(gateway),
        ..Options::default()
    };
    Simulation::new(&scenario, options).unwrap()
}

/// The kernel, as the gateway is told of it.
fn host(mode: &str) -> InternetHost {
    InternetHost {
        address: outside(),
        network: Prefix::one(outside()),
        suite: suite(mode),
        spi: 0x1000,
        from_gateway: keys(mode, 1),
        from_host: keys(mode, 2),
    }
}

fn suite(mode: &str) -> NetworkSuite {
    mode.parse::<Security>().unwrap().network.unwrap()
}

/// What is on the Internet's side, whether there are tunnels to nodes, and the security mode in the mesh.
const COMBINATIONS: [(Option<&str>, bool, &str); 4] = [
    (None, false, "llsec"),
    (None, true, "esp:ctr-xcbc"),
    (Some("esp:gcm"), false, "llsec"),
    (Some("esp:cbc-hmac-sha256"), true, "llsec+ah:xcbc"),
];

#[test]
fn a_security_gateway_stands_between_the_kernel_and_nodes_with_any_protection_on_either_side() {
    let kernel = Kernel::boot("");
    let mut expected = BTreeMap::new();
    for (internet, tunnels, security) in COMBINATIONS {
        let mut path = Path::to(&kernel, network(internet, tunnels, security));
        for length in [1, 100, 1100] {
            let payload = vec![length as u8; length];
            assert!(path.echo(&payload) == payload, "{internet:?}, {security}, {length} bytes");
            let said = path.ask(RUN, format!("/bin/ping -c 1 -s {length} {}", node()).as_bytes());
            let said = String::from_utf8_lossy(&said);
            assert!(said.contains(" 0% packet loss"), "{internet:?}, {security}, {length} bytes: {said}");
        }
        let protocol = |mode: &str| if mode.starts_with("ah") { next_header::AH } else { next_header::ESP };
        let outer = internet.map_or(next_header::ICMPV6, protocol);
        assert_eq!(path.to_network.last().unwrap()[6], outer, "{internet:?}");
        assert_eq!(path.to_kernel.last().unwrap()[6], outer, "{internet:?}");
        let Some(_) = internet else { continue };

        let (question, answer) = (path.to_network.pop().unwrap(), path.to_kernel.pop().unwrap());
        let clear = |source, destination| {
            let datagram = datagram(source, destination, b"in the clear");
            packet(source, destination, next_header::UDP, &[], &datagram)
        };
        for refused in [&question, &altered(&question), &clear(outside(), node())] {
            path.network.handle_packet(refused);
        }
        let counters = path.network.counters(0).unwrap();
        let counts = [Counter::IpsecReplayed, Counter::IpsecBadIcv, Counter::IpsecPolicyViolated];
        assert_eq!(counts.map(|counter| counters.get(counter)), [1; 3], "{internet:?}");
        for (refused, why) in [
            (&answer, "XfrmInStateSeqError"),
            (&altered(&answer), "XfrmInStateProtoError"),
            (&clear(node(), outside()), "XfrmInTmplMismatch"),
        ] {
            kernel.send(refused);
            *expected.entry(why.to_owned()).or_insert(0) += 1;
        }
        assert_eq!(path.echo(b"again"), b"again");
    }
    assert_eq!(kernel.counts(), expected);
}

//! The nodes' side of a security gateway: who has a tunnel, who has not, and what becomes of the others' packets.

use std::net::Ipv6Addr;

use sixlock_base::{Counter, Eui64, MESH_PREFIX};
use sixlock_ipv6::icmpv6::{Echo, Message};
use sixlock_ipv6::next_header;
use sixlock_sim::{
    Destination, EmulatedNode, NodesSide, Options, Platform, Scenario, ScenarioBuilder, Simulation, Span,
};
use sixlock_testing::packets::{icmpv6, packet};

const HOST: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 1);
/// Ample for any packet to all of a chain and back.
const WAIT: Span = Span::from_secs(8);

fn address(id: u32) -> Ipv6Addr {
    Eui64::of_node(id).with_prefix(MESH_PREFIX)
}

/// A chain of three nodes that report to the cloud, behind this gateway.
fn chain(security: &str, gateway: NodesSide) -> Simulation {
    chain_to(Destination::Cloud, security, gateway)
}

/// The same with another destination of the reports.
fn chain_to(to: Destination, security: &str, gateway: NodesSide) -> Simulation {
    let text = format!(
        "security = \"{security}\"\n[topology]\nkind = \"chain\"\nnodes = 3\n[traffic]\nperiod = \"20s\""
    );
    let builder = ScenarioBuilder::parse("chain", &text).unwrap();
    let scenario = builder.destination(to).gateway(gateway).build().unwrap();
    let options = Options { packets: true, ..Options::default() };
    Simulation::new(&scenario, options).unwrap()
}

/// Tunnels to all nodes but the first.
fn tunnels(enforce: bool) -> NodesSide {
    NodesSide { tunnels: true, link_only: vec![1], enforce }
}

/// Whether something comes out after `packet` went in.
fn is_answered(simulation: &mut Simulation, packet: &[u8]) -> bool {
    simulation.handle_packet(packet);
    simulation.step_until(simulation.now() + WAIT);
    std::iter::from_fn(|| simulation.poll_packet()).count() > 0
}

fn ping(destination: Ipv6Addr) -> Vec<u8> {
    let echo = Echo { identifier: 1, sequence: 2 };
    icmpv6(HOST, destination, 64, Message::EchoRequest(echo), b"who is there")
}

fn count(simulation: &Simulation, id: u32, counter: Counter) -> u32 {
    simulation.counters(id).unwrap().get(counter)
}

#[test]
fn nodes_with_and_without_a_tunnel_are_reached_and_report() {
    let mut simulation = chain("llsec+esp", tunnels(false));
    for id in 0..=3 {
        assert!(is_answered(&mut simulation, &ping(address(id))), "{id}");
    }
    simulation.step_until(simulation.now() + Span::from_secs(100));
    for node in &simulation.report().nodes {
        assert!(node.sent >= 5 && node.delivered == node.sent, "{node:?}");
    }
    for refused in [Counter::IpsecDiscarded, Counter::IpsecPolicyViolated, Counter::IpsecNotProtected] {
        assert_eq!((0..=3).map(|id| count(&simulation, id, refused)).sum::<u32>(), 0, "{}", refused.name());
    }
}

/// Both ways: what a host outside asks of each node and what it answers, and readings, each with and without a tunnel.
#[test]
fn nodes_are_reached_and_report_through_tunnels_where_rpl_finds_the_ways() {
    let quiet = [Counter::IpsecDiscarded, Counter::IpsecPolicyViolated, Counter::IpsecNotProtected];
    let suites = ["ah", "esp", "llsec+ah", "llsec+esp", "esp+dtls-psk", "llsec+ah+dtls-psk"];
    for (mode, security) in
        ["non-storing", "storing"].into_iter().flat_map(|mode| suites.map(|of| (mode, of)))
    {
        let text = format!(
            "security = \"{security}\"\nduration = \"1000s\"\n[routing]\nkind = \"rpl\"\nmode = \"{mode}\"\n\
            [topology]\nkind = \"chain\"\nnodes = 3\n[traffic]\nperiod = \"20s\""
        );
        let builder = ScenarioBuilder::parse("chain", &text).unwrap();
        let scenario = builder.gateway(tunnels(false)).build().unwrap();
        let options = Options { packets: true, ..Options::default() };
        let mut simulation = Simulation::new(&scenario, options).unwrap();
        simulation.step_until(simulation.now() + Span::from_secs(60));
        for id in 0..=3 {
            assert!(is_answered(&mut simulation, &ping(address(id))), "{mode} {security} {id}");
        }
        // In fragments of 6LoWPAN, with as much around it as there may be.
        let large = icmpv6(
            HOST,
            address(3),
            64,
            Message::EchoRequest(Echo { identifier: 1, sequence: 3 }),
            &[7; 900],
        );
        assert!(is_answered(&mut simulation, &large), "{mode} {security}");
        let before: Vec<_> =
            simulation.report().nodes.iter().map(|node| (node.sent, node.delivered)).collect();
        simulation.step_until(simulation.now() + Span::from_secs(200));
        for (node, (sent, delivered)) in simulation.report().nodes.iter().zip(before) {
            // One may be under way at either end.
            let (sent, delivered) = (node.sent - sent, node.delivered - delivered);
            assert!(sent >= 9 && delivered + 1 >= sent, "{mode} {security}: {node:?}");
        }
        for refused in quiet {
            let count = (0..=3).map(|id| count(&simulation, id, refused)).sum::<u32>();
            assert_eq!(count, 0, "{mode} {security} {}", refused.name());
        }
    }
}

/// Where the gateway enforces IPsec, RPL passes all the same, and a node without a tunnel is cut off, both ways.
#[test]
fn where_ipsec_is_enforced_rpl_passes_and_nodes_without_a_tunnel_are_cut_off() {
    for mode in ["non-storing", "storing"] {
        let text = format!(
            "security = \"llsec+esp\"\nduration = \"1000s\"\n[routing]\nkind = \"rpl\"\nmode = \"{mode}\"\n\
            [topology]\nkind = \"chain\"\nnodes = 3\n[traffic]\nperiod = \"20s\""
        );
        let scenario =
            ScenarioBuilder::parse("chain", &text).unwrap().gateway(tunnels(true)).build().unwrap();
        let mut simulation =
            Simulation::new(&scenario, Options { packets: true, ..Options::default() }).unwrap();
        simulation.step_until(simulation.now() + Span::from_secs(60));
        assert!(!is_answered(&mut simulation, &ping(address(1))), "{mode}");
        for id in [0, 2, 3] {
            assert!(is_answered(&mut simulation, &ping(address(id))), "{mode} {id}");
        }
        simulation.step_until(simulation.now() + Span::from_secs(100));
        let report = simulation.report();
        let delivered: Vec<_> = report.nodes.iter().map(|node| node.delivered).collect();
        assert!(delivered[0] == 0 && delivered[1] >= 5 && delivered[2] >= 5, "{mode}: {delivered:?}");
        assert!(report.nodes.iter().all(|node| node.joined_s.is_some()), "{mode}");
    }
}

#[test]
fn where_ipsec_is_enforced_packets_to_and_from_nodes_without_are_discarded_and_counted() {
    let mut simulation = chain("llsec+esp", tunnels(true));
    assert!(!is_answered(&mut simulation, &ping(address(1))));
    assert_eq!(count(&simulation, 0, Counter::IpsecDiscarded), 1);
    for id in [0, 2, 3] {
        assert!(is_answered(&mut simulation, &ping(address(id))), "{id}");
    }
    simulation.step_until(simulation.now() + Span::from_secs(100));
    let [unprotected, protected @ ..] = &simulation.report().nodes[..] else { panic!("no nodes") };
    assert!(unprotected.sent > 0 && unprotected.delivered == 0, "{unprotected:?}");
    assert!(protected.iter().all(|node| node.sent >= 5 && node.delivered == node.sent), "{protected:?}");
    // Of each reading, as often as it was repeated.
    assert!(count(&simulation, 0, Counter::IpsecPolicyViolated) >= unprotected.sent as u32);
    assert_eq!(count(&simulation, 0, Counter::IpsecDiscarded), 1);
}

#[test]
fn where_ipsec_is_enforced_what_is_protected_between_its_ends_passes() {
    let gateway = NodesSide { enforce: true, ..NodesSide::default() };
    let mut simulation = chain("esp", gateway);
    for protocol in [next_header::ESP, next_header::UDP] {
        simulation.handle_packet(&packet(HOST, address(3), 64, protocol, &[1; 64]));
        simulation.step_until(simulation.now() + WAIT);
    }
    // The node does not share an association with the host; but that is for the node to say.
    assert_eq!(count(&simulation, 3, Counter::IpsecNoAssociation), 1);
    assert_eq!(count(&simulation, 0, Counter::IpsecDiscarded), 1);
    simulation.step_until(simulation.now() + Span::from_secs(60));
    let report = simulation.report();
    assert!(report.nodes.iter().all(|node| node.sent >= 3 && node.delivered == node.sent), "{report:?}");
}

#[test]
fn nodes_with_tunnels_speak_to_each_other_through_the_gateway() {
    let gateway = NodesSide { link_only: Vec::new(), ..tunnels(true) };
    let mut simulation = chain_to(Destination::Node(3), "esp+dtls-psk", gateway);
    simulation.step_until(simulation.now() + Span::from_secs(100));
    let report = simulation.report();
    for node in &report.nodes[..2] {
        assert!(node.sent >= 4 && node.delivered + 1 >= node.sent, "{node:?}");
    }
    assert!(count(&simulation, 0, Counter::Ipv6Forwarded) > 0);
}

#[test]
fn tunnels_to_nodes_need_a_suite_and_those_without_are_nodes_that_there_are() {
    let refused = |security: &str, nodes: NodesSide| {
        let scenario =
            Scenario::builder().security(security.parse().unwrap()).gateway(nodes).build().unwrap();
        Simulation::new(&scenario, Options::default()).err().unwrap().to_string()
    };
    let error = refused("llsec", tunnels(false));
    assert!(error.contains("need a security mode with ah or esp"), "{error}");
    let error = refused("esp", NodesSide { link_only: vec![2, 70], ..tunnels(false) });
    assert!(error.contains("there is no node 70"), "{error}");
}

#[test]
fn a_node_on_a_platform_has_no_tunnel() {
    let builder = Scenario::builder().security("esp".parse().unwrap()).gateway(tunnels(false));
    let refused = |builder: ScenarioBuilder| {
        let scenario = builder.build().unwrap();
        let error = Simulation::new(&scenario, Options::default()).err().unwrap().to_string();
        assert!(error.contains("node 2 is a micaz, and firmware images have no tunnels"), "{error}");
    };
    let emulated = EmulatedNode { platform: Platform::micaz(), image: None };
    refused(builder.clone().emulated(2, emulated));
    refused(builder.profile(Some(Platform::micaz())));
}

#[test]
fn a_scenario_says_what_the_gateway_does() {
    let gateway = |text: &str| {
        let scenario = Scenario::parse("s", text).map_err(|error| error.to_string())?;
        Ok::<_, String>(scenario.gateway().cloned())
    };
    assert_eq!(gateway(""), Ok(None));
    let nodes = NodesSide { tunnels: true, link_only: Vec::new(), enforce: false };
    assert_eq!(gateway("[gateway]"), Ok(Some(nodes)));
    let nodes = NodesSide { tunnels: false, link_only: vec![1, 3], enforce: true };
    let text = "[gateway]\nnodes = \"link\"\nlink_only = [1, 3]\nenforce = \"ipsec\"";
    assert_eq!(gateway(text), Ok(Some(nodes)));
    for (text, why) in [
        ("[gateway]\nlinkonly = [1]", "s:2: unknown key `linkonly` in [gateway]; did you mean `link_only`?"),
        (
            "[gateway]\nlink_only = 1",
            "s:2: link_only is not an array of whole numbers between 1 and 65535, such as [1]",
        ),
        ("[gateway]\nlink_only = [0]", "s:2: link_only is not an array of whole numbers"),
        ("[gateway]\nenforce = true", "s:2: enforce is not a string"),
        ("[gateway]\nnodes = \"esp\"", "s:2: nodes: \"esp\" is not \"tunnel\" or \"link\""),
    ] {
        let error = gateway(text).unwrap_err();
        assert!(error.starts_with(why), "{error}");
    }
}

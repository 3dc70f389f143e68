//! IPsec between two hosts, with a forwarder between them that has no keys.

use std::collections::VecDeque;
use std::net::Ipv6Addr;

use proptest::prelude::*;
use sixlock_base::{
    AhSuite, Counter, Cx, EspSuite, Eui64, Instant, MESH_PREFIX, NetworkSuite, Packet, Symbols,
};
use sixlock_crypto::Soft;
use sixlock_interface::ipsec::{
    Action, Addresses, AnyTransform, Association, Contexts, Ipsec, Mode, Policy, Protection as Associations,
    Selector,
};
use sixlock_interface::{
    Arrival, Config, Csma, Datagrams, Format, Interface, Link, MacConfig, RadioCommand, Route, Routes, Stack,
    Uplink,
};
use sixlock_testing::{Random, Ranges, Rig};

const ALICE: u32 = 1;
const FORWARDER: u32 = 2;
const BOB: u32 = 3;
const ESP: NetworkSuite = NetworkSuite::Esp(EspSuite::CtrXcbc);

type Security = Ipsec<Soft, AnyTransform<Soft>, 1, 1, 8>;
type Node =
    Interface<Soft, Stack<Link<false, 4, 2>, Datagrams<1280, 4>, Routes<[Route; 4]>, Security, Contexts<4>>>;

struct Host {
    node: Box<Node>,
    rig: Rig,
}

impl Host {
    fn lend<T>(&mut self, at: u32, act: impl FnOnce(&mut Node, &mut Cx<'_, Soft, Random, Ranges>) -> T) -> T {
        act(&mut self.node, &mut self.rig.at(Instant::from_millis(at / 62)))
    }

    fn count(&self, counter: Counter) -> u32 {
        self.rig.count(counter)
    }
}

fn address(id: u32) -> Ipv6Addr {
    Eui64::of_node(id).with_prefix(MESH_PREFIX)
}

/// A chain of three: frames come in whole, in order, and at once.
struct Chain {
    hosts: [Host; 3],
    now: u32,
    /// What was on the air.
    frames: Vec<Vec<u8>>,
    /// Datagrams that came in, by host.
    delivered: Vec<(u32, Vec<u8>)>,
}

impl Chain {
    fn new(suite: NetworkSuite) -> Self {
        let host = |id: u32| {
            let mut host = Host { node: Box::new(Node::new()), rig: Rig::seeded(id) };
            let mac = MacConfig {
                address: Eui64::of_node(id),
                pan_id: 1,
                csma: Csma { min_be: 0, max_be: 3, max_backoffs: 4, max_retries: 3 },
                ack: false,
                security: None,
            };
            let uplink = match id {
                FORWARDER => Uplink::None,
                _ => Uplink::NextHop(Eui64::of_node(FORWARDER)),
            };
            host.lend(0, |node, cx| node.start(cx, &Config { mac, uplink }));
            for end in [ALICE, BOB] {
                if id == FORWARDER {
                    host.node.routing().add(Eui64::of_node(end), Eui64::of_node(end)).unwrap();
                }
            }
            host
        };
        let mut chain = Self {
            hosts: [ALICE, FORWARDER, BOB].map(host),
            now: 0,
            frames: Vec::new(),
            delivered: Vec::new(),
        };
        for id in [ALICE, FORWARDER, BOB] {
            chain.host(id).node.compression().start(Format::Paper2012, 1);
        }
        chain.share(suite, ALICE, BOB, 1);
        chain.share(suite, BOB, ALICE, 2);
        chain
    }

    fn host(&mut self, id: u32) -> &mut Host {
        &mut self.hosts[id as usize - 1]
    }

    /// Gives `local` its associations with `remote`: it sends under the key that `seed` says.
    fn share(&mut self, suite: NetworkSuite, local: u32, remote: u32, seed: u8) {
        let association = |seed: u8| Association {
            spi: 1,
            mode: Mode::Transport,
            extended: true,
            lifetime: (),
            address: None,
            transform: AnyTransform::new(&mut Soft, suite, &vec![seed; suite.key_len()]).unwrap(),
        };
        let ipsec = self.host(local).node.security();
        let outbound = ipsec.add_outbound(association(seed)).unwrap();
        let inbound = ipsec.add_inbound(association(3 - seed)).unwrap();
        let selector = Selector { remote: Addresses::one(address(remote)), ..Selector::ANY };
        let action = Action::Protect(Associations::by(outbound, inbound));
        ipsec.add_policy(Policy { selector, action }).unwrap();
    }

    fn send(&mut self, from: u32, to: u32, port: u16, payload: &[u8]) {
        let mut packet = Packet::<[u8; 1280]>::new();
        packet.reset(self.host(from).node.front());
        packet.extend(payload).unwrap();
        let now = self.now;
        let sent = self
            .host(from)
            .lend(now, |node, cx| node.send(cx, Symbols::new(now), &mut packet, 49_200, address(to), port));
        sent.unwrap();
        self.run(|_, _| true);
    }

    /// Lets everybody send; `passes` says whether a frame of whom arrives, and may change it.
    fn run(&mut self, mut passes: impl FnMut(u32, &mut Vec<u8>) -> bool) {
        for _ in 0..6_000 {
            self.now += 1;
            let now = self.now;
            let at = Symbols::new(now);
            let mut air = VecDeque::new();
            for id in [ALICE, FORWARDER, BOB] {
                let host = self.host(id);
                if host.node.poll_radio_timeout().is_some_and(|due| at.has_reached(due)) {
                    host.lend(now, |node, cx| node.handle_radio_timeout(cx, at));
                }
                while let Some(RadioCommand::Send { .. }) = host.node.poll_radio_due() {
                    air.push_back((id, host.node.transmit_frame().to_vec()));
                    host.lend(now, |node, cx| node.handle_transmitted(cx, at));
                }
            }
            for (from, mut frame) in air {
                self.frames.push(frame.clone());
                if passes(from, &mut frame) {
                    self.hear(from, &frame);
                }
            }
        }
    }

    /// All but its sender hear a frame.
    fn hear(&mut self, from: u32, frame: &[u8]) {
        let now = self.now;
        for id in [ALICE, FORWARDER, BOB].into_iter().filter(|&id| id != from) {
            let at = Symbols::new(now);
            let arrival = self.host(id).lend(now, |node, cx| node.handle_frame(cx, at, &mut frame.to_vec()));
            let Some(Arrival::Datagram(delivered)) = arrival else { continue };
            let datagram = self.host(id).node.datagram(&delivered);
            let (port, payload) = (datagram.destination_port, datagram.payload.to_vec());
            self.delivered.push((id, payload));
            self.host(id).lend(now, |node, cx| match port {
                7 => node.echo(cx, at, delivered),
                1 => node.port_unreachable(cx, at, delivered),
                _ => node.release(delivered),
            });
        }
    }
}

#[test]
fn both_ends_protect_what_they_say_and_answer_and_who_forwards_needs_no_keys() {
    for suite in [NetworkSuite::Ah(AhSuite::Xcbc), ESP, NetworkSuite::Esp(EspSuite::CbcHmacSha1)] {
        for len in [1, 100, 1_000] {
            let mut chain = Chain::new(suite);
            let payload: Vec<u8> = (0..len).map(|n| n as u8).collect();
            for _ in 0..3 {
                chain.send(ALICE, BOB, 7, &payload);
            }
            let heard: Vec<_> = chain.delivered.iter().map(|(id, _)| *id).collect();
            assert_eq!(heard, [BOB, ALICE, BOB, ALICE, BOB, ALICE], "{suite}, {len} bytes");
            assert!(chain.delivered.iter().all(|(_, heard)| *heard == payload));
            assert_eq!(chain.host(FORWARDER).count(Counter::Ipv6Forwarded), 6);
        }
    }
}

#[test]
fn what_icmpv6_answers_is_protected_too() {
    let mut chain = Chain::new(ESP);
    chain.send(ALICE, BOB, 1, b"nobody listens");
    assert_eq!(chain.host(BOB).count(Counter::UdpNoPort), 1);
    assert_eq!(chain.host(FORWARDER).count(Counter::Ipv6Forwarded), 2, "there and back");
    let refused = [Counter::IpsecPolicyViolated, Counter::IpsecBadIcv, Counter::IpsecMalformed];
    assert_eq!(refused.map(|counter| chain.host(ALICE).count(counter)), [0; 3], "and it was let in");
}

#[test]
fn cleartext_is_neither_sent_nor_let_in() {
    let mut chain = Chain::new(ESP);
    chain.host(ALICE).node.security().clear();
    let bypass = Policy { selector: Selector::ANY, action: Action::Bypass };
    chain.host(ALICE).node.security().add_policy(bypass).unwrap();
    chain.send(ALICE, BOB, 7, b"in the clear");
    assert_eq!(chain.host(BOB).count(Counter::IpsecPolicyViolated), 1);
    assert_eq!(chain.delivered, []);

    chain.host(BOB).node.security().clear();
    let mut packet = Packet::<[u8; 1280]>::new();
    packet.reset(chain.host(BOB).node.front());
    let sent =
        chain.host(BOB).lend(0, |node, cx| node.send(cx, Symbols::new(0), &mut packet, 9, address(ALICE), 7));
    assert_eq!(sent, Err(sixlock_interface::SendError::Refused));
    assert_eq!(chain.host(BOB).count(Counter::IpsecDiscarded), 1);
}

/// A node on the way forgets what it knew, as at a reboot: one packet is lost, and the next says its number whole.
#[test]
fn who_forgets_asks_and_is_told_again() {
    let mut chain = Chain::new(ESP);
    for _ in 0..3 {
        chain.send(ALICE, BOB, 7, b"before");
    }
    // Whoever forwards loses one packet each way.
    for (forgetful, lost) in [(FORWARDER, 2), (BOB, 1), (ALICE, 1)] {
        let contexts = chain.host(forgetful).node.compression();
        *contexts = Contexts::new();
        contexts.start(Format::Paper2012, 1);
        for _ in 0..lost {
            chain.delivered.clear();
            chain.send(ALICE, BOB, 7, b"lost");
            assert!(chain.delivered.len() < 2, "{forgetful} knows nothing of what is short");
        }
        assert_eq!(chain.host(forgetful).count(Counter::LowpanUnknownSequence), lost);
        chain.delivered.clear();
        chain.send(ALICE, BOB, 7, b"after");
        assert_eq!(chain.delivered.len(), 2, "there and back, after {forgetful} has asked");
    }
    let widened = [ALICE, FORWARDER, BOB].map(|id| chain.host(id).count(Counter::LowpanWidened));
    assert_eq!(widened, [1, 2, 1]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whoever is in reach of the last hop.
    #[test]
    fn what_is_replayed_or_changed_on_the_air_is_never_delivered(ah: bool, at in 22..60usize, bit in 0..8u8) {
        let mut chain = Chain::new(if ah { NetworkSuite::Ah(AhSuite::Xcbc) } else { ESP });
        chain.send(ALICE, BOB, 5, b"reading");
        prop_assert_eq!(chain.delivered.len(), 1);
        let mut frame = chain.frames.last().unwrap().clone();
        // The MAC tells repetitions by their number, and errors by the FCS: an attacker sets both.
        let fcs = |frame: &mut Vec<u8>| {
            let end = frame.len() - 2;
            let fcs = sixlock_ieee802154::fcs(&frame[..end]);
            frame[end..].copy_from_slice(&fcs.to_le_bytes());
        };
        frame[2] = frame[2].wrapping_add(100);
        fcs(&mut frame);
        chain.hear(FORWARDER, &frame);
        prop_assert_eq!(chain.host(BOB).count(Counter::IpsecReplayed), 1);
        let at = at.min(frame.len() - 3);
        frame[2] = frame[2].wrapping_add(1);
        frame[at] ^= 1 << bit;
        fcs(&mut frame);
        chain.hear(FORWARDER, &frame);
        chain.run(|_, _| true);
        prop_assert_eq!(chain.delivered.len(), 1, "byte {}, bit {}", at, bit);
    }
}

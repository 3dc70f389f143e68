//! A border router at a serial line answers for a packet that its bridge does not take, and asks a bridge that says nothing.

use std::net::Ipv6Addr;

use sixlock_base::{Counter, Duration, Eui64, Instant, MESH_PREFIX};
use sixlock_crypto::Soft;
use sixlock_gateway::{Exit, Presence, Serial, SerialGateway, Upstream};
use sixlock_ipv6::icmpv6::{Echo, Message};
use sixlock_ipv6::udp;
use sixlock_slip::{Decoder, Encoder};
use sixlock_testing::Rig;
use sixlock_testing::packets::{self, icmpv6};

const CLOUD: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xc, 0, 0, 0, 0, 0, 1);
const HOST: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 1);
const START: Instant = Instant::from_millis(0);
const MTU: usize = 1280;

type Gateway = SerialGateway<Soft, (), 4>;

fn node(id: u32) -> Ipv6Addr {
    Eui64::of_node(id).with_prefix(MESH_PREFIX)
}

fn gateway() -> Gateway {
    let serial = Serial { bridge: node(0), host: CLOUD };
    Gateway::new(START, serial, Exit::Packets { flows: CLOUD })
}

/// The packet that these bytes of the line carry.
fn on_the_line(bytes: Encoder<'_>) -> Vec<u8> {
    let mut line = Decoder::<[u8; MTU]>::new();
    let len = bytes.filter_map(|byte| line.push(byte)).last().unwrap().unwrap();
    line.buffer_mut()[..len].to_vec()
}

#[test]
fn a_packet_that_the_mesh_does_not_carry_is_answered_and_the_answers_are_limited() {
    let (mut rig, mut gateway) = (Rig::seeded(1), gateway());
    let ports = udp::Header { source_port: 1, destination_port: 2 };
    let mut send = |len: usize| {
        let packet = packets::udp(HOST, node(1), 64, ports, &vec![7; len - 48]);
        let mut buffer = packet.clone();
        let mut passed = None;
        let answer =
            gateway.handle_packet(&mut rig.cx(), &mut buffer, len, |line| passed = Some(on_the_line(line)));
        (packet, answer.map(<[u8]>::to_vec), passed)
    };
    let (packet, answer, passed) = send(MTU);
    assert!(answer.is_none() && passed == Some(packet));
    let (packet, answer, passed) = send(MTU + 1);
    let too_big = Message::PacketTooBig { mtu: MTU as u32 };
    assert_eq!(answer, Some(icmpv6(node(0), HOST, 64, too_big, &packet[..MTU - 48])));
    assert_eq!(passed, None);
    let answered = (0..10).filter(|_| send(MTU + 1).1.is_some()).count();
    assert_eq!(answered, 3, "with the first one a burst of four");
    assert_eq!(rig.count(Counter::Ipv6TooBig), 11);
}

#[test]
fn a_bridge_that_says_nothing_is_asked_and_its_answer_goes_nowhere() {
    let (mut rig, mut gateway) = (Rig::seeded(1), gateway());
    let (mut now, mut asked) = (START, Vec::new());
    while gateway.poll_event() != Some(Presence::Silent) {
        gateway.handle_timeout(&mut rig.at(now), |line| asked.push(on_the_line(line)));
        now = gateway.poll_timeout();
    }
    assert_eq!((asked.len(), now.since(START)), (4, Duration::from_secs(12)));
    let Some([.., a, b, c, d]) = asked.last().map(Vec::as_slice) else { panic!("a question") };
    let echo = Echo { identifier: u16::from_be_bytes([*a, *b]), sequence: u16::from_be_bytes([*c, *d]) };
    assert_eq!(asked[3], icmpv6(CLOUD, node(0), 64, Message::EchoRequest(echo), b""));

    let mut hear = |packet: &[u8]| {
        let bytes: Vec<u8> = Encoder::new(packet).collect();
        let mut left = 0;
        gateway.handle_line(&mut rig.at(now), &bytes, |upstream| {
            assert!(matches!(upstream, Upstream::Packet(_)));
            left += 1;
        });
        (left, gateway.poll_event())
    };
    // A packet that may not come over the line is no sign of a bridge.
    assert_eq!(hear(&icmpv6(HOST, node(1), 64, Message::EchoReply(echo), b"")), (0, None));
    assert_eq!(hear(&icmpv6(node(1), node(2), 64, Message::EchoReply(echo), b"")), (0, None));
    assert_eq!(hear(b"noise"), (0, None));
    assert_eq!(
        hear(&icmpv6(node(0), CLOUD, 64, Message::EchoReply(echo), b"")),
        (0, Some(Presence::Answers))
    );
    assert_eq!(hear(&icmpv6(node(0), HOST, 64, Message::EchoReply(echo), b"")), (1, None), "another's");
    assert_eq!([Counter::Ipv6BadAddress, Counter::Ipv6Malformed].map(|counter| rig.count(counter)), [2, 1]);
}

//! An attacker that posts readings in a node's name, in the form of the security mode: who checks them finds nothing wrong but what a key would
//! make right.

use core::net::Ipv6Addr;

use sixlock_base::{Entropy, Eui64, NetworkSuite};
use sixlock_crypto::Soft;
use sixlock_ieee802154::{FrameType, Header};
use sixlock_ipv6::{extension, next_header, udp};
use sixlock_node::ipsec::{
    AnyTransform, Mode, PacketBuffer, Sending as Protecting, SequenceNumber, Transform,
};
use sixlock_node::{COAP_PORT, COAPS_PORT};

use crate::network::CLOUD;
use crate::protection::SPI;
use crate::random::Stream;

use super::behaviour::{AttackerContext, Behaviour, Sending, UNUSED};
use super::frames;
use super::packets::{bytes, datagram, ipv6, port};

/// Room for the headers and trailers of IPsec.
const ROOM: usize = 96;
/// The content type of application data, and how long the beginning of a record is: type, version, epoch.
const APPLICATION_DATA: u8 = 23;
const RECORD: usize = 5;

/// Sends readings to the cloud in the target's name.
#[derive(Default)]
pub(super) struct Forge {
    overheard: Overheard,
    sent: u32,
}

/// What the attacker has learnt of what to forge.
#[derive(Default)]
struct Overheard {
    /// A neighbour of the station next to the attacker: frames in its name are taken up.
    neighbour: Option<Eui64>,
    /// The target's session with the cloud.
    session: Option<Session>,
}

/// A session of DTLS, as who overhears it knows it.
#[derive(Clone, Copy)]
struct Session {
    /// The client's port.
    port: u16,
    epoch: [u8; 2],
}

impl Behaviour for Forge {
    fn act(&mut self, context: &mut AttackerContext) -> Vec<Sending> {
        let number = UNUSED + self.sent;
        self.sent = (self.sent + 1) % UNUSED;
        let packet = reading(context, self.overheard.session, number);
        match context.security.link.filter(|_| context.link.is_none()) {
            Some(suite) => {
                let source = self.overheard.neighbour.unwrap_or(context.own);
                context.guessed_frames(suite, source, &packet)
            }
            None => context.frames(context.own, Some(context.next), &packet),
        }
    }

    fn overhear(&mut self, context: &AttackerContext, frame: &[u8]) {
        self.overheard.neighbour = neighbour(context.next, frame).or(self.overheard.neighbour);
        let packet = frames::beginning(frame, context.link);
        let session = packet.and_then(|packet| session(&packet, context.global(context.target)));
        self.overheard.session = session.or(self.overheard.session);
    }
}

/// With whom `station` exchanges a frame that is secured, if it does.
fn neighbour(station: Eui64, frame: &[u8]) -> Option<Eui64> {
    let (header, _) = Header::parse(frame).ok()?;
    let ends = frames::ends(&header).filter(|_| header.frame_type == FrameType::Data)?;
    let is_neighbour = header.security.is_some() && ends.destination != Eui64([0xff; 8]);
    match ends {
        _ if !is_neighbour => None,
        ends if ends.source == station => Some(ends.destination),
        ends if ends.destination == station => Some(ends.source),
        _ => None,
    }
}

/// The session of the node at `address` that a packet between it and the cloud is part of, if that is application data. Of a fragmented
/// one the first fragment is enough.
fn session(packet: &[u8], address: Ipv6Addr) -> Option<Session> {
    let at = |at| sixlock_ipv6::Header::address_at(packet, at).copied().map(Ipv6Addr::from);
    let source = at(sixlock_ipv6::Header::SOURCE_AT)?;
    let destination = at(sixlock_ipv6::Header::DESTINATION_AT)?;
    let upper = extension::skip(packet).filter(|upper| upper.protocol == next_header::UDP)?;
    let (ports, behind) = packet.get(upper.at..)?.split_at_checked(udp::Header::LEN)?;
    let &[s0, s1, d0, d1, ..] = ports else { return None };
    let &[APPLICATION_DATA, _, _, e0, e1] = behind.first_chunk::<RECORD>()? else { return None };
    let (own, other) = match (source, destination) {
        (node, CLOUD) if node == address => ([s0, s1], [d0, d1]),
        (CLOUD, node) if node == address => ([d0, d1], [s0, s1]),
        _ => return None,
    };
    let is_session = u16::from_be_bytes(other) == COAPS_PORT;
    is_session.then_some(Session { port: u16::from_be_bytes(own), epoch: [e0, e1] })
}

/// A reading that the target might post to the cloud, as its security mode would have it, but for the keys.
fn reading(context: &mut AttackerContext, session: Option<Session>, number: u32) -> Vec<u8> {
    let (security, ends) = (context.security, (context.global(context.target), CLOUD));
    let stream = &mut context.stream;
    let message = coap(stream, context.target);
    let datagram = match security.transport {
        None => datagram(ends, (port(stream), COAP_PORT), &message),
        Some(_) => {
            let session = session.unwrap_or_else(|| Session { port: port(stream), epoch: [0, 1] });
            let record = record(stream, session.epoch, number, message.len());
            datagram(ends, (session.port, COAPS_PORT), &record)
        }
    };
    let packet = ipv6(ends, next_header::UDP, 64, &datagram);
    match security.network {
        None => packet,
        Some(suite) => protected(stream, suite, packet),
    }
}

/// The packet as the target would protect it, under a key that is guessed.
fn protected(stream: &mut Stream, suite: NetworkSuite, packet: Vec<u8>) -> Vec<u8> {
    let key = bytes(stream, suite.key_len());
    // Links that compress headers expect one near the last: what is drawn anew each time does not move that.
    let number = SequenceNumber::new(0, UNUSED | stream.next_u32());
    let Ok(transform) = AnyTransform::new(&mut Soft, suite, &key) else { return packet };
    let mut buffer = [&[0; ROOM], &packet[..], &[0; ROOM]].concat();
    let Some(mut room) = PacketBuffer::new(&mut buffer, ROOM, ROOM + packet.len()) else { return packet };
    let sending = Protecting { spi: SPI, number, extended: false, mode: Mode::Transport };
    match transform.protect(&mut Soft, stream, &sending, &mut room) {
        Ok(()) => room.packet().to_vec(),
        Err(_) => packet,
    }
}

/// A record of DTLS with application data, of which nothing is authentic.
fn record(stream: &mut Stream, [e0, e1]: [u8; 2], number: u32, length: usize) -> Vec<u8> {
    /// An explicit nonce and a tag.
    const AROUND: usize = 16;
    let sealed = bytes(stream, length + AROUND);
    let mut record = vec![APPLICATION_DATA, 0xfe, 0xfd, e0, e1, 0, 0];
    record.extend(number.to_be_bytes());
    record.extend((sealed.len() as u16).to_be_bytes());
    record.extend(sealed);
    record
}

/// A confirmable request of CoAP that posts what no sensor measures.
fn coap(stream: &mut Stream, node: Eui64) -> Vec<u8> {
    /// The options: resources/data, and SenML in JSON.
    const PATH: &[u8] = b"\xb9resources\x04data\x11\x6e\xff";
    let [a, b, c, d] = stream.next_u32().to_be_bytes();
    let name: String = node.0.iter().map(|byte| format!("{byte:02x}")).collect();
    let reading = format!(r#"[{{"bn":"urn:dev:mac:{name}:","n":"temperature","u":"Cel","v":99.9}}]"#);
    [&[0x42, 0x02, a, b, c, d], PATH, reading.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> Ipv6Addr {
        Eui64::of_node(4).with_prefix(sixlock_base::MESH_PREFIX)
    }

    fn packet(ends: (Ipv6Addr, Ipv6Addr), ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
        ipv6(ends, next_header::UDP, 64, &datagram(ends, ports, payload))
    }

    #[test]
    fn a_session_is_learnt_from_application_data_of_the_target_alone() {
        let data = [23, 0xfe, 0xfd, 0, 7, 0, 0, 0, 0, 0, 1, 0, 1, 9];
        let learnt = |packet: &[u8]| session(packet, node()).map(|session| (session.port, session.epoch));
        let (there, back) = ((node(), CLOUD), (CLOUD, node()));
        let sent = packet(there, (50_000, COAPS_PORT), &data);
        assert_eq!(learnt(&sent), Some((50_000, [0, 7])));
        assert_eq!(learnt(&sent[..60]), Some((50_000, [0, 7])), "of a first fragment");
        assert_eq!(learnt(&packet(back, (COAPS_PORT, 50_000), &data)), Some((50_000, [0, 7])));
        assert_eq!(learnt(&packet(there, (50_000, COAP_PORT), &data)), None);
        assert_eq!(learnt(&packet(there, (50_000, COAPS_PORT), &[22; 14])), None, "a handshake");
        let other = Eui64::of_node(3).with_prefix(sixlock_base::MESH_PREFIX);
        assert_eq!(learnt(&packet((other, CLOUD), (50_000, COAPS_PORT), &data)), None);
        assert_eq!(learnt(&sent[..50]), None);
    }
}

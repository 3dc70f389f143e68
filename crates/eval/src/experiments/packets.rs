//! Packets as the code puts them on the air, protected and compressed.

use sixlock_base::{Entropy, Eui64, MESH_PREFIX, NetworkSuite};
use sixlock_crypto::ipsec::IpsecCrypto;
use sixlock_crypto::{BlockCiphers, CcmNonce, CcmTag, Metered, Operations, Soft, Tag};
use sixlock_ieee802154::{
    Address, AuxiliaryHeader, Endpoint, FCS, FrameType, Header, KeyId, SecurityLevel, Version,
};
use sixlock_ipsec::{AnyTransform, Mode, PacketBuffer, Sending, SequenceNumber, Transform};
use sixlock_ipv6::{extension, next_header, udp};
use sixlock_sixlowpan::ipsec::{Context, Flow, Format, Known};
use sixlock_sixlowpan::{FragmentHeader, LinkAddresses, PayloadCompression, compress_with, decompress_with};

use crate::error::Error;

pub(super) const FROM: Eui64 = Eui64::of_node(1);
pub(super) const TO: Eui64 = Eui64::of_node(2);
const LINK: LinkAddresses = LinkAddresses { source: FROM, destination: TO };

/// Room for the longest headers and trailers of IPsec.
const ROOM: usize = 96;
/// Room for IPHC and a byte for each header behind it.
const HEADERS: usize = 64;

/// The sequence number of the packets here.
const SEQUENCE: u32 = 2;

/// Epoch and number of a record, which are the explicit nonce, too: one of the first 255, as that of RFC 7400's figure 16.
const NONCE: [u8; 8] = [0, 1, 0, 0, 0, 0, 0, 5];
/// An upper protocol that nothing compresses (RFC 3692's).
const OPAQUE: u8 = 253;

/// What a suite does to packets, under a key of no importance.
fn transform<C: IpsecCrypto>(crypto: &mut C, suite: NetworkSuite) -> Result<AnyTransform<C>, Error> {
    AnyTransform::new(crypto, suite, &vec![7; suite.key_len()])
        .map_err(|error| Error(format!("a key for {suite}: {error:?}")))
}

/// Random bytes of no importance: they are for initialization vectors whose packets nobody reads.
struct Any;

impl Entropy for Any {
    fn fill(&mut self, out: &mut [u8]) {
        out.fill(0xa5);
    }
}

/// A flow that both ends of a link have heard of, so that headers are as short as they can be.
struct UnderWay;

impl Context for UnderWay {
    fn format(&self) -> Option<Format> {
        Some(Format::Paper2012)
    }

    fn is_known_to_receiver(&self, _: &Flow, _: u32, _: usize) -> bool {
        true
    }

    fn known(&self, _: &Flow) -> Option<Known> {
        Some(Known { highest: SEQUENCE - 1, ah_len: self.default_ah_len() })
    }
}

fn packet(protocol: u8, upper: &[u8]) -> Result<Vec<u8>, Error> {
    let [source, destination] = [FROM, TO].map(|node| node.with_prefix(MESH_PREFIX));
    let header = sixlock_ipv6::Header {
        traffic_class: 0,
        flow_label: 0,
        payload_length: upper.len() as u16,
        next_header: protocol,
        hop_limit: 64,
        source,
        destination,
    };
    let mut packet = vec![0; sixlock_ipv6::Header::LEN];
    header.emit(&mut packet).map_err(|error| Error(format!("an IPv6 header: {error:?}")))?;
    packet.extend(upper);
    Ok(packet)
}

/// A UDP datagram between two nodes, with so many bytes of payload.
pub(super) fn datagram(payload: usize) -> Result<Vec<u8>, Error> {
    datagram_between((5683, 7), payload)
}

/// The same between these ports.
pub(super) fn datagram_between(ports: (u16, u16), payload: usize) -> Result<Vec<u8>, Error> {
    carrying(ports, &vec![0; payload])
}

/// A datagram with a record of DTLS 1.2 under AES-CCM-8, which has so many bytes of content.
pub(super) fn record(content: usize) -> Result<Vec<u8>, Error> {
    let length = (NONCE.len() + content + CcmTag::Eight.len()) as u16;
    let (key, nonce) = (Soft.aes_128(&[7; 16]), [&[7; 4][..], &NONCE].concat());
    let nonce = nonce.first_chunk().ok_or_else(|| Error("a nonce is too short".into()))?;
    let (mut sealed, mut tag) = (vec![0; content], Tag::empty(CcmTag::Eight));
    // What is authenticated beside it does not change its length.
    Soft.ccm_seal(&key, CcmNonce::Twelve(nonce), &[], &mut sealed, &mut tag);
    let record =
        [&[23, 0xfe, 0xfd], &NONCE[..], &length.to_be_bytes(), &NONCE, &sealed, tag.bytes()].concat();
    carrying((5684, 5684), &record)
}

/// A datagram between two nodes and these ports.
pub(super) fn carrying(ports: (u16, u16), payload: &[u8]) -> Result<Vec<u8>, Error> {
    let [source, destination] = [FROM, TO].map(|node| node.with_prefix(MESH_PREFIX));
    let mut datagram = [&[0; udp::Header::LEN], payload].concat();
    udp::Header { source_port: ports.0, destination_port: ports.1 }
        .emit(source, destination, &mut datagram)
        .map_err(|error| Error(format!("a UDP header: {error:?}")))?;
    packet(next_header::UDP, &datagram)
}

/// The packet, protected in transport mode under the security parameters index that is left out.
pub(super) fn protected(packet: &[u8], suite: NetworkSuite) -> Result<Vec<u8>, Error> {
    protect(&mut Soft, &transform(&mut Soft, suite)?, Mode::Transport, packet)
}

/// The same in a tunnel between its own two ends.
pub(super) fn tunnelled(packet: &[u8], suite: NetworkSuite) -> Result<Vec<u8>, Error> {
    let [local, remote] = [FROM, TO].map(|node| node.with_prefix(MESH_PREFIX));
    protect(&mut Soft, &transform(&mut Soft, suite)?, Mode::Tunnel { local, remote }, packet)
}

/// What is computed to protect a message of so many bytes.
pub(super) fn operations(bytes: usize, suite: NetworkSuite) -> Result<Operations, Error> {
    let mut crypto = Metered::new(Soft);
    let transform = transform(&mut crypto, suite)?;
    crypto.take();
    protect(&mut crypto, &transform, Mode::Transport, &packet(OPAQUE, &vec![0; bytes])?)?;
    Ok(crypto.take())
}

/// What is computed to open the packet under `suite`, and refuse it if its last byte is not what was protected.
pub(super) fn opening(packet: &[u8], suite: NetworkSuite, is_forged: bool) -> Result<Operations, Error> {
    let mut crypto = Metered::new(Soft);
    let transform = transform(&mut crypto, suite)?;
    let mut packet = protect(&mut crypto, &transform, Mode::Transport, packet)?;
    forge(&mut packet, is_forged);
    let wrong = || Error(format!("{suite} took what was forged, or refused what was not"));
    let found = extension::skip(&packet).ok_or_else(wrong)?;
    crypto.take();
    let number = SequenceNumber::new(0, SEQUENCE);
    let opened = transform.open(&mut crypto, &mut packet, &found, number, false);
    if opened.is_ok() == is_forged {
        return Err(wrong());
    }
    Ok(crypto.take())
}

/// Changes the last byte, if that is wanted.
fn forge(bytes: &mut [u8], is_forged: bool) {
    if let Some(last) = bytes.last_mut().filter(|_| is_forged) {
        *last ^= 1;
    }
}

fn protect<C: IpsecCrypto>(
    crypto: &mut C,
    transform: &AnyTransform<C>,
    mode: Mode,
    packet: &[u8],
) -> Result<Vec<u8>, Error> {
    let mut buffer = vec![0; ROOM];
    buffer.extend(packet);
    let end = buffer.len();
    buffer.extend([0; ROOM]);
    let wrong = || Error(format!("a packet of {} bytes is not protected", packet.len()));
    let mut room = PacketBuffer::new(&mut buffer, ROOM, end).ok_or_else(wrong)?;
    let sending = Sending {
        spi: UnderWay.default_spi(),
        number: SequenceNumber::new(0, SEQUENCE),
        extended: false,
        mode,
    };
    transform.protect(crypto, &mut Any, &sending, &mut room).map_err(|_| wrong())?;
    Ok(room.packet().to_vec())
}

/// How headers are compressed: into how many bytes, and how many they were.
fn headers(packet: &[u8]) -> Result<(usize, usize), Error> {
    let mut out = [0; HEADERS];
    let compressed = compress_with(&UnderWay, packet, LINK, &mut out);
    compressed
        .map(|headers| (headers.written, headers.consumed))
        .map_err(|error| Error(format!("compression: {error:?}")))
}

/// Bytes of the packet with its headers compressed.
pub(super) fn compressed(packet: &[u8]) -> Result<usize, Error> {
    let (written, consumed) = headers(packet)?;
    Ok(written + packet.len() - consumed)
}

/// The same where the link's ends compress payloads, too.
pub(super) fn compressed_with(packet: &[u8], payloads: PayloadCompression) -> Result<usize, Error> {
    let compressed = compress_with(&Some(payloads), packet, LINK, &mut vec![0; packet.len()]);
    let wrong = |error| Error(format!("compression: {error:?}"));
    compressed.map(|headers| headers.written + packet.len() - headers.consumed).map_err(wrong)
}

/// The packet after its way over a link, on which its headers are compressed.
pub(super) fn over_a_link(packet: &[u8]) -> Result<Vec<u8>, Error> {
    let wrong = |error| Error(format!("compression: {error:?}"));
    let mut sent = vec![0; HEADERS];
    let headers = compress_with(&UnderWay, packet, LINK, &mut sent).map_err(wrong)?;
    sent.truncate(headers.written);
    sent.extend(&packet[headers.consumed..]);
    let mut restored = vec![0; packet.len()];
    let headers = decompress_with(&UnderWay, &sent, LINK, None, &mut restored).map_err(wrong)?;
    restored.truncate(headers.written);
    restored.extend(&sent[headers.consumed..]);
    Ok(restored)
}

/// Bytes that a compressed IPv6 header takes whose next header is compressed, too.
pub(super) fn compressed_ipv6() -> Result<usize, Error> {
    // Here it is not, and stands behind.
    Ok(compressed(&packet(OPAQUE, &[])?)? - 1)
}

/// The payloads of the frames that carry the packet, of at most `capacity` bytes each.
pub(super) fn fragments(packet: &[u8], capacity: usize) -> Result<Vec<usize>, Error> {
    let whole = compressed(packet)?;
    if whole <= capacity {
        return Ok(vec![whole]);
    }
    let (written, consumed) = headers(packet)?;
    let in_eights = |bytes: usize| bytes / 8 * 8;
    let first = in_eights(consumed + capacity - FragmentHeader::FIRST_LEN - written);
    let mut sizes = vec![FragmentHeader::FIRST_LEN + written + first - consumed];
    let mut left = packet.len() - first;
    while left > 0 {
        let part = left.min(in_eights(capacity - FragmentHeader::SUBSEQUENT_LEN));
        sizes.push(FragmentHeader::SUBSEQUENT_LEN + part);
        left -= part;
    }
    Ok(sizes)
}

/// A frame's bytes but for its payload, from a PAN to PAN 1, with the key named by its index or not at all.
pub(super) fn frame(level: Option<SecurityLevel>, key_id: KeyId, from_pan: u16) -> usize {
    let endpoint = |pan_id, address| Some(Endpoint { pan_id, address: Address::Extended(address) });
    let header = Header {
        frame_type: FrameType::Data,
        pending: false,
        ack_request: true,
        version: Version::V2006,
        sequence: 0,
        destination: endpoint(1, TO),
        source: endpoint(from_pan, FROM),
        security: level.map(|level| AuxiliaryHeader { level, key_id, frame_counter: 0 }),
    };
    header.emitted_len() + level.map_or(0, SecurityLevel::mic_len) + FCS
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_lowpan::fragment_sizes;

    #[test]
    fn fragments_are_those_that_are_sent() {
        for capacity in [82, 90, 94, 104] {
            for payload in (0..600).step_by(7) {
                let packet = datagram(payload).unwrap();
                let sent: Vec<_> = fragment_sizes((), &packet, LINK, capacity).collect();
                assert_eq!(fragments(&packet, capacity), Ok(sent), "{payload} bytes in frames of {capacity}");
            }
        }
    }
}

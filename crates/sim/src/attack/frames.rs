//! Frames as an attacker writes and reads them: in anybody's name, sealed by whatever key it has.

use sixlock_base::{Eui64, LinkSuite};
use sixlock_crypto::{BlockCiphers, CcmNonce, CcmTag, Soft, Tag};
use sixlock_ieee802154::{
    Address, AuxiliaryHeader, BROADCAST, Endpoint, FCS, FrameType, Header, KeyId, MAX_FRAME, SecurityLevel,
    Version, fcs,
};
use sixlock_lowpan::LinkAddresses;
use sixlock_node::security_level;
use sixlock_sixlowpan::{
    FragmentHeader, MAX_DATAGRAM, OneContext, Stateless, UNCOMPRESSED, WithAddresses, compress_with,
    decompress,
};

use crate::network::{LINK_KEY_INDEX, PAN_ID};

/// Bytes of payload in a frame that leaves room for every header and MIC.
pub(crate) const PAYLOAD: usize = 72;

/// A link key, and the suite that it is for.
pub(crate) type LinkKey = (LinkSuite, [u8; 16]);

/// What a data frame says of itself.
#[derive(Clone, Copy)]
pub(crate) struct FrameFields {
    pub(crate) source: Eui64,
    /// Everybody, if it is none.
    pub(crate) destination: Option<Eui64>,
    pub(crate) sequence: u8,
    pub(crate) wants_ack: bool,
    pub(crate) frame_counter: u32,
}

/// Writes a data frame, sealed if there is a `key`.
pub(crate) fn write(fields: FrameFields, key: Option<LinkKey>, payload: &[u8]) -> Vec<u8> {
    let FrameFields { source, destination, sequence, wants_ack, frame_counter } = fields;
    let end = |address| Some(Endpoint { pan_id: PAN_ID, address });
    let levels = key.map(|(suite, key)| (security_level(suite), key));
    let security = levels.map(|((level, _), _)| AuxiliaryHeader {
        level,
        key_id: KeyId::Index(LINK_KEY_INDEX),
        frame_counter,
    });
    let header = Header {
        frame_type: FrameType::Data,
        pending: false,
        ack_request: wants_ack,
        version: Version::V2006,
        sequence,
        destination: end(destination.map_or(Address::Short(BROADCAST), Address::Extended)),
        source: end(Address::Extended(source)),
        security,
    };
    let mut frame = vec![0; MAX_FRAME];
    let length = header.emit(&mut frame).unwrap_or(0);
    frame.truncate(length);
    frame.extend_from_slice(payload);
    if let (Some(security), Some(((level, tag), key))) = (security, levels) {
        let mut mic = Tag::empty(tag);
        let from = if level.is_encrypted() { length } else { frame.len() };
        let (clear, data) = frame.split_at_mut(from);
        let nonce = security.nonce(source);
        let key = Soft.aes_128(&key);
        Soft.ccm_seal(&key, CcmNonce::Thirteen(&nonce), clear, data, &mut mic);
        frame.extend_from_slice(mic.bytes());
    }
    frame.truncate(MAX_FRAME - FCS);
    with_fcs(frame)
}

/// The frame with its check sequence behind it.
pub(crate) fn with_fcs(mut frame: Vec<u8>) -> Vec<u8> {
    let check = fcs(&frame).to_le_bytes();
    frame.extend(check);
    frame
}

/// The payloads of the frames that carry `packet` as it is.
pub(crate) fn uncompressed(packet: &[u8], tag: u16) -> Vec<Vec<u8>> {
    if packet.len() < PAYLOAD {
        return vec![[&[UNCOMPRESSED], packet].concat()];
    }
    let fragment = |(place, part): (usize, &[u8])| {
        let offset = (place * (PAYLOAD - 8)) as u16;
        let header = FragmentHeader { datagram_size: packet.len() as u16, tag, offset };
        let mut payload = vec![0; FragmentHeader::SUBSEQUENT_LEN];
        let length = header.emit(&mut payload).unwrap_or(0);
        payload.truncate(length);
        if place == 0 {
            payload.push(UNCOMPRESSED);
        }
        payload.extend_from_slice(part);
        payload
    };
    packet.chunks(PAYLOAD - 8).enumerate().map(fragment).collect()
}

/// The payloads of the frames that carry `packet`: one with compressed headers, if it fits; `context` is context 0, if there is one.
pub(crate) fn payloads(
    packet: &[u8],
    link: LinkAddresses,
    tag: u16,
    context: Option<[u8; 8]>,
) -> Vec<Vec<u8>> {
    let mut payload = vec![0; packet.len() + 1];
    let compressed = match context {
        Some(prefix) => {
            let mut shared = ();
            let context = WithAddresses::new(&mut shared, OneContext(prefix), |_| true);
            compress_with(&context, packet, link, &mut payload)
        }
        None => compress_with(&Stateless, packet, link, &mut payload),
    };
    let Ok(compressed) = compressed else { return uncompressed(packet, tag) };
    payload.truncate(compressed.written);
    payload.extend_from_slice(&packet[compressed.consumed..]);
    if payload.len() <= PAYLOAD + 8 { vec![payload] } else { uncompressed(packet, tag) }
}

/// The payload of a frame in the clear, in `buffer`. What is sealed is opened by `key`.
pub(crate) fn open<'b>(
    frame: &[u8],
    (header, header_len): (&Header, usize),
    source: Eui64,
    key: Option<&<Soft as BlockCiphers>::Aes128>,
    buffer: &'b mut [u8],
) -> Option<&'b [u8]> {
    let body = frame.get(..frame.len().checked_sub(FCS)?)?;
    let buffer = buffer.get_mut(..body.len())?;
    buffer.copy_from_slice(body);
    let Some(auxiliary) = &header.security else { return buffer.get(header_len..) };
    let Some(key) = key else { return buffer.get(header_len..) };
    unseal(buffer, header_len, auxiliary.level, &auxiliary.nonce(source), key)
}

/// What follows the first `header_len` bytes of a frame that is sealed by `key` with this nonce, without its MIC, in the clear.
pub(crate) fn unseal<'b>(
    sealed: &'b mut [u8],
    header_len: usize,
    level: SecurityLevel,
    nonce: &[u8; 13],
    key: &<Soft as BlockCiphers>::Aes128,
) -> Option<&'b [u8]> {
    let len = sealed.len().checked_sub(level.mic_len())?;
    let (opened, mic) = sealed.split_at_mut(len);
    let clear = if level.is_encrypted() { header_len } else { len };
    let mic = match level {
        SecurityLevel::Enc => Tag::empty(CcmTag::Zero),
        _ => Tag::from_bytes(mic)?,
    };
    let (clear, sealed) = opened.split_at_mut_checked(clear)?;
    Soft.ccm_open(key, CcmNonce::Thirteen(nonce), clear, sealed, &mic).ok()?;
    opened.get(header_len..)
}

/// The two ends of a data frame, if both are whole addresses or it is for everybody.
pub(crate) fn ends(header: &Header) -> Option<LinkAddresses> {
    let Address::Extended(source) = header.source?.address else { return None };
    let destination = match header.destination?.address {
        Address::Extended(destination) => destination,
        Address::Short(BROADCAST) => Eui64([0xff; 8]),
        Address::Short(_) => return None,
    };
    Some(LinkAddresses { source, destination })
}

/// The packet that a frame carries alone, if the frame can be read.
pub(crate) fn packet(frame: &[u8], key: Option<LinkKey>) -> Option<Vec<u8>> {
    let (fragment, packet) = carried(frame, key)?;
    fragment.is_none().then_some(packet)
}

/// The packet that begins in a frame, as far as that carries it, if the frame can be read.
pub(crate) fn beginning(frame: &[u8], key: Option<LinkKey>) -> Option<Vec<u8>> {
    carried(frame, key).map(|(_, packet)| packet)
}

/// What a frame carries of a packet that begins in it, and its header if that is the first fragment.
fn carried(frame: &[u8], key: Option<LinkKey>) -> Option<(Option<FragmentHeader>, Vec<u8>)> {
    let (header, header_len) = Header::parse(frame).ok()?;
    if header.frame_type != FrameType::Data || header.security.is_some() && key.is_none() {
        return None;
    }
    let link = ends(&header)?;
    let key = key.map(|(_, key)| Soft.aes_128(&key));
    let mut buffer = [0; MAX_FRAME];
    let payload = open(frame, (&header, header_len), link.source, key.as_ref(), &mut buffer)?;
    let (fragment, rest) = FragmentHeader::parse(payload).ok()?;
    if fragment.is_some_and(|fragment| fragment.offset > 0) {
        return None;
    }
    let size = fragment.map(|fragment| fragment.datagram_size);
    let mut packet = vec![0; MAX_DATAGRAM];
    let headers = decompress(rest, link, size, &mut packet).ok()?;
    packet.truncate(headers.written);
    packet.extend_from_slice(rest.get(headers.consumed..)?);
    Some((fragment, packet))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_ieee802154::check_fcs;

    fn fields() -> FrameFields {
        FrameFields {
            source: Eui64::of_node(9),
            destination: Some(Eui64::of_node(1)),
            sequence: 3,
            wants_ack: true,
            frame_counter: 77,
        }
    }

    #[test]
    fn a_packet_in_one_frame_is_read_again_with_the_key_that_sealed_it() {
        let link = LinkAddresses { source: Eui64::of_node(9), destination: Eui64::of_node(1) };
        let ends = (Eui64::of_node(9).with_prefix([0xfd, 0, 0, 0, 0, 0, 0, 0]), crate::network::CLOUD);
        let packet_sent = crate::attack::ipv6(ends, 59, 64, &[5; 20]);
        let payloads = payloads(&packet_sent, link, 1, Some(sixlock_base::MESH_PREFIX));
        assert_eq!(payloads.len(), 1);
        for key in [None, Some((LinkSuite::Ccm64, [7; 16])), Some((LinkSuite::CbcMac128, [7; 16]))] {
            let frame = write(fields(), key, &payloads[0]);
            assert!(check_fcs(&frame).is_ok());
            assert_eq!(packet(&frame, key), Some(packet_sent.clone()));
        }
        let sealed = write(fields(), Some((LinkSuite::Ccm64, [7; 16])), &payloads[0]);
        assert_eq!(packet(&sealed, None), None, "who has no key reads nothing");
        assert_eq!(packet(&sealed, Some((LinkSuite::Ccm64, [8; 16]))), None);
    }

    #[test]
    fn a_long_packet_goes_in_fragments_that_fit_with_every_mic() {
        let packet_sent = vec![0x60; 400];
        for payload in uncompressed(&packet_sent, 5) {
            let frame = write(fields(), Some((LinkSuite::Ccm128, [7; 16])), &payload);
            assert!(frame.len() <= MAX_FRAME, "{}", frame.len());
            assert_eq!(packet(&frame, Some((LinkSuite::Ccm128, [7; 16]))), None, "it is a fragment");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(frame in proptest::collection::vec(proptest::num::u8::ANY, 0..127)) {
            let _ = packet(&frame, None);
            let _ = beginning(&frame, None);
            let _ = packet(&frame, Some((LinkSuite::Ccm64, [7; 16])));
        }
    }
}

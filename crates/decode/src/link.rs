//! The MAC header and link security of frames of versions 0 and 1, and the FCS of all.

use std::collections::BTreeMap;

use sixlock_crypto::AES_128_KEY;
use sixlock_ieee802154::{Address, AuxiliaryHeader, Endpoint, FCS, FrameType, Header, SecurityLevel, fcs};

use crate::capture::Record;
use crate::layer::{Layer, LinkSecurity, Mac, Reason, Unread};
use crate::sealed::{self, Sealed};
use crate::shown::LinkAddress;

/// The FCS-less bytes of a frame, or why they are not read.
pub(crate) fn body(record: &Record) -> Result<&[u8], Unread> {
    let frame = &record.frame;
    let refuse = |why: String| Unread::new("frame", frame.len(), Reason::Malformed, why);
    if record.missing > 0 {
        return Err(Unread::new(
            "frame",
            frame.len(),
            Reason::Missing,
            format!("{} bytes of it were not captured", record.missing),
        ));
    }
    if !record.fcs {
        return Ok(frame);
    }
    let (body, sent) =
        frame.split_last_chunk::<FCS>().ok_or_else(|| refuse("too short for an FCS".into()))?;
    let (sent, right) = (u16::from_le_bytes(*sent), fcs(body));
    if sent == right { Ok(body) } else { Err(refuse(format!("FCS 0x{sent:04x}, should be 0x{right:04x}"))) }
}

/// What a frame is for, in a word.
pub(crate) const fn kind(frame_type: FrameType) -> &'static str {
    match frame_type {
        FrameType::Beacon => "beacon",
        FrameType::Data => "data",
        FrameType::Ack => "ack",
        FrameType::Command => "command",
    }
}

/// The header of a frame of version 0 or 1 as a layer.
pub(crate) fn mac(header: &Header, bytes: usize, repeated: bool) -> Layer {
    let address = |endpoint: Option<Endpoint>| endpoint.map(|endpoint| LinkAddress(endpoint.address));
    Layer::Mac(Mac {
        bytes,
        version: header.version as u8,
        kind: kind(header.frame_type),
        sequence: Some(header.sequence),
        pan: header.destination.or(header.source).map(|endpoint| endpoint.pan_id),
        source: address(header.source),
        destination: address(header.destination),
        ack_request: header.ack_request,
        repeated,
    })
}

/// The auxiliary header, and the MIC at the end of the `behind` bytes behind it, as a layer.
pub(crate) fn security(auxiliary: &AuxiliaryHeader, header: &Header, behind: usize) -> Layer {
    let without = Header { security: None, ..*header };
    Layer::LinkSecurity(LinkSecurity {
        bytes: header.emitted_len() - without.emitted_len() + auxiliary.level.mic_len().min(behind),
        level: sealed::level_name(auxiliary.level),
        key: sealed::key_index(auxiliary.key_id),
        counter: Some(auxiliary.frame_counter),
        asn: None,
    })
}

/// Opens what stands behind the header `front` of a frame and returns it.
pub(crate) fn open(
    keys: &BTreeMap<u8, [u8; AES_128_KEY]>,
    auxiliary: &AuxiliaryHeader,
    header: &Header,
    front: &[u8],
    behind: &[u8],
) -> Result<Vec<u8>, Unread> {
    // What is not encrypted of a payload (7.6.3.4): the number of a command, and most of a beacon.
    let clear = match header.frame_type {
        FrameType::Command => behind.len().min(1),
        _ => 0,
    };
    let (clear, sealed) = behind.split_at_checked(clear).unwrap_or_default();
    let refuse = |reason, why: &str| Unread::new("payload", sealed.len(), reason, why);
    let level = auxiliary.level;
    if level == SecurityLevel::None {
        return Ok(behind.to_vec());
    }
    let keys = sealed::keys(keys, auxiliary.key_id)
        .map_err(|why| Unread::new("payload", sealed.len(), Reason::NoKey, why))?;
    if header.frame_type == FrameType::Beacon {
        return Err(refuse(Reason::Unsupported, "beacons are not opened"));
    }
    let Some(Endpoint { address: Address::Extended(source), .. }) = header.source else {
        return Err(refuse(Reason::Unsupported, sealed::NO_EXTENDED_SOURCE));
    };
    let Some((payload, mic)) = sealed.split_at_checked(sealed.len().wrapping_sub(level.mic_len())) else {
        return Err(refuse(Reason::Malformed, sealed::NO_MIC));
    };
    if mic.is_empty() && keys.len() > 1 {
        let why = "without a MIC nothing tells which of the keys of the links is its own";
        return Err(refuse(Reason::Unsupported, why));
    }
    let front = [front, clear].concat();
    let opened = Sealed { level, front: &front, content: payload, mic }.open(&keys, &auxiliary.nonce(source));
    let opened = opened.ok_or_else(|| refuse(Reason::BadMic, ""))?;
    Ok([clear, &opened].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_base::Eui64;
    use sixlock_crypto::{BlockCiphers, CcmNonce, CcmTag, Soft, Tag};

    const KEY: [u8; 16] =
        [0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf];

    fn opened(keys: &BTreeMap<u8, [u8; 16]>, frame: &[u8]) -> Result<Vec<u8>, Unread> {
        let (header, length) = Header::parse(frame).unwrap();
        open(keys, &header.security.unwrap(), &header, &frame[..length], &frame[length..])
    }

    fn reason(result: Result<Vec<u8>, Unread>) -> Option<Reason> {
        match result {
            Err(unread) => Some(unread.reason),
            _ => None,
        }
    }

    #[test]
    fn annex_c_frames_are_opened_with_their_key_alone() {
        // IEEE 802.15.4-2006, C.2.2 and C.2.3: data of level 4, which has no MIC, and a command of level 6.
        let command = [
            0x2b, 0xdc, 0x84, 0x21, 0x43, 0x02, 0, 0, 0, 0, 0x48, 0xde, 0xac, 0xff, 0xff, 0x01, 0, 0, 0, 0,
            0x48, 0xde, 0xac, 0x06, 0x05, 0, 0, 0, 0x01, 0xd8, 0x4f, 0xde, 0x52, 0x90, 0x61, 0xf9, 0xc6,
            0xf1,
        ];
        let data = [
            0x69, 0xdc, 0x84, 0x21, 0x43, 0x02, 0, 0, 0, 0, 0x48, 0xde, 0xac, 0x01, 0, 0, 0, 0, 0x48, 0xde,
            0xac, 0x04, 0x05, 0, 0, 0, 0xd4, 0x3e, 0x02, 0x2b,
        ];
        let keys = BTreeMap::from([(1, [0; 16]), (7, KEY)]);
        assert_eq!(opened(&keys, &command), Ok(vec![0x01, 0xce]));
        assert_eq!(opened(&BTreeMap::from([(7, KEY)]), &data), Ok(b"abcd".to_vec()));
        assert_eq!(reason(opened(&keys, &data)), Some(Reason::Unsupported), "it names no key");
        let mut forged = command;
        forged[37] ^= 1;
        assert_eq!(reason(opened(&keys, &forged)), Some(Reason::BadMic));
        assert_eq!(reason(opened(&BTreeMap::new(), &command)), Some(Reason::NoKey));
    }

    #[test]
    fn a_mic_without_encryption_covers_the_payload() {
        let mut frame = vec![
            0x69, 0xdc, 0x84, 0x21, 0x43, 0x02, 0, 0, 0, 0, 0x48, 0xde, 0xac, 0x01, 0, 0, 0, 0, 0x48, 0xde,
            0xac, 0x0a, 0x05, 0, 0, 0, 9, b'c', b'l', b'e', b'a', b'r',
        ];
        let (header, length) = Header::parse(&frame).unwrap();
        let auxiliary = header.security.unwrap();
        let mut mic = Tag::empty(CcmTag::Eight);
        let nonce = auxiliary.nonce(Eui64([0xac, 0xde, 0x48, 0, 0, 0, 0, 1]));
        let key = Soft.aes_128(&KEY);
        Soft.ccm_seal(&key, CcmNonce::Thirteen(&nonce), &frame, &mut [], &mut mic);
        frame.extend(mic.bytes());
        let keys = BTreeMap::from([(9, KEY)]);
        assert_eq!(opened(&keys, &frame), Ok(b"clear".to_vec()));
        frame[length] ^= 1;
        assert_eq!(reason(opened(&keys, &frame)), Some(Reason::BadMic));
    }
}

//! Headers against the example frames of IEEE 802.15.4-2006 annex C, and for any value.

mod common;

use common::{address, frame_type, key_id, level};
use proptest::prelude::*;
use sixlock_base::Eui64;
use sixlock_ieee802154::{
    Address, AuxiliaryHeader, BROADCAST, Endpoint, Error, FrameType, Header, KeyId, SecurityLevel, Version,
};

const ANNEX_C_ONE: Address = Address::Extended(Eui64([0xac, 0xde, 0x48, 0, 0, 0, 0, 1]));
const ANNEX_C_TWO: Address = Address::Extended(Eui64([0xac, 0xde, 0x48, 0, 0, 0, 0, 2]));

fn annex_c(frame_type: FrameType, level: SecurityLevel) -> Header {
    Header {
        frame_type,
        pending: false,
        ack_request: false,
        version: Version::V2006,
        sequence: 0x84,
        destination: None,
        source: Some(Endpoint { pan_id: 0x4321, address: ANNEX_C_ONE }),
        security: Some(AuxiliaryHeader { level, key_id: KeyId::Implicit, frame_counter: 5 }),
    }
}

#[track_caller]
fn is_written_as(header: Header, frame: &[u8], len: usize) {
    assert_eq!(Header::parse(frame), Ok((header, len)));
    let mut out = [0; 64];
    assert_eq!(header.emit(&mut out), Ok(len));
    assert_eq!(out[..len], frame[..len]);
    assert_eq!(header.emit(&mut out[..len - 1]), Err(Error::BufferFull));
    for short in 0..len {
        assert_eq!(Header::parse(&frame[..short]), Err(Error::Truncated));
    }
}

#[test]
fn annex_c_beacon_frame() {
    let frame = [
        0x08, 0xd0, 0x84, 0x21, 0x43, 0x01, 0, 0, 0, 0, 0x48, 0xde, 0xac, 0x02, 0x05, 0, 0, 0, 0x55, 0xcf, 0,
        0, 0x51, 0x52, 0x53, 0x54, 0x22, 0x3b, 0xc1, 0xec, 0x84, 0x1a, 0xb5, 0x53,
    ];
    is_written_as(annex_c(FrameType::Beacon, SecurityLevel::Mic64), &frame, 18);
}

#[test]
fn annex_c_data_frame() {
    let frame = [
        0x69, 0xdc, 0x84, 0x21, 0x43, 0x02, 0, 0, 0, 0, 0x48, 0xde, 0xac, 0x01, 0, 0, 0, 0, 0x48, 0xde, 0xac,
        0x04, 0x05, 0, 0, 0, 0xd4, 0x3e, 0x02, 0x2b,
    ];
    let header = Header {
        ack_request: true,
        destination: Some(Endpoint { pan_id: 0x4321, address: ANNEX_C_TWO }),
        ..annex_c(FrameType::Data, SecurityLevel::Enc)
    };
    is_written_as(header, &frame, 26);
}

#[test]
fn annex_c_command_frame() {
    let frame = [
        0x2b, 0xdc, 0x84, 0x21, 0x43, 0x02, 0, 0, 0, 0, 0x48, 0xde, 0xac, 0xff, 0xff, 0x01, 0, 0, 0, 0, 0x48,
        0xde, 0xac, 0x06, 0x05, 0, 0, 0, 0x01, 0xd8, 0x4f, 0xde, 0x52, 0x90, 0x61, 0xf9, 0xc6, 0xf1,
    ];
    let header = Header {
        ack_request: true,
        destination: Some(Endpoint { pan_id: 0x4321, address: ANNEX_C_TWO }),
        source: Some(Endpoint { pan_id: BROADCAST, address: ANNEX_C_ONE }),
        ..annex_c(FrameType::Command, SecurityLevel::EncMic64)
    };
    is_written_as(header, &frame, 28);
}

#[test]
fn a_compressed_source_pan_id_is_the_destinations() {
    let frame = [0x41, 0x98, 7, 0xcd, 0xab, 0xff, 0xff, 0x34, 0x12, b'x'];
    let header = Header {
        frame_type: FrameType::Data,
        pending: false,
        ack_request: false,
        version: Version::V2006,
        sequence: 7,
        destination: Some(Endpoint { pan_id: 0xabcd, address: Address::Short(BROADCAST) }),
        source: Some(Endpoint { pan_id: 0xabcd, address: Address::Short(0x1234) }),
        security: None,
    };
    is_written_as(header, &frame, 9);
}

#[test]
fn what_cannot_be_read_is_refused_with_the_reason() {
    for (control, error) in [
        (0x0004u16, Error::FrameType),
        (0x0007, Error::FrameType),
        (0x2001, Error::Version),
        (0x3001, Error::Version),
        (0x0009, Error::LegacySecurity),
        (0x0401, Error::AddressingMode),
        (0x4001, Error::AddressingMode),
        (0x0841, Error::PanIdCompression),
        (0x8041, Error::PanIdCompression),
    ] {
        let mut frame = [0; 40];
        frame[..2].copy_from_slice(&control.to_le_bytes());
        assert_eq!(Header::parse(&frame), Err(error), "{control:04x}");
    }
}

#[test]
fn security_levels_protect_what_the_standard_says() {
    use SecurityLevel::*;
    let levels = [None, Mic32, Mic64, Mic128, Enc, EncMic32, EncMic64, EncMic128];
    for ((number, level), mic) in levels.into_iter().enumerate().zip([0, 4, 8, 16].into_iter().cycle()) {
        assert_eq!(usize::from(level.number()), number);
        assert_eq!(level.mic_len(), mic);
        assert_eq!(level.is_encrypted(), number >= 4);
    }
}

fn endpoint() -> impl Strategy<Value = Option<Endpoint>> {
    let pan_id = prop_oneof![Just(0xabcd), any::<u16>()];
    proptest::option::of((pan_id, address()).prop_map(|(pan_id, address)| Endpoint { pan_id, address }))
}

fn security() -> impl Strategy<Value = AuxiliaryHeader> {
    (level(), key_id(), any::<u32>()).prop_map(|(level, key_id, frame_counter)| AuxiliaryHeader {
        level,
        key_id,
        frame_counter,
    })
}

fn header() -> impl Strategy<Value = Header> {
    let protection = prop_oneof![
        Just((Version::V2003, None)),
        proptest::option::of(security()).prop_map(|security| (Version::V2006, security)),
    ];
    (frame_type(), any::<bool>(), any::<bool>(), any::<u8>(), endpoint(), endpoint(), protection).prop_map(
        |(frame_type, pending, ack_request, sequence, destination, source, (version, security))| Header {
            frame_type,
            pending,
            ack_request,
            version,
            sequence,
            destination,
            source,
            security,
        },
    )
}

proptest! {
    #[test]
    fn what_is_emitted_parses_back(header in header(), payload in proptest::collection::vec(any::<u8>(), 0..8)) {
        let mut frame = vec![0; header.emitted_len()];
        prop_assert_eq!(header.emit(&mut frame), Ok(frame.len()));
        frame.extend(&payload);
        prop_assert_eq!(Header::parse(&frame), Ok((header, frame.len() - payload.len())));
    }

    #[test]
    fn any_bytes_parse_or_are_refused(frame in proptest::collection::vec(any::<u8>(), 0..140)) {
        if let Ok((header, len)) = Header::parse(&frame) {
            prop_assert!(len <= frame.len());
            let mut out = [0; 64];
            let emitted = header.emit(&mut out).unwrap();
            prop_assert_eq!(Header::parse(&out[..emitted]), Ok((header, emitted)));
        }
    }
}

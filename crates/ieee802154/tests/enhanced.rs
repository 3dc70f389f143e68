//! Frames of version 2 against the examples of RFC 8180, appendix A, and for any value.

mod common;

use common::{address, frame_type, key_id, level};
use proptest::option;
use proptest::prelude::*;
use sixlock_base::Eui64;
use sixlock_ieee802154::enhanced::{
    Asn, CHANNEL_HOPPING, Element, ElementWriter, Follows, Header, HeaderElements, Link, MLME,
    NestedElements, NonceCounter, PayloadElements, SLOTFRAME_AND_LINK, SYNCHRONIZATION, Security, Slotframes,
    Synchronization, TIME_CORRECTION, TIMESLOT, TimeCorrection, Timeslot, TimeslotTimes,
};
use sixlock_ieee802154::{Address, BROADCAST, Error, FrameType, KeyId, SecurityLevel};

/// A.1: an enhanced beacon with the default timeslot template, of slot 0x05_04_03_02_01 and join metric 7.
const BEACON: [u8; 30] = [
    0x00, 0x3f, 0x1a, 0x88, 0x06, 0x1a, 1, 2, 3, 4, 5, 7, 0x01, 0x1c, 0x00, 0x01, 0xc8, 0x00, 0x0a, 0x1b,
    0x01, 0x00, 0x65, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x0f,
];

/// A.2: the content of its timeslot element of 15 ms.
const TIMESLOT_OF_15_MS: [u8; 25] = [
    0x01, 0x8c, 0x0a, 0x80, 0x00, 0x6c, 0x0c, 0x90, 0x06, 0xb0, 0x04, 0xdc, 0x05, 0xe4, 0x0c, 0x58, 0x02,
    0xc0, 0x00, 0x60, 0x09, 0xa0, 0x10, 0x98, 0x3a,
];

const MINIMAL: Link = Link { timeslot: 0, channel_offset: 0, options: 0x0f };

fn synchronization() -> Synchronization {
    Synchronization { asn: Asn::new(0x05_0403_0201).unwrap(), join_metric: 7 }
}

fn nested_of(elements: &[u8]) -> Vec<Element<'_>> {
    let mut headers = HeaderElements::new(elements);
    assert_eq!(headers.follows(), None, "not read yet");
    assert_eq!(headers.next(), None, "none but the termination");
    let Some((Follows::PayloadElements, rest)) = headers.follows() else { panic!("payload elements follow") };
    let mut payloads = PayloadElements::new(rest);
    let mlme = payloads.next().unwrap().unwrap();
    assert_eq!((mlme.id, payloads.next(), payloads.payload()), (MLME, None, Some(&[][..])));
    NestedElements::new(mlme.content).map(Result::unwrap).collect()
}

#[test]
fn a_beacon_is_that_of_the_example() {
    let mut out = [0; 64];
    let mut writer = ElementWriter::new(&mut out);
    let mut times = [0; Timeslot::MAX_LEN];
    writer.end_header(Follows::PayloadElements).unwrap();
    writer
        .mlme(|nested| {
            nested.short(SYNCHRONIZATION, &synchronization().emit())?;
            nested.short(TIMESLOT, Timeslot { template: 0, times: None }.emit(&mut times))?;
            nested.long(CHANNEL_HOPPING, &[0])?;
            nested.short(SLOTFRAME_AND_LINK, &Slotframes::emit_minimal(0, 101, MINIMAL))
        })
        .unwrap();
    let len = writer.len();
    assert_eq!(out[..len], BEACON);

    let nested = nested_of(&BEACON);
    assert_eq!(
        nested.iter().map(|element| element.id).collect::<Vec<_>>(),
        [SYNCHRONIZATION, TIMESLOT, CHANNEL_HOPPING, SLOTFRAME_AND_LINK]
    );
    assert_eq!(Synchronization::parse(nested[0].content), Ok(synchronization()));
    assert_eq!(Timeslot::parse(nested[1].content), Ok(Timeslot { template: 0, times: None }));
    assert_eq!(nested[2].content, [0]);
    let slotframes: Vec<_> = Slotframes::parse(nested[3].content).unwrap().map(Result::unwrap).collect();
    let [slotframe] = slotframes[..] else { panic!("one slotframe") };
    assert_eq!((slotframe.handle, slotframe.size), (0, 101));
    assert_eq!(slotframe.links().collect::<Vec<_>>(), [MINIMAL]);
}

#[test]
fn a_timeslot_of_its_own_is_that_of_the_example() {
    let times = TimeslotTimes {
        cca_offset: 2700,
        cca: 128,
        tx_offset: 3180,
        rx_offset: 1680,
        rx_ack_delay: 1200,
        tx_ack_delay: 1500,
        rx_wait: 3300,
        ack_wait: 600,
        rx_tx: 192,
        max_ack: 2400,
        max_tx: 4256,
        timeslot_length: 15_000,
    };
    let timeslot = Timeslot { template: 1, times: Some(times) };
    assert_eq!(timeslot.emit(&mut [0; Timeslot::MAX_LEN]), TIMESLOT_OF_15_MS);
    assert_eq!(Timeslot::parse(&TIMESLOT_OF_15_MS), Ok(timeslot));
    for len in [0, 2, 24] {
        assert_eq!(Timeslot::parse(&TIMESLOT_OF_15_MS[..len]), Err(Error::InformationElement));
    }
    let longer = [&TIMESLOT_OF_15_MS[..], &[0, 0]].concat();
    assert_eq!(Timeslot::parse(&longer), Err(Error::InformationElement), "times of three bytes");
}

#[test]
fn a_time_correction_is_signed_and_bounded() {
    let mut out = [0; 4];
    let correction = TimeCorrection { microseconds: -2, is_nack: false };
    ElementWriter::new(&mut out).header(TIME_CORRECTION, &correction.emit()).unwrap();
    assert_eq!(out, [0x02, 0x0f, 0xfe, 0x0f]);
    for microseconds in -2048..2048 {
        for is_nack in [false, true] {
            let correction = TimeCorrection { microseconds, is_nack };
            assert_eq!(TimeCorrection::parse(&correction.emit()), Ok(correction));
        }
    }
    for (microseconds, bounded) in [(i16::MAX, 2047), (i16::MIN, -2048)] {
        let correction = TimeCorrection { microseconds, is_nack: true };
        let bounded = TimeCorrection { microseconds: bounded, ..correction };
        assert_eq!(TimeCorrection::parse(&correction.emit()), Ok(bounded));
    }
    assert_eq!(TimeCorrection::parse(&[0]), Err(Error::InformationElement));
}

#[test]
fn a_slot_takes_the_place_of_the_frame_counter() {
    let security = Security {
        level: SecurityLevel::EncMic32,
        key_id: KeyId::Index(0x2a),
        counter: NonceCounter::Asn { frame_counter: None },
    };
    let header = Header {
        frame_type: FrameType::Ack,
        pending: false,
        ack_request: false,
        sequence: None,
        destination_pan_id: None,
        destination: None,
        source_pan_id: None,
        source: None,
        security: Some(security),
        elements: false,
    };
    let mut out = [0; 4];
    assert_eq!(header.emit(&mut out), Ok(4));
    assert_eq!(out[2..], [0x6d, 0x2a], "RFC 8180, A.4");
    assert_eq!(Header::parse(&out), Ok((header, 4)));
    out[2] &= !0x40;
    assert_eq!(Header::parse(&out), Err(Error::NoFrameCounter));

    let (source, asn) = (Eui64([1, 2, 3, 4, 5, 6, 7, 8]), Asn::new(0x0a_0b0c_0d0e).unwrap());
    assert_eq!(security.nonce(source, asn), [1, 2, 3, 4, 5, 6, 7, 8, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e]);
    let counted = Security { counter: NonceCounter::FrameCounter(0x0102_0304), ..security };
    assert_eq!(counted.nonce(source, asn), [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5]);
}

#[test]
fn slots_end_after_forty_bits() {
    assert_eq!(Asn::new(1 << 40), None);
    assert_eq!(Asn::MAX.after(1), None);
    assert_eq!(Asn::MAX.after(u64::MAX), None);
    assert_eq!(Asn::new(7).unwrap().after(101).map(Asn::number), Some(108));
    assert_eq!(Asn::from_le_bytes(Asn::MAX.to_le_bytes()), Asn::MAX);
}

#[test]
fn pan_ids_are_there_as_the_standards_table_says() {
    let (short, extended) = (Address::Short(BROADCAST), Address::Extended(Eui64([8; 8])));
    for (destination, source, compressed, destination_pan_id, source_pan_id) in [
        (None, None, false, false, false),
        (None, None, true, true, false),
        (Some(short), None, false, true, false),
        (Some(short), None, true, false, false),
        (None, Some(extended), false, false, true),
        (None, Some(extended), true, false, false),
        (Some(extended), Some(extended), false, true, false),
        (Some(extended), Some(extended), true, false, false),
        (Some(short), Some(short), false, true, true),
        (Some(short), Some(extended), true, true, false),
        (Some(extended), Some(short), true, true, false),
    ] {
        let header = Header {
            frame_type: FrameType::Data,
            pending: false,
            ack_request: false,
            sequence: Some(1),
            destination_pan_id: destination_pan_id.then_some(0xabcd),
            destination,
            source_pan_id: source_pan_id.then_some(0x1234),
            source,
            security: None,
            elements: false,
        };
        let mut out = [0; 32];
        let len = header.emit(&mut out).unwrap();
        assert_eq!(out[0] & 0x40 != 0, compressed, "{header:?}");
        assert_eq!(Header::parse(&out[..len]), Ok((header, len)));
        let wrong =
            Header { source_pan_id: (!source_pan_id).then_some(0), destination_pan_id: None, ..header };
        if (destination, source) != (None, Some(extended)) {
            assert_eq!(wrong.emit(&mut out), Err(Error::PanIdCompression), "{wrong:?}");
        }
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_the_reason() {
    for (control, error) in [
        (0x2004u16, Error::FrameType),
        (0x2007, Error::FrameType),
        (0x0001, Error::Version),
        (0x1001, Error::Version),
        (0x3001, Error::Version),
        (0x2401, Error::AddressingMode),
        (0x6001, Error::AddressingMode),
    ] {
        assert_eq!(Header::parse(&[control.to_le_bytes().as_slice(), &[0; 40]].concat()), Err(error));
    }
    let first = |bytes: &'static [u8]| HeaderElements::new(bytes).next();
    assert_eq!(first(&[0x02, 0x0f, 0]), Some(Err(Error::Truncated)));
    assert_eq!(first(&[0x02]), Some(Err(Error::Truncated)));
    assert_eq!(first(&[0x00, 0x88]), Some(Err(Error::InformationElement)), "a payload element");
    assert_eq!(first(&[0x01, 0x3f, 0]), Some(Err(Error::InformationElement)), "a termination with content");
    let first = |bytes: &'static [u8]| PayloadElements::new(bytes).next();
    assert_eq!(first(&[0x00, 0x3f]), Some(Err(Error::InformationElement)), "a header element");
    assert_eq!(first(&[0x01, 0xf8, 0]), Some(Err(Error::InformationElement)), "a termination with content");
    assert_eq!(Slotframes::parse(&[]).err(), Some(Error::InformationElement));
    let slotframes: Vec<_> = Slotframes::parse(&[2, 0, 101, 0, 0, 1]).unwrap().collect();
    assert!(matches!(slotframes[..], [Ok(_), Err(Error::Truncated)]), "{slotframes:?}");
}

#[test]
fn what_is_too_long_or_has_no_room_is_not_written() {
    let mut out = [0; 4096];
    let mut writer = ElementWriter::new(&mut out);
    assert!(writer.is_empty());
    assert_eq!(writer.header(1, &[0; 128]), Err(Error::InformationElement));
    assert_eq!(writer.short(1, &[0; 256]), Err(Error::InformationElement));
    assert_eq!(writer.long(1, &[0; 2048]), Err(Error::InformationElement));
    assert!(writer.is_empty());
    assert_eq!(writer.mlme(|nested| nested.long(1, &[0; 2046])), Err(Error::InformationElement));
    assert_eq!(ElementWriter::new(&mut [0; 3]).header(1, &[0; 2]), Err(Error::BufferFull));
}

fn security() -> impl Strategy<Value = Security> {
    let counter = prop_oneof![
        any::<u32>().prop_map(NonceCounter::FrameCounter),
        any::<Option<u32>>().prop_map(|frame_counter| NonceCounter::Asn { frame_counter }),
    ];
    (level(), key_id(), counter).prop_map(|(level, key_id, counter)| Security { level, key_id, counter })
}

fn header() -> impl Strategy<Value = Header> {
    let pan_ids = (any::<Option<u16>>(), any::<Option<u16>>());
    let flags = any::<[bool; 3]>();
    let security = option::of(security());
    (
        frame_type(),
        flags,
        any::<Option<u8>>(),
        pan_ids,
        option::of(address()),
        option::of(address()),
        security,
    )
        .prop_map(
            |(
                frame_type,
                [pending, ack_request, elements],
                sequence,
                pan_ids,
                destination,
                source,
                security,
            )| {
                let (destination_pan_id, source_pan_id) = pan_ids;
                Header {
                    frame_type,
                    pending,
                    ack_request,
                    sequence,
                    destination_pan_id,
                    destination,
                    source_pan_id,
                    source,
                    security,
                    elements,
                }
            },
        )
}

proptest! {
    #[test]
    fn what_is_emitted_parses_back(header in header(), payload in proptest::collection::vec(any::<u8>(), 0..8)) {
        let mut frame = vec![0; header.emitted_len()];
        match header.emit(&mut frame) {
            Ok(len) => prop_assert_eq!(len, frame.len()),
            Err(error) => {
                prop_assert_eq!(error, Error::PanIdCompression);
                return Ok(());
            }
        }
        for short in 0..frame.len() {
            prop_assert_eq!(Header::parse(&frame[..short]), Err(Error::Truncated));
            prop_assert_eq!(header.emit(&mut vec![0; short]), Err(Error::BufferFull));
        }
        frame.extend(&payload);
        prop_assert_eq!(Header::parse(&frame), Ok((header, frame.len() - payload.len())));
    }

    #[test]
    fn any_bytes_parse_or_are_refused(frame in proptest::collection::vec(any::<u8>(), 0..140)) {
        if let Ok((header, len)) = Header::parse(&frame) {
            let mut out = [0; 64];
            let emitted = header.emit(&mut out).unwrap();
            prop_assert_eq!(Header::parse(&out[..emitted]), Ok((header, emitted)));
            prop_assert!(len <= frame.len());
        }
    }

    #[test]
    fn elements_are_read_as_they_were_written(
        headers in proptest::collection::vec((0..HEADER_IDS, proptest::collection::vec(any::<u8>(), 0..20)), 0..4),
        nested in proptest::collection::vec(
            (0u8..128, any::<bool>(), proptest::collection::vec(any::<u8>(), 0..20)),
            0..4,
        ),
        payload in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        let mut out = [0; 256];
        let mut writer = ElementWriter::new(&mut out);
        for (id, content) in &headers {
            writer.header(*id, content).unwrap();
        }
        writer.end_header(Follows::PayloadElements).unwrap();
        writer
            .mlme(|writer| {
                nested.iter().try_for_each(|(id, long, content)| match long {
                    false => writer.short(*id, content),
                    true => writer.long(id & 0xf, content),
                })
            })
            .unwrap();
        writer.end_payload().unwrap();
        let len = writer.len();
        out[len..len + payload.len()].copy_from_slice(&payload);

        let mut read = HeaderElements::new(&out[..len + payload.len()]);
        for (id, content) in &headers {
            prop_assert_eq!(read.next(), Some(Ok(Element { id: *id, content })));
        }
        prop_assert_eq!(read.next(), None);
        let (follows, rest) = read.follows().unwrap();
        prop_assert_eq!(follows, Follows::PayloadElements);
        let mut read = PayloadElements::new(rest);
        let mlme = read.next().unwrap().unwrap();
        prop_assert_eq!((mlme.id, read.next()), (MLME, None));
        prop_assert_eq!(read.payload(), Some(&payload[..]));
        let mut read = NestedElements::new(mlme.content);
        for (id, long, content) in &nested {
            let id = if *long { id & 0xf } else { *id };
            prop_assert_eq!(read.next(), Some(Ok(Element { id, content })));
        }
        prop_assert_eq!(read.next(), None);
    }

    #[test]
    fn any_elements_are_read_or_refused(bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(0x3f), Just(0x88)], 0..60)) {
        let mut headers = HeaderElements::new(&bytes);
        let read: usize = headers.by_ref().map(|element| element.map_or(2, |element| 2 + element.content.len())).sum();
        let (_, rest) = headers.follows().unwrap();
        prop_assert!(read + rest.len() <= bytes.len() + 2);
        let mut payloads = PayloadElements::new(&bytes);
        for element in payloads.by_ref().flatten() {
            prop_assert!(NestedElements::new(element.content).count() <= element.content.len());
        }
        prop_assert!(payloads.payload().is_some());
        if let Ok(slotframes) = Slotframes::parse(&bytes) {
            prop_assert!(slotframes.flatten().map(|slotframe| slotframe.links().count()).sum::<usize>() * 5 <= bytes.len());
        }
    }
}

/// The header elements that end no others.
const HEADER_IDS: u8 = 0x7e;

//! Wireshark reads frames of version 2 as they were written.

mod support;

use sixlock_base::Eui64;
use sixlock_ieee802154::enhanced::{
    Asn, CHANNEL_HOPPING, ElementWriter, Follows, Header, Link, SLOTFRAME_AND_LINK, SYNCHRONIZATION,
    Slotframes, Synchronization, TIME_CORRECTION, TIMESLOT, TimeCorrection, Timeslot, TimeslotTimes,
};
use sixlock_ieee802154::{Address, BROADCAST, FrameType, fcs};
use sixlock_pcap::{HEADER, Timestamp, record};

const DEVICE: Address = Address::Extended(Eui64([0x02, 0, 0, 0, 0, 0, 0, 7]));

/// The whole frame: the header, what `elements` writes, and the FCS.
fn frame(header: Header, elements: impl FnOnce(&mut ElementWriter<'_>)) -> Vec<u8> {
    let mut frame = vec![0; 127];
    let len = header.emit(&mut frame).unwrap();
    let mut writer = ElementWriter::new(&mut frame[len..]);
    elements(&mut writer);
    let len = len + writer.len();
    frame.truncate(len);
    let fcs = fcs(&frame).to_le_bytes();
    frame.extend(fcs);
    frame
}

/// The values of `fields` in each of `frames`, and at last what Wireshark has to say against it.
fn tshark(name: &str, frames: &[Vec<u8>], fields: &[&str]) -> Vec<Vec<String>> {
    let mut capture = HEADER.to_vec();
    for frame in frames {
        capture.extend(record(Timestamp { seconds: 0, micros: 0 }, frame.len() as u32));
        capture.extend(frame);
    }
    support::tshark(name, &capture, None, &["wpan.fcs_format:ITU-T CRC-16"], fields)
}

fn beacon() -> Header {
    Header {
        frame_type: FrameType::Beacon,
        pending: false,
        ack_request: false,
        sequence: None,
        destination_pan_id: Some(0xabcd),
        destination: Some(Address::Short(BROADCAST)),
        source_pan_id: None,
        source: Some(DEVICE),
        security: None,
        elements: true,
    }
}

#[test]
fn an_enhanced_beacon_is_read() {
    let asn = Asn::new(0x05_0403_0201).unwrap();
    let times = TimeslotTimes { timeslot_length: 15_000, ..TimeslotTimes::DEFAULT };
    let links = Link { timeslot: 3, channel_offset: 4, options: 0x0f };
    let frame = frame(beacon(), |writer| {
        writer.end_header(Follows::PayloadElements).unwrap();
        let timeslot = Timeslot { template: 1, times: Some(times) };
        writer
            .mlme(|nested| {
                nested.short(SYNCHRONIZATION, &Synchronization { asn, join_metric: 7 }.emit())?;
                nested.short(TIMESLOT, timeslot.emit(&mut [0; Timeslot::MAX_LEN]))?;
                nested.long(CHANNEL_HOPPING, &[0])?;
                nested.short(SLOTFRAME_AND_LINK, &Slotframes::emit_minimal(0, 101, links))
            })
            .unwrap();
    });
    let fields = [
        "wpan.dst_pan",
        "wpan.dst16",
        "wpan.src64",
        "wpan.tsch.asn",
        "wpan.tsch.join_metric",
        "wpan.tsch.timeslot.tx_offset",
        "wpan.tsch.timeslot.length",
        "wpan.tsch.hopping_sequence_id",
        "wpan.tsch.slotframe_size",
        "wpan.tsch.link_timeslot",
        "wpan.tsch.channel_offset",
        "wpan.tsch.link_options.timekeeping",
        "wpan.fcs_ok",
    ];
    let [read] = &tshark("beacon", &[frame], &fields)[..] else { panic!("one frame") };
    let expected = [
        "0xabcd",
        "0xffff",
        "02:00:00:00:00:00:00:07",
        &asn.number().to_string(),
        "7",
        "2120",
        "15000",
        "0x00",
        "101",
        "3",
        "4",
        "1",
        "1",
        "",
        "",
    ];
    assert_eq!(read[..], expected);
}

#[test]
fn acknowledgements_with_their_time_corrections_are_read() {
    let frames: Vec<_> = [(-2048, false), (-1, false), (0, true), (2047, true)]
        .into_iter()
        .map(|(microseconds, is_nack)| {
            let header = Header {
                frame_type: FrameType::Ack,
                sequence: Some(9),
                destination: Some(DEVICE),
                source: None,
                ..beacon()
            };
            frame(header, |writer| {
                writer.header(TIME_CORRECTION, &TimeCorrection { microseconds, is_nack }.emit()).unwrap();
            })
        })
        .collect();
    let fields = ["wpan.seq_no", "wpan.header_ie.time_correction.value", "wpan.nack"];
    let read = tshark("acks", &frames, &fields);
    let expected = [["9", "-2048", "0"], ["9", "-1", "0"], ["9", "0", "1"], ["9", "2047", "1"]];
    for (read, expected) in read.iter().zip(expected) {
        assert_eq!(read[..], [&expected[..], &["", ""]].concat());
    }
    assert_eq!(read.len(), expected.len());
}

//! The format of captures: classic pcap.

use std::error::Error;
use std::fmt;
use std::io::{self, Read};

/// The longest frame that a record may hold: no radio sends one as long, so that a damaged length is noticed.
const MAX_RECORD: u32 = 0x1_0000;

/// LINKTYPE_IEEE802_15_4_WITHFCS.
const WITH_FCS: u32 = 195;
/// LINKTYPE_IEEE802_15_4_NOFCS.
const WITHOUT_FCS: u32 = 230;
/// LINKTYPE_IEEE802_15_4_TAP.
const TAP: u32 = 283;

/// A capture that is read record by record.
pub struct Capture<R> {
    input: R,
    big_endian: bool,
    /// Whether timestamps count nanoseconds.
    nanoseconds: bool,
    link_type: u32,
    records: u64,
}

/// One captured frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Microseconds since the capture's origin.
    pub us: u64,
    /// The frame, without what a TAP header says of it.
    pub frame: Vec<u8>,
    /// Whether the frame ends with its FCS.
    pub fcs: bool,
    /// Bytes of the frame that were not captured.
    pub missing: u32,
}

/// Why a capture cannot be read on.
#[derive(Debug)]
pub enum CaptureError {
    /// Reading failed.
    Io(io::Error),
    /// It is no classic pcap.
    NotPcap,
    /// It is the newer format.
    PcapNg,
    /// It holds frames of another link.
    LinkType(u32),
    /// It ends inside a record.
    Truncated {
        /// Which record, counted from 1.
        record: u64,
    },
    /// A record has a length that cannot be.
    Damaged {
        /// Which record, counted from 1.
        record: u64,
        /// The length.
        length: u32,
    },
    /// What stands before a frame is no TAP header.
    Tap {
        /// Which record, counted from 1.
        record: u64,
    },
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::NotPcap => f.write_str("it is no pcap file"),
            Self::PcapNg => {
                f.write_str("it is a pcapng file; make a pcap file of it with: editcap -F pcap OLD NEW")
            }
            Self::LinkType(link_type) => write!(
                f,
                "its link type is {link_type}; decode reads IEEE 802.15.4: link types {WITH_FCS} (with FCS), {WITHOUT_FCS} (without) and {TAP} (TAP)"
            ),
            Self::Truncated { record } => write!(f, "it ends inside record {record}"),
            Self::Damaged { record, length } => {
                write!(f, "it is damaged: record {record} has {length} bytes, as it says")
            }
            Self::Tap { record } => write!(f, "record {record} does not begin with a whole TAP header"),
        }
    }
}

impl Error for CaptureError {}

impl From<io::Error> for CaptureError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Fills `out` and says how much of it there was to fill it with.
fn fill(input: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(room) = out.get_mut(filled..).filter(|room| !room.is_empty()) {
        match input.read(room) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

impl<R: Read> Capture<R> {
    /// Reads the head of a capture.
    ///
    /// # Errors
    /// When it is no capture of IEEE 802.15.4, or reading fails.
    pub fn new(mut input: R) -> Result<Self, CaptureError> {
        let mut head = [0; 24];
        let filled = fill(&mut input, &mut head)?;
        let [m0, m1, m2, m3, .., l0, l1, l2, l3] = head;
        let (big_endian, nanoseconds) = match [m0, m1, m2, m3] {
            [0xd4, 0xc3, 0xb2, 0xa1] => (false, false),
            [0xa1, 0xb2, 0xc3, 0xd4] => (true, false),
            [0x4d, 0x3c, 0xb2, 0xa1] => (false, true),
            [0xa1, 0xb2, 0x3c, 0x4d] => (true, true),
            [0x0a, 0x0d, 0x0d, 0x0a] => return Err(CaptureError::PcapNg),
            _ => return Err(CaptureError::NotPcap),
        };
        if filled < head.len() {
            return Err(CaptureError::NotPcap);
        }
        let mut capture = Self { input, big_endian, nanoseconds, link_type: 0, records: 0 };
        // The upper bits say how long the FCS of other links is.
        capture.link_type = capture.number([l0, l1, l2, l3]) & 0xffff;
        match capture.link_type {
            WITH_FCS | WITHOUT_FCS | TAP => Ok(capture),
            other => Err(CaptureError::LinkType(other)),
        }
    }

    fn number(&self, bytes: [u8; 4]) -> u32 {
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    fn record(&mut self) -> Result<Option<Record>, CaptureError> {
        let mut head = [0; 16];
        let filled = fill(&mut self.input, &mut head)?;
        if filled == 0 {
            return Ok(None);
        }
        self.records += 1;
        let record = self.records;
        if filled < head.len() {
            return Err(CaptureError::Truncated { record });
        }
        let [seconds, fraction, captured, length] = head.as_chunks::<4>().0 else {
            return Err(CaptureError::Truncated { record });
        };
        let [seconds, fraction, captured, length] =
            [seconds, fraction, captured, length].map(|&bytes| self.number(bytes));
        if captured > MAX_RECORD {
            return Err(CaptureError::Damaged { record, length: captured });
        }
        let mut frame = vec![0; captured as usize];
        if fill(&mut self.input, &mut frame)? < frame.len() {
            return Err(CaptureError::Truncated { record });
        }
        let micros = if self.nanoseconds { fraction / 1000 } else { fraction };
        let mut fcs = self.link_type == WITH_FCS;
        if self.link_type == TAP {
            let (behind, with_fcs) = tap(&frame).ok_or(CaptureError::Tap { record })?;
            fcs = with_fcs;
            frame.drain(..behind);
        }
        let us = u64::from(seconds) * 1_000_000 + u64::from(micros);
        Ok(Some(Record { us, frame, fcs, missing: length.saturating_sub(captured) }))
    }
}

impl<R: Read> Iterator for Capture<R> {
    type Item = Result<Record, CaptureError>;

    /// The next record. After an error there is none that makes sense.
    fn next(&mut self) -> Option<Self::Item> {
        self.record().transpose()
    }
}

/// Length of the TAP header before a frame, and whether the frame ends with an FCS of 16 bits
/// ([the format](https://github.com/jkcko/ieee802.15.4-tap)).
fn tap(record: &[u8]) -> Option<(usize, bool)> {
    const FCS_TYPE: u16 = 0;
    const FCS_16: u8 = 1;
    let &[version, _, l0, l1, ..] = record else { return None };
    let length = usize::from(u16::from_le_bytes([l0, l1]));
    let mut fields = record.get(4..length)?;
    let mut fcs = false;
    if version != 0 {
        return None;
    }
    while let &[t0, t1, l0, l1, ref rest @ ..] = fields {
        let value_length = usize::from(u16::from_le_bytes([l0, l1]));
        let value = rest.get(..value_length)?;
        if u16::from_le_bytes([t0, t1]) == FCS_TYPE {
            fcs = value.first() == Some(&FCS_16);
        }
        fields = rest.get(value_length.next_multiple_of(4)..)?;
    }
    Some((length, fcs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn capture(magic: [u8; 4], link_type: [u8; 4], records: &[&[u8]]) -> Vec<u8> {
        [&magic[..], &[0; 16], &link_type, &records.concat()].concat()
    }

    fn read(file: &[u8]) -> Result<Vec<Record>, CaptureError> {
        Capture::new(file)?.collect()
    }

    const LITTLE: [u8; 4] = [0xd4, 0xc3, 0xb2, 0xa1];

    #[test]
    fn records_are_read_in_either_order_of_bytes() {
        let expected = Record { us: 3_000_020, frame: vec![7, 8], fcs: true, missing: 3 };
        let little = [3, 0, 0, 0, 20, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 7, 8];
        let big = [0, 0, 0, 3, 0, 0, 0x4e, 0x20, 0, 0, 0, 2, 0, 0, 0, 5, 7, 8];
        let little = capture(LITTLE, [195, 0, 0, 0], &[&little]);
        // This one counts nanoseconds, and says how long its FCS is.
        let big = capture([0xa1, 0xb2, 0x3c, 0x4d], [0x14, 0, 0, 195], &[&big]);
        let expected = [expected];
        assert_eq!(read(&little).unwrap(), expected);
        assert_eq!(read(&big).unwrap(), expected);
    }

    #[test]
    fn a_tap_header_says_whether_there_is_an_fcs() {
        let record = |fcs| {
            [0, 0, 0, 0, 0, 0, 0, 0, 14, 0, 0, 0, 14, 0, 0, 0, 0, 0, 12, 0, 0, 0, 1, 0, fcs, 0, 0, 0, 7, 8]
        };
        for (byte, fcs) in [(0, false), (1, true)] {
            let records = read(&capture(LITTLE, [0x1b, 1, 0, 0], &[&record(byte)])).unwrap();
            assert_eq!(records, [Record { us: 0, frame: vec![7, 8], fcs, missing: 0 }]);
        }
        let mut short = record(1);
        short[18] = 15;
        let short = read(&capture(LITTLE, [0x1b, 1, 0, 0], &[&short]));
        assert!(matches!(short, Err(CaptureError::Tap { record: 1 })));
    }

    #[test]
    fn what_is_no_capture_of_this_link_is_refused_with_the_reason() {
        assert!(matches!(read(b"sixlock"), Err(CaptureError::NotPcap)));
        assert!(matches!(read(&LITTLE), Err(CaptureError::NotPcap)));
        assert!(matches!(read(&[0x0a, 0x0d, 0x0d, 0x0a, 0, 0]), Err(CaptureError::PcapNg)));
        assert!(matches!(read(&capture(LITTLE, [1, 0, 0, 0], &[])), Err(CaptureError::LinkType(1))));
        let record = [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 7, 8];
        let file = capture(LITTLE, [230, 0, 0, 0], &[&record, &record[..17]]);
        assert!(matches!(read(&file), Err(CaptureError::Truncated { record: 2 })));
        let mut damaged = capture(LITTLE, [230, 0, 0, 0], &[&record]);
        damaged[34] = 1;
        damaged[35] = 0xff;
        assert!(matches!(read(&damaged), Err(CaptureError::Damaged { record: 1, .. })));
    }

    proptest! {
        #[test]
        fn any_file_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), is_capture: bool, tap: bool) {
            let file = match is_capture {
                true => capture(LITTLE, if tap { [0x1b, 1, 0, 0] } else { [195, 0, 0, 0] }, &[&bytes]),
                false => bytes,
            };
            if let Ok(records) = read(&file) {
                prop_assert!(records.iter().map(|record| record.frame.len() + 16).sum::<usize>() < file.len());
            }
        }
    }
}

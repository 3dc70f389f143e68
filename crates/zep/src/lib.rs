//! IEEE 802.15.4 frames in UDP datagrams: the ZigBee Encapsulation Protocol, version 2, which Wireshark reads and RIOT's
//! native boards speak. What joins a channel greets its hub, and from then on every frame that one sends reaches all.
//!
//! A datagram is a header of [`HEADER`] bytes, numbers big-endian, and the frame with its FCS; a greeting is a header alone, and an
//! acknowledgement [`ACKNOWLEDGEMENT`] bytes.
#![no_std]

use core::fmt;

/// The UDP port of ZEP.
pub const PORT: u16 = 17754;

/// Length of what stands before a frame, in bytes.
pub const HEADER: usize = 32;

/// Length of an acknowledgement, in bytes.
pub const ACKNOWLEDGEMENT: usize = 8;

const PREAMBLE: [u8; 2] = *b"EX";
const VERSION: u8 = 2;
const DATA: u8 = 1;
const ACK: u8 = 2;
const HELLO: u8 = 255;
/// The frame ends with its FCS, not with what a CC2420 puts in its place.
const WITH_FCS: u8 = 1;
/// As good as a link can be.
const QUALITY: u8 = 255;

/// What is said of a frame beside its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The radio channel, 11 to 26.
    pub channel: u8,
    /// Which device sent it.
    pub device: u16,
    /// When, as NTP has it: seconds since 1900 and their fraction of 2^32.
    pub timestamp: (u32, u32),
    /// The frame's number among those of its device.
    pub sequence: u32,
}

/// What a datagram is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datagram<'a> {
    /// A frame.
    Frame(Header, &'a [u8]),
    /// Somebody joins, or says that they are still there.
    Hello,
    /// An acknowledgement of this number.
    Acknowledgement(u32),
}

/// Why a datagram is none of ZEP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// It is shorter than it says.
    Truncated,
    /// It is of another protocol or version.
    NotZep,
    /// It is of a type that is not known.
    OtherType,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the datagram is shorter than it says",
            Self::NotZep => "the datagram is of another protocol or version than ZEP 2",
            Self::OtherType => "the datagram is of a type that is not known",
        })
    }
}

impl core::error::Error for Error {}

/// What stands before a frame of `len` bytes, at most 127.
#[rustfmt::skip]
pub fn emit(header: &Header, len: u8) -> [u8; HEADER] {
    let (seconds, fraction) = header.timestamp;
    let ([e, x], [d0, d1]) = (PREAMBLE, header.device.to_be_bytes());
    let ([s0, s1, s2, s3], [f0, f1, f2, f3]) = (seconds.to_be_bytes(), fraction.to_be_bytes());
    let [n0, n1, n2, n3] = header.sequence.to_be_bytes();
    [
        e, x, VERSION, DATA, header.channel, d0, d1, WITH_FCS, QUALITY, s0, s1, s2, s3, f0, f1, f2, f3, n0, n1, n2, n3,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, len, // ten bytes are reserved
    ]
}

/// A greeting.
pub fn hello() -> [u8; HEADER] {
    let nobody = Header { channel: 0, device: 0, timestamp: (0, 0), sequence: 0 };
    let mut out = emit(&nobody, 0);
    out[3] = HELLO;
    out
}

/// An acknowledgement.
pub fn acknowledgement(number: u32) -> [u8; ACKNOWLEDGEMENT] {
    let ([e, x], [n0, n1, n2, n3]) = (PREAMBLE, number.to_be_bytes());
    [e, x, VERSION, ACK, n0, n1, n2, n3]
}

/// Reads a datagram.
///
/// # Errors
/// When it is none of ZEP, version 2, or of an unknown type.
pub fn parse(datagram: &[u8]) -> Result<Datagram<'_>, Error> {
    if let [b'E', b'X', VERSION, ACK, number @ ..] = datagram {
        let number = number.first_chunk().ok_or(Error::Truncated)?;
        return Ok(Datagram::Acknowledgement(u32::from_be_bytes(*number)));
    }
    let (header, frame) = datagram.split_first_chunk::<HEADER>().ok_or(Error::Truncated)?;
    let [e, x, version, kind, channel, d0, d1, _, _, s0, s1, s2, s3, f0, f1, f2, f3, n0, n1, n2, n3, .., len] =
        *header;
    if ([e, x], version) != (PREAMBLE, VERSION) {
        return Err(Error::NotZep);
    }
    match kind {
        DATA => {
            let frame = frame.get(..len.into()).ok_or(Error::Truncated)?;
            let header = Header {
                channel,
                device: u16::from_be_bytes([d0, d1]),
                timestamp: (u32::from_be_bytes([s0, s1, s2, s3]), u32::from_be_bytes([f0, f1, f2, f3])),
                sequence: u32::from_be_bytes([n0, n1, n2, n3]),
            };
            Ok(Datagram::Frame(header, frame))
        }
        HELLO => Ok(Datagram::Hello),
        _ => Err(Error::OtherType),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;
    use std::vec::Vec;

    const ANY: Header =
        Header { channel: 26, device: 0x0102, timestamp: (0x1112_1314, 0x2122_2324), sequence: 0x3132_3334 };

    #[test]
    fn the_fields_stand_where_wireshark_reads_them() {
        let mut expected = [0; HEADER];
        expected[..21].copy_from_slice(
            b"EX\x02\x01\x1a\x01\x02\x01\xff\x11\x12\x13\x14\x21\x22\x23\x24\x31\x32\x33\x34",
        );
        expected[31] = 3;
        assert_eq!(emit(&ANY, 3), expected);
    }

    #[test]
    fn what_is_not_a_frame_is_told() {
        assert_eq!(parse(&hello()), Ok(Datagram::Hello));
        let header = emit(&ANY, 3);
        assert_eq!(parse(&header), Err(Error::Truncated));
        assert_eq!(parse(&header[..31]), Err(Error::Truncated));
        assert_eq!(acknowledgement(0x0102_0304), *b"EX\x02\x02\x01\x02\x03\x04");
        assert_eq!(parse(&acknowledgement(7)), Ok(Datagram::Acknowledgement(7)));
        assert_eq!(parse(&acknowledgement(7)[..7]), Err(Error::Truncated));
        for (place, byte, error) in
            [(0, b'e', Error::NotZep), (2, 1, Error::NotZep), (3, 3, Error::OtherType)]
        {
            let mut other = header;
            other[place] = byte;
            assert_eq!(parse(&other), Err(error));
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            channel: u8, device: u16, timestamp: (u32, u32), sequence: u32, frame in prop::collection::vec(any::<u8>(), 0..128)
        ) {
            let header = Header { channel, device, timestamp, sequence };
            let mut datagram = emit(&header, frame.len() as u8).to_vec();
            datagram.extend(&frame);
            prop_assert_eq!(parse(&datagram), Ok(Datagram::Frame(header, &frame)));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            let _ = parse(&bytes);
        }
    }
}

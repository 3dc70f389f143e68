use crate::{Error, SequenceNumber, Window, reader::Reader};

/// Length of a record header, in bytes.
pub const RECORD_HEADER: usize = 13;
/// Where a record header has the length, if no connection id stands before it.
const LENGTH: usize = 11;

/// The whole content of a ChangeCipherSpec record.
pub const CHANGE_CIPHER_SPEC: [u8; 1] = [1];

/// A protocol version as it stands on the wire: the ones' complement of the digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(pub u16);

impl Version {
    /// DTLS 1.0.
    pub const DTLS_1_0: Self = Self(0xfeff);
    /// DTLS 1.2.
    pub const DTLS_1_2: Self = Self(0xfefd);

    /// Whether this is a version of DTLS.
    pub const fn is_dtls(self) -> bool {
        self.0 >> 8 == 0xfe
    }

    /// Whether this is DTLS 1.2 or later: later versions have smaller numbers.
    pub const fn is_at_least_1_2(self) -> bool {
        self.is_dtls() && self.0 <= Self::DTLS_1_2.0
    }
}

/// What a record carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ContentType {
    /// The sender's next epoch begins.
    ChangeCipherSpec = 20,
    /// An alert.
    Alert = 21,
    /// Handshake messages or fragments of them.
    Handshake = 22,
    /// Application data.
    ApplicationData = 23,
    /// A connection id stands in the header, and the type of the content behind the content
    /// ([RFC 9146](https://www.rfc-editor.org/rfc/rfc9146)).
    ConnectionId = 25,
}

impl ContentType {
    /// The type with this number.
    pub const fn from_u8(value: u8) -> Result<Self, Error> {
        Ok(match value {
            20 => Self::ChangeCipherSpec,
            21 => Self::Alert,
            22 => Self::Handshake,
            23 => Self::ApplicationData,
            25 => Self::ConnectionId,
            _ => return Err(Error::UnknownType),
        })
    }
}

/// A record header ([RFC 6347 section 4.1](https://www.rfc-editor.org/rfc/rfc6347#section-4.1)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHeader {
    /// What the record carries.
    pub content_type: ContentType,
    /// The version the record is written in.
    pub version: Version,
    /// Which keys protect the record; 0 stands for none.
    pub epoch: u16,
    /// The record's number in its epoch.
    pub sequence_number: SequenceNumber,
    /// Length of what follows the header, in bytes.
    pub length: u16,
}

impl RecordHeader {
    /// Reads the header at the front of `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        Ok(Self {
            content_type: ContentType::from_u8(reader.u8()?)?,
            version: Version(reader.u16()?),
            epoch: reader.u16()?,
            sequence_number: SequenceNumber::from_bytes(*reader.array()?),
            length: reader.u16()?,
        })
    }

    /// Reads the header at the front of `bytes`, which carries a connection id of `id_length` bytes
    /// if it is of that type, and lends the id
    /// ([RFC 9146 section 4](https://www.rfc-editor.org/rfc/rfc9146#section-4)).
    pub fn parse_with_id(bytes: &[u8], id_length: usize) -> Result<(Self, &[u8]), Error> {
        let mut header = Self::parse(bytes)?;
        if header.content_type != ContentType::ConnectionId {
            return Ok((header, &[]));
        }
        let mut reader = Reader::new(bytes);
        reader.bytes(LENGTH)?;
        let id = reader.bytes(id_length)?;
        header.length = reader.u16()?;
        Ok((header, id))
    }

    /// Writes the header with a connection id in it, which takes [`RECORD_HEADER`] bytes and the id's.
    pub fn emit_with_id(self, id: &[u8], window: &mut Window<'_>) {
        let bytes = self.to_bytes();
        let (front, length) = bytes.split_at(LENGTH);
        window.put(front);
        window.put(id);
        window.put(length);
    }

    /// The header's bytes.
    pub fn to_bytes(self) -> [u8; RECORD_HEADER] {
        let mut bytes = [0; RECORD_HEADER];
        bytes[0] = self.content_type as u8;
        bytes[1..3].copy_from_slice(&self.version.0.to_be_bytes());
        bytes[3..5].copy_from_slice(&self.epoch.to_be_bytes());
        bytes[5..11].copy_from_slice(&self.sequence_number.to_bytes());
        bytes[11..].copy_from_slice(&self.length.to_be_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;

    #[test]
    fn a_header_has_its_published_layout() {
        let header = RecordHeader {
            content_type: ContentType::Handshake,
            version: Version::DTLS_1_2,
            epoch: 1,
            sequence_number: SequenceNumber::new(2, 3),
            length: 0x0405,
        };
        let bytes = [22, 0xfe, 0xfd, 0, 1, 0, 2, 0, 0, 0, 3, 4, 5];
        assert_eq!(header.to_bytes(), bytes);
        assert_eq!(RecordHeader::parse(&bytes), Ok(header));
        assert_eq!(RecordHeader::parse(&bytes[..12]), Err(Error::Truncated));
        assert_eq!(RecordHeader::parse(&[99; 13]), Err(Error::UnknownType));
    }

    proptest! {
        #[test]
        fn what_parses_with_an_id_is_emitted_again(mut bytes in prop::collection::vec(any::<u8>(), 0..40), id_length in 0usize..10) {
            if let Some(first) = bytes.first_mut() { *first = ContentType::ConnectionId as u8; }
            match RecordHeader::parse_with_id(&bytes, id_length) {
                Ok((header, id)) => {
                    let mut out = [0; 64];
                    let mut window = Window::new(0, &mut out);
                    header.emit_with_id(id, &mut window);
                    let filled = window.filled();
                    prop_assert_eq!((filled, &out[..filled]), (RECORD_HEADER + id_length, &bytes[..filled]));
                }
                Err(_) => prop_assert!(bytes.len() < RECORD_HEADER + id_length),
            }
        }

        #[test]
        fn what_parses_is_emitted_again(mut bytes in prop::collection::vec(any::<u8>(), 0..20), kind in 18u8..26) {
            if let Some(first) = bytes.first_mut() { *first = kind; }
            if let Ok(header) = RecordHeader::parse(&bytes) {
                prop_assert_eq!(&header.to_bytes()[..], &bytes[..RECORD_HEADER]);
            }
        }
    }
}

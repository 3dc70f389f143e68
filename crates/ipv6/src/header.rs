use core::net::Ipv6Addr;

use crate::Error;

/// Values of the next header field.
pub mod next_header {
    /// Hop-by-hop options.
    pub const HOP_BY_HOP: u8 = 0;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// An IPv6 packet inside the packet.
    pub const IPV6: u8 = 41;
    /// Routing header.
    pub const ROUTING: u8 = 43;
    /// Fragment header.
    pub const FRAGMENT: u8 = 44;
    /// Encapsulating security payload.
    pub const ESP: u8 = 50;
    /// Authentication header.
    pub const AH: u8 = 51;
    /// ICMPv6.
    pub const ICMPV6: u8 = 58;
    /// Nothing follows.
    pub const NONE: u8 = 59;
    /// Destination options.
    pub const DESTINATION: u8 = 60;
}

/// The fixed IPv6 header ([RFC 8200 section 3](https://www.rfc-editor.org/rfc/rfc8200#section-3)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Differentiated services (6 bits) and congestion notification (2 bits).
    pub traffic_class: u8,
    /// The flow label, 20 bits.
    pub flow_label: u32,
    /// Bytes behind this header, extension headers included.
    pub payload_length: u16,
    /// What follows this header.
    pub next_header: u8,
    /// Hops the packet may still make.
    pub hop_limit: u8,
    /// Where the packet comes from.
    pub source: Ipv6Addr,
    /// Where the packet goes.
    pub destination: Ipv6Addr,
}

impl Header {
    /// Length of the header in bytes.
    pub const LEN: usize = 40;
    /// Where the payload length stands.
    pub const PAYLOAD_LENGTH_AT: usize = 4;
    /// Where the next header field stands.
    pub const NEXT_HEADER_AT: usize = 6;
    /// Where the hop limit stands.
    pub const HOP_LIMIT_AT: usize = 7;
    /// Where the source stands.
    pub const SOURCE_AT: usize = 8;
    /// Where the destination stands.
    pub const DESTINATION_AT: usize = 24;

    /// The address that stands there in `packet`: [`Header::SOURCE_AT`] or [`Header::DESTINATION_AT`].
    pub fn address_at(packet: &[u8], at: usize) -> Option<&[u8; 16]> {
        packet.get(at..)?.first_chunk()
    }

    /// Splits `packet` into its header and the payload the header announces; link-layer
    /// padding behind it is left out.
    pub fn parse(packet: &[u8]) -> Result<(Self, &[u8]), Error> {
        let (header, rest) = packet.split_first_chunk::<{ Self::LEN }>().ok_or(Error::Truncated)?;
        let [b0, b1, b2, b3, length_high, length_low, next_header, hop_limit, addresses @ ..] = header;
        if b0 >> 4 != 6 {
            return Err(Error::Version);
        }
        let mut source = [0; 16];
        let mut destination = [0; 16];
        source.copy_from_slice(&addresses[..16]);
        destination.copy_from_slice(&addresses[16..]);
        let payload_length = u16::from_be_bytes([*length_high, *length_low]);
        let payload = rest.get(..payload_length as usize).ok_or(Error::Length)?;
        let header = Self {
            traffic_class: b0 << 4 | b1 >> 4,
            flow_label: u32::from_be_bytes([0, b1 & 0x0f, *b2, *b3]),
            payload_length,
            next_header: *next_header,
            hop_limit: *hop_limit,
            source: source.into(),
            destination: destination.into(),
        };
        Ok((header, payload))
    }

    /// Writes the header to the start of `out`.
    pub fn emit(&self, out: &mut [u8]) -> Result<(), Error> {
        let out = out.first_chunk_mut::<{ Self::LEN }>().ok_or(Error::Truncated)?;
        let [_, flow_high, flow_middle, flow_low] = self.flow_label.to_be_bytes();
        out[0] = 0x60 | self.traffic_class >> 4;
        out[1] = self.traffic_class << 4 | flow_high & 0x0f;
        out[2] = flow_middle;
        out[3] = flow_low;
        out[4..6].copy_from_slice(&self.payload_length.to_be_bytes());
        out[6] = self.next_header;
        out[7] = self.hop_limit;
        out[8..24].copy_from_slice(&self.source.octets());
        out[24..].copy_from_slice(&self.destination.octets());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;

    proptest! {
        #[test]
        fn parse_returns_what_emit_wrote(
            traffic_class: u8, flow_label in 0u32..1 << 20, payload in proptest::collection::vec(any::<u8>(), 0..64),
            next_header: u8, hop_limit: u8, source: u128, destination: u128,
        ) {
            let header = Header {
                traffic_class, flow_label, payload_length: payload.len() as u16, next_header, hop_limit,
                source: source.into(), destination: destination.into(),
            };
            let mut packet = std::vec![0; Header::LEN];
            header.emit(&mut packet).unwrap();
            packet.extend(&payload);
            packet.push(0xff); // link-layer padding
            prop_assert_eq!(Header::parse(&packet), Ok((header, &payload[..])));
        }

        #[test]
        fn any_bytes_parse_or_fail(bytes in proptest::collection::vec(any::<u8>(), 0..96)) {
            if let Ok((header, payload)) = Header::parse(&bytes) {
                let mut again = [0; Header::LEN];
                header.emit(&mut again).unwrap();
                prop_assert_eq!(&bytes[..Header::LEN], &again);
                prop_assert_eq!(payload.len(), header.payload_length as usize);
            }
        }
    }

    #[test]
    fn what_is_no_packet_is_refused_with_the_reason() {
        let mut packet = [0u8; 44];
        packet[0] = 0x60;
        packet[5] = 4;
        assert!(Header::parse(&packet).is_ok());
        assert_eq!(Header::parse(&packet[..39]), Err(Error::Truncated));
        assert_eq!(Header::parse(&packet[..43]), Err(Error::Length));
        packet[0] = 0x45;
        assert_eq!(Header::parse(&packet), Err(Error::Version));
    }
}

//! UDP ([RFC 768](https://www.rfc-editor.org/rfc/rfc768)) over IPv6.

use core::net::Ipv6Addr;

use crate::{Error, Header as Ipv6Header, checksum, next_header};

/// The ports of a UDP datagram. Length and checksum are checked when parsed and computed when emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
}

impl Header {
    /// Length of the header in bytes.
    pub const LEN: usize = 8;

    /// Splits `datagram` into its ports and its payload.
    ///
    /// A checksum of zero is refused: over IPv6 it is not optional
    /// ([RFC 8200 section 8.1](https://www.rfc-editor.org/rfc/rfc8200#section-8.1)).
    pub fn parse(source: Ipv6Addr, destination: Ipv6Addr, datagram: &[u8]) -> Result<(Self, &[u8]), Error> {
        let &[s0, s1, d0, d1, l0, l1, c0, c1] = datagram.first_chunk().ok_or(Error::Truncated)?;
        let length = u16::from_be_bytes([l0, l1]) as usize;
        let payload = datagram.get(Self::LEN..length).ok_or(Error::Length)?;
        if [c0, c1] == [0, 0] || checksum(source, destination, next_header::UDP, &datagram[..length]) != 0 {
            return Err(Error::Checksum);
        }
        let header = Self {
            source_port: u16::from_be_bytes([s0, s1]),
            destination_port: u16::from_be_bytes([d0, d1]),
        };
        Ok((header, payload))
    }

    /// Writes the header to the first 8 bytes of `datagram`, whose payload stands behind them.
    pub fn emit(self, source: Ipv6Addr, destination: Ipv6Addr, datagram: &mut [u8]) -> Result<(), Error> {
        let length = u16::try_from(datagram.len()).map_err(|_| Error::Length)?;
        let header = datagram.first_chunk_mut::<{ Self::LEN }>().ok_or(Error::Truncated)?;
        header[..2].copy_from_slice(&self.source_port.to_be_bytes());
        header[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        header[4..6].copy_from_slice(&length.to_be_bytes());
        header[6..].fill(0);
        let sum = match checksum(source, destination, next_header::UDP, datagram) {
            0 => 0xffff,
            sum => sum,
        };
        datagram[6..8].copy_from_slice(&sum.to_be_bytes());
        Ok(())
    }
}

/// Writes the headers of IPv6 and UDP to the first 48 bytes of `packet`, whose payload stands behind them.
#[inline]
pub fn emit_packet(
    packet: &mut [u8],
    (source, destination): (Ipv6Addr, Ipv6Addr),
    ports: Header,
    hop_limit: u8,
) -> Result<(), Error> {
    let (front, datagram) = packet.split_at_mut_checked(Ipv6Header::LEN).ok_or(Error::Truncated)?;
    let header = Ipv6Header {
        traffic_class: 0,
        flow_label: 0,
        payload_length: datagram.len() as u16,
        next_header: next_header::UDP,
        hop_limit,
        source,
        destination,
    };
    header.emit(front)?;
    // It refuses a length that the header of IPv6 cannot say.
    ports.emit(source, destination, datagram)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;

    proptest! {
        #[test]
        fn parse_returns_what_emit_wrote_and_nothing_altered(
            source: u128, destination: u128, source_port: u16, destination_port: u16,
            payload in proptest::collection::vec(any::<u8>(), 0..40), flip: usize,
        ) {
            let (source, destination) = (source.into(), destination.into());
            let header = Header { source_port, destination_port };
            let mut datagram = std::vec![0; Header::LEN];
            datagram.extend(&payload);
            header.emit(source, destination, &mut datagram).unwrap();
            prop_assert_eq!(Header::parse(source, destination, &datagram), Ok((header, &payload[..])));
            let bit = flip % (datagram.len() * 8);
            datagram[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(Header::parse(source, destination, &datagram).is_err());
        }

        #[test]
        fn any_bytes_parse_or_fail(bytes in proptest::collection::vec(any::<u8>(), 0..32)) {
            let _ = Header::parse(Ipv6Addr::LOCALHOST, Ipv6Addr::LOCALHOST, &bytes);
        }
    }

    #[test]
    fn a_sum_of_zero_goes_out_as_all_ones_and_a_missing_checksum_is_refused() {
        let any = Ipv6Addr::UNSPECIFIED;
        // Chosen so that every other word sums to 0xffff: protocol 17 + twice the length 8 + port.
        let header = Header { source_port: 0xffff - 17 - 8 - 8, destination_port: 0 };
        let mut datagram = [0; 8];
        header.emit(any, any, &mut datagram).unwrap();
        assert_eq!(datagram[6..], [0xff, 0xff]);
        assert_eq!(Header::parse(any, any, &datagram), Ok((header, &[][..])));
        datagram[6..].fill(0);
        assert_eq!(Header::parse(any, any, &datagram), Err(Error::Checksum));
        datagram[5] = 7;
        assert_eq!(Header::parse(any, any, &datagram), Err(Error::Length));
    }
}

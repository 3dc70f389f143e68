use core::net::Ipv6Addr;

/// The Internet checksum of `data`, an upper-layer packet of protocol `next_header`, with
/// the pseudo-header ([RFC 8200 section 8.1](https://www.rfc-editor.org/rfc/rfc8200#section-8.1)).
///
/// Over data whose checksum field is zero it is the value of that field; over data with a
/// correct checksum in place it is zero.
pub fn checksum(source: Ipv6Addr, destination: Ipv6Addr, next_header: u8, data: &[u8]) -> u16 {
    // A packet has at most 65,535 bytes: the sum of its 16-bit words stays below 2^32.
    let mut sum = data.len() as u32 + u32::from(next_header);
    for bytes in [&source.octets(), &destination.octets(), data] {
        sum += sum_of_words(bytes);
    }
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    !(sum as u16)
}

/// The sum of the words that `bytes` are, of which the last one may lack its low half.
#[inline(never)]
fn sum_of_words(bytes: &[u8]) -> u32 {
    let (words, last) = bytes.as_chunks::<2>();
    let sum: u32 = words.iter().map(|&word| u32::from(u16::from_be_bytes(word))).sum();
    sum + last.first().map_or(0, |&last| u32::from(last) << 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_odd_byte_counts_as_the_high_half_of_a_word() {
        let any = Ipv6Addr::UNSPECIFIED;
        // 0x1234 + 0x5600 + length 3 + protocol 17
        assert_eq!(checksum(any, any, 17, &[0x12, 0x34, 0x56]), !(0x1234 + 0x5600 + 3 + 17));
    }

    proptest! {
        #[test]
        fn data_with_its_checksum_in_place_sums_to_zero_and_a_flipped_bit_shows(
            source: u128, destination: u128, mut data in proptest::collection::vec(any::<u8>(), 2..80), flip: usize,
        ) {
            let (source, destination) = (source.into(), destination.into());
            data[0] = 0;
            data[1] = 0;
            let sum = checksum(source, destination, 17, &data);
            data[..2].copy_from_slice(&sum.to_be_bytes());
            prop_assert_eq!(checksum(source, destination, 17, &data), 0);
            let bit = flip % (data.len() * 8);
            data[bit / 8] ^= 1 << (bit % 8);
            prop_assert_ne!(checksum(source, destination, 17, &data), 0);
        }
    }
}

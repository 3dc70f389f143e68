//! Packets go over the line and come out as they were, whatever stood there before.

use proptest::collection::vec;
use proptest::prelude::*;
use sixlock_slip::{Decoder, Encoder, Error};

/// What comes out of a line that carries `bytes`, at a decoder of 32 bytes.
fn decode(bytes: impl IntoIterator<Item = u8>) -> Vec<Result<Vec<u8>, Error>> {
    let mut decoder = Decoder::<[u8; 32]>::new();
    let items = bytes.into_iter().filter_map(|byte| {
        let item = decoder.push(byte)?;
        Some(item.map(|len| decoder.buffer_mut()[..len].to_vec()))
    });
    items.collect()
}

#[test]
fn end_and_escape_have_two_bytes_each() {
    let bytes: Vec<u8> = Encoder::new(&[1, 0xc0, 2, 0xdb, 3]).collect();
    assert_eq!(bytes, [0xc0, 1, 0xdb, 0xdc, 2, 0xdb, 0xdd, 3, 0xc0]);
    assert_eq!(decode(bytes), [Ok(vec![1, 0xc0, 2, 0xdb, 3])]);
}

#[test]
fn what_cannot_be_read_is_dropped_and_the_next_packet_is_not() {
    let after = |bad: &[u8]| decode(bad.iter().copied().chain(Encoder::new(&[7])));
    let seven = Ok(vec![7]);
    assert_eq!(after(&[1, 0xdb, 2, 3]), [Err(Error::Escape), seven.clone()]);
    assert_eq!(after(&[1, 0xdb]), [Err(Error::Escape), seven.clone()]);
    assert_eq!(after(&[9; 33]), [Err(Error::TooLong), seven.clone()]);
    assert_eq!(after(&[9; 32]), [Ok(vec![9; 32]), seven.clone()]);
    assert_eq!(after(&[0xc0, 0xc0]), [seven]);
}

proptest! {
    #[test]
    fn packets_come_out_as_they_went_in(packets in vec(vec(prop_oneof![any::<u8>(), Just(0xc0), Just(0xdb)], 1..=32), 0..4)) {
        let line = packets.iter().flat_map(|packet| Encoder::new(packet));
        let expected: Vec<_> = packets.iter().cloned().map(Ok).collect();
        prop_assert_eq!(decode(line), expected);
    }

    #[test]
    fn a_packet_behind_any_bytes_comes_out(noise in vec(any::<u8>(), 0..200), packet in vec(any::<u8>(), 1..=32)) {
        let items = decode(noise.into_iter().chain(Encoder::new(&packet)));
        prop_assert_eq!(items.last(), Some(&Ok(packet)));
    }
}

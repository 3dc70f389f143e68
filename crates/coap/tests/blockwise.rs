//! Bodies in blocks: cut by one side, put together by the other.
#![cfg(feature = "alloc")]

use proptest::prelude::*;
use sixlock_coap::{Assembly, AssemblyError, BeyondTheEnd, Part};
use sixlock_coap_msg::Block;

const MOST: usize = 4096;

fn block(number: u32, more: bool, exponent: u8) -> Block {
    Block::new(number, more, exponent).unwrap()
}

#[test]
fn a_body_that_fits_is_whole_and_says_so_to_whoever_asks_for_blocks() {
    let body = [7; 64];
    assert_eq!(Part::of(&body, None, 2), Ok(Part { block: None, bytes: &body }));
    let last = block(0, false, 2);
    assert_eq!(Part::of(&body, Some(block(0, false, 6)), 2), Ok(Part { block: Some(last), bytes: &body }));
    assert_eq!(Part::of(&[], Some(last), 6), Ok(Part { block: Some(last), bytes: &[] }));
}

#[test]
fn a_longer_body_is_begun_unasked_and_goes_on_in_the_size_that_is_asked_for() {
    let body: Vec<u8> = (0..100).collect();
    assert_eq!(Part::of(&body, None, 1), Ok(Part { block: Some(block(0, true, 1)), bytes: &body[..32] }));
    // Section 2.4 of RFC 7959: the client goes on in smaller blocks, so with a larger number.
    let part = Part { block: Some(block(2, true, 0)), bytes: &body[32..48] };
    assert_eq!(Part::of(&body, Some(block(2, false, 0)), 1), Ok(part));
    let last = Part { block: Some(block(3, false, 1)), bytes: &body[96..] };
    assert_eq!(Part::of(&body, Some(block(3, false, 1)), 1), Ok(last));
    assert_eq!(Part::of(&body, Some(block(4, false, 1)), 1), Err(BeyondTheEnd));
    assert_eq!(Part::of(&body, Some(block((1 << 20) - 1, false, 6)), 6), Err(BeyondTheEnd));
}

#[test]
fn a_server_with_smaller_blocks_begins_with_the_first_of_the_smaller_ones() {
    let body = [1; 3000];
    let part = Part::of(&body, Some(block(1, false, 6)), 4).unwrap();
    assert_eq!((part.block, part.bytes.len()), (Some(block(4, true, 4)), 256));
}

#[test]
fn gaps_and_blocks_of_a_wrong_length_and_too_long_bodies_are_told_apart() {
    let mut assembly = Assembly::new();
    assert_eq!(assembly.take(block(1, false, 0), b"x", MOST), Err(AssemblyError::Gap));
    assert_eq!(assembly.take(block(0, true, 0), &[1; 15], MOST), Err(AssemblyError::Size));
    assert_eq!(assembly.take(block(0, true, 0), &[1; 17], MOST), Err(AssemblyError::Size));
    assert_eq!(assembly.take(block(0, true, 0), &[1; 16], MOST), Ok(None));
    assert_eq!(assembly.take(block(2, true, 0), &[1; 16], MOST), Err(AssemblyError::Gap));
    assert_eq!(assembly.take(block(1, false, 0), b"x", MOST), Err(AssemblyError::Gap), "all is forgotten");
    assert_eq!(assembly.take(block(0, true, 0), &[1; 16], 31), Ok(None));
    assert_eq!(assembly.take(block(1, false, 0), &[1; 16], 31), Err(AssemblyError::TooLarge));
}

#[test]
fn a_block_that_comes_again_takes_its_place_and_the_first_begins_anew() {
    let mut assembly = Assembly::new();
    assert_eq!(assembly.take(block(0, true, 0), &[1; 16], MOST), Ok(None));
    assert_eq!(assembly.take(block(1, true, 0), &[2; 16], MOST), Ok(None));
    assert_eq!(assembly.take(block(1, true, 0), &[3; 16], MOST), Ok(None));
    let whole = [&[1; 16][..], &[3; 16], b"x"].concat();
    assert_eq!(assembly.take(block(2, false, 0), b"x", MOST), Ok(Some(whole)));
    assert_eq!(assembly.take(block(0, true, 0), &[1; 16], MOST), Ok(None));
    assert_eq!(assembly.take(block(0, false, 0), b"y", MOST), Ok(Some(b"y".to_vec())));
}

proptest! {
    #[test]
    fn what_is_cut_is_put_together(
        body in proptest::collection::vec(any::<u8>(), 1..MOST),
        wanted in 0u8..=6,
        largest in 0u8..=6,
    ) {
        let (mut assembly, mut asked) = (Assembly::new(), None);
        let whole = loop {
            let part = Part::of(&body, asked, largest).unwrap();
            let Some(got) = part.block else { break part.bytes.to_vec() };
            if let Some(whole) = assembly.take(got, part.bytes, MOST).unwrap() {
                break whole;
            }
            // The client may want smaller blocks than it got first.
            let exponent = got.exponent().min(wanted);
            let next = got.offset() as usize + part.bytes.len();
            asked = Block::new((next >> (exponent + 4)) as u32, false, exponent);
        };
        prop_assert_eq!(whole, body);
    }
}

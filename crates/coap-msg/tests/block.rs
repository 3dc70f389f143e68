//! Block options: the examples of RFC 7959 section 2.2, and what their numbers say.

use proptest::prelude::*;
use sixlock_coap_msg::{Block, Builder, Code, Message, OptionNumber, Type};

/// What a message with this value in its Block2 option says.
fn read(value: u32) -> Option<Option<Block>> {
    let mut buffer = [0; 16];
    let mut builder = Builder::new(&mut buffer, Type::Confirmable, Code::GET, 1, &[]).unwrap();
    builder.option_uint(OptionNumber::BLOCK2, value).unwrap();
    let len = builder.finish();
    Block::of(&Message::parse(&buffer[..len]).unwrap(), OptionNumber::BLOCK2)
}

/// RFC 7959 figure 1 and section 2.3: 2:0/1/32 is block 33 to 64 of 32 bytes, of which more follow.
#[test]
fn number_more_and_size_are_read() {
    let block = Block::new(33, true, 1).unwrap();
    assert_eq!((block.value(), block.size(), block.offset()), (0x219, 32, 33 * 32));
    assert_eq!(read(0x219), Some(Some(block)));
    assert_eq!(read(0), Some(Block::new(0, false, 0)), "an empty option");
    assert_eq!(read(7), Some(None), "the size is reserved");
}

#[test]
fn a_message_without_the_option_names_no_block() {
    let message = Message::parse(b"\x40\x01\x7d\x34").unwrap();
    assert_eq!(Block::of(&message, OptionNumber::BLOCK1), None);
}

#[test]
fn numbers_beyond_twenty_bits_and_sizes_beyond_1024_bytes_are_none() {
    assert_eq!(Block::new(1 << 20, false, 0), None);
    assert_eq!(Block::new(0, false, 7), None);
    assert_eq!(Block::new((1 << 20) - 1, true, 6).unwrap().offset(), ((1 << 20) - 1) * 1024);
}

proptest! {
    #[test]
    fn what_is_written_is_read(number in 0u32..1 << 20, more: bool, exponent in 0u8..=6) {
        let block = Block::new(number, more, exponent);
        prop_assert_eq!(read(block.unwrap().value()), Some(block));
    }
}

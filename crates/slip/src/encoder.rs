use crate::{END, ESCAPE, ESCAPED_END, ESCAPED_ESCAPE};

/// The bytes of a packet on the line, one by one.
///
/// The packet is set off at both its ends, so that what was noise before it is a packet of its own.
#[derive(Clone, Debug)]
pub struct Encoder<'a> {
    rest: &'a [u8],
    next: Next,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    Begin,
    Byte,
    Escaped(u8),
    Done,
}

impl<'a> Encoder<'a> {
    /// The bytes of `packet`.
    pub const fn new(packet: &'a [u8]) -> Self {
        Self { rest: packet, next: Next::Begin }
    }
}

impl Iterator for Encoder<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        match self.next {
            Next::Begin => {
                self.next = Next::Byte;
                Some(END)
            }
            Next::Escaped(byte) => {
                self.next = Next::Byte;
                Some(byte)
            }
            Next::Done => None,
            Next::Byte => {
                let Some((&byte, rest)) = self.rest.split_first() else {
                    self.next = Next::Done;
                    return Some(END);
                };
                self.rest = rest;
                self.next = match byte {
                    END => Next::Escaped(ESCAPED_END),
                    ESCAPE => Next::Escaped(ESCAPED_ESCAPE),
                    _ => return Some(byte),
                };
                Some(ESCAPE)
            }
        }
    }
}

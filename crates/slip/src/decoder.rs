use core::fmt;

use sixlock_base::Array;

use crate::{END, ESCAPE, ESCAPED_END, ESCAPED_ESCAPE};

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// It is longer than there is room for.
    TooLong,
    /// What stands behind an escape stands for nothing.
    Escape,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "the packet is longer than there is room for",
            Self::Escape => "what stands behind an escape stands for nothing",
        })
    }
}

impl core::error::Error for Error {}

/// Puts packets together in the buffer `B`, such as `[u8; 1280]`. A longer one is dropped, as is one that is escaped wrongly; empty ones,
/// which stand between any two packets, are passed over.
#[derive(Debug)]
pub struct Decoder<B> {
    buffer: B,
    len: usize,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Inside,
    Escaped,
    // The packet cannot be read, and the rest of it is passed over.
    TooLong,
    BadEscape,
}

impl<B: Array<u8>> Decoder<B> {
    /// A decoder that has been told nothing. It is all zero bytes.
    pub const fn new() -> Self {
        Self { buffer: B::NEW, len: 0, state: State::Inside }
    }

    /// Takes the next byte on the line. When it ends a packet: how long that is, or why it was dropped. The packet
    /// stands in [`Decoder::buffer_mut`] until the next call.
    pub fn push(&mut self, byte: u8) -> Option<Result<usize, Error>> {
        match (self.state, byte) {
            (state, END) => {
                self.state = State::Inside;
                let len = core::mem::take(&mut self.len);
                return match state {
                    State::Inside => (len > 0).then_some(Ok(len)),
                    State::Escaped | State::BadEscape => Some(Err(Error::Escape)),
                    State::TooLong => Some(Err(Error::TooLong)),
                };
            }
            (State::TooLong | State::BadEscape, _) => {}
            (State::Inside, ESCAPE) => self.state = State::Escaped,
            (State::Inside, _) => self.keep(byte),
            (State::Escaped, ESCAPED_END) => self.keep(END),
            (State::Escaped, ESCAPED_ESCAPE) => self.keep(ESCAPE),
            (State::Escaped, _) => self.state = State::BadEscape,
        }
        None
    }

    fn keep(&mut self, byte: u8) {
        self.state = match self.buffer.as_mut().get_mut(self.len) {
            Some(place) => {
                *place = byte;
                self.len += 1;
                State::Inside
            }
            None => State::TooLong,
        };
    }

    /// Where the packet stands, from the first byte on; what is behind it may be used.
    pub fn buffer_mut(&mut self) -> &mut [u8] {
        self.buffer.as_mut()
    }
}

impl<B: Array<u8>> Default for Decoder<B> {
    fn default() -> Self {
        Self::new()
    }
}

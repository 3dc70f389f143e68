use core::fmt;

use crate::{
    Code, ContentFormat, HEADER, MAX_TOKEN, ONE_BYTE, OptionNumber, PAYLOAD_MARKER, TWO_BYTES, Type, VERSION,
};

/// Why a message could not be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The buffer is too small.
    NoRoom,
    /// The token is longer than eight bytes.
    Token,
    /// An option's number is smaller than that of the option before it.
    Order,
    /// An option's value is of a length the option does not allow.
    OptionLength,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoRoom => "the buffer is too small for the message",
            Self::Token => "the token is longer than eight bytes",
            Self::Order => "an option's number is smaller than that of the option before it: add options by ascending number",
            Self::OptionLength => "an option's value is of a length that the option does not allow",
        })
    }
}

impl core::error::Error for BuildError {}

/// Writes a message into a buffer, front to back: options by ascending number, then the payload.
#[derive(Debug)]
pub struct Builder<'a> {
    buffer: &'a mut [u8],
    len: usize,
    number: u16,
}

impl<'a> Builder<'a> {
    /// Begins a message at the front of `buffer`.
    pub fn new(
        buffer: &'a mut [u8],
        message_type: Type,
        code: Code,
        id: u16,
        token: &[u8],
    ) -> Result<Self, BuildError> {
        if token.len() > MAX_TOKEN {
            return Err(BuildError::Token);
        }
        let mut builder = Self { buffer, len: 0, number: 0 };
        let [id_high, id_low] = id.to_be_bytes();
        let first = VERSION << 6 | (message_type as u8) << 4 | token.len() as u8;
        let header: [u8; HEADER] = [first, code.0, id_high, id_low];
        builder.put(&header)?;
        builder.put(token)?;
        Ok(builder)
    }

    /// Adds an option.
    pub fn option(&mut self, number: OptionNumber, value: &[u8]) -> Result<&mut Self, BuildError> {
        let delta = number.0.checked_sub(self.number).ok_or(BuildError::Order)?;
        let len = u16::try_from(value.len()).map_err(|_| BuildError::OptionLength)?;
        if !number.allows_len(value.len()) {
            return Err(BuildError::OptionLength);
        }
        let mut head = [0; 5];
        let (delta_nibble, delta_len) = extend(delta, &mut head, 1);
        let (len_nibble, head_len) = extend(len, &mut head, delta_len);
        head[0] = delta_nibble << 4 | len_nibble;
        // Both or nothing: a builder that refused an option is still good.
        if self.buffer.len() - self.len < head_len + value.len() {
            return Err(BuildError::NoRoom);
        }
        self.put(&head[..head_len])?;
        self.put(value)?;
        self.number = number.0;
        Ok(self)
    }

    /// Adds an option whose value is an unsigned integer, in as few bytes as it needs.
    pub fn option_uint(&mut self, number: OptionNumber, value: u32) -> Result<&mut Self, BuildError> {
        let bytes = value.to_be_bytes();
        let skip = (value.leading_zeros() / 8) as usize;
        self.option(number, bytes.get(skip..).unwrap_or(&[]))
    }

    /// Adds a Uri-Path option for each of `segments`.
    pub fn path(&mut self, segments: &[&str]) -> Result<&mut Self, BuildError> {
        for segment in segments {
            self.option(OptionNumber::URI_PATH, segment.as_bytes())?;
        }
        Ok(self)
    }

    /// Adds the Content-Format option.
    pub fn content_format(&mut self, format: ContentFormat) -> Result<&mut Self, BuildError> {
        self.option_uint(OptionNumber::CONTENT_FORMAT, u32::from(format.0))
    }

    /// Ends the message without a payload and returns its length.
    pub fn finish(self) -> usize {
        self.len
    }

    /// Ends the message with `payload` (none if it is empty) and returns its length.
    pub fn finish_with(mut self, payload: &[u8]) -> Result<usize, BuildError> {
        if !payload.is_empty() {
            self.put(&[PAYLOAD_MARKER])?;
            self.put(payload)?;
        }
        Ok(self.len)
    }

    /// Ends the message with a payload that `write` writes into the room that is left, telling its length
    /// (or nothing if the room does not suffice), and returns the message's length.
    pub fn finish_written(
        mut self,
        write: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) -> Result<usize, BuildError> {
        let without = self.len;
        self.put(&[PAYLOAD_MARKER])?;
        let room = self.buffer.get_mut(self.len..).ok_or(BuildError::NoRoom)?;
        let room_len = room.len();
        match write(room).filter(|&written| written <= room_len).ok_or(BuildError::NoRoom)? {
            0 => Ok(without),
            written => Ok(self.len + written),
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), BuildError> {
        let room = self.buffer.get_mut(self.len..).ok_or(BuildError::NoRoom)?;
        room.get_mut(..bytes.len()).ok_or(BuildError::NoRoom)?.copy_from_slice(bytes);
        self.len += bytes.len();
        Ok(())
    }
}

/// Puts what of `value` does not fit a nibble into `head` at `at`; returns the nibble and the end.
fn extend(value: u16, head: &mut [u8; 5], at: usize) -> (u8, usize) {
    match value {
        0..13 => (value as u8, at),
        13..269 => {
            head[at] = (value - 13) as u8;
            (ONE_BYTE, at + 1)
        }
        _ => {
            head[at..at + 2].copy_from_slice(&(value - 269).to_be_bytes());
            (TWO_BYTES, at + 2)
        }
    }
}

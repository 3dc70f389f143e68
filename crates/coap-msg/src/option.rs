use crate::{ONE_BYTE, TWO_BYTES};

/// The number of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OptionNumber(pub u16);

/// What its definition says of an option.
struct Definition {
    repeatable: bool,
    min_len: u16,
    max_len: u16,
}

macro_rules! options {
    ($($(#[doc = $doc:literal])* $name:ident = $number:literal, $repeatable:literal, $min:literal ..= $max:literal;)*) => {
        impl OptionNumber {
            $($(#[doc = $doc])* pub const $name: Self = Self($number);)*

            const fn definition(self) -> Option<Definition> {
                match self.0 {
                    $($number => Some(Definition { repeatable: $repeatable, min_len: $min, max_len: $max }),)*
                    _ => None,
                }
            }
        }
    };
}

options! {
    /// If-Match.
    IF_MATCH = 1, true, 0..=8;
    /// Uri-Host.
    URI_HOST = 3, false, 1..=255;
    /// ETag.
    ETAG = 4, true, 1..=8;
    /// If-None-Match.
    IF_NONE_MATCH = 5, false, 0..=0;
    /// Observe (RFC 7641).
    OBSERVE = 6, false, 0..=3;
    /// Uri-Port.
    URI_PORT = 7, false, 0..=2;
    /// Location-Path.
    LOCATION_PATH = 8, true, 0..=255;
    /// OSCORE (RFC 8613).
    OSCORE = 9, false, 0..=255;
    /// Uri-Path.
    URI_PATH = 11, true, 0..=255;
    /// Content-Format.
    CONTENT_FORMAT = 12, false, 0..=2;
    /// Max-Age.
    MAX_AGE = 14, false, 0..=4;
    /// Uri-Query.
    URI_QUERY = 15, true, 0..=255;
    /// Hop-Limit (RFC 8768).
    HOP_LIMIT = 16, false, 1..=1;
    /// Accept.
    ACCEPT = 17, false, 0..=2;
    /// Q-Block1 (RFC 9177).
    Q_BLOCK1 = 19, false, 0..=3;
    /// Location-Query.
    LOCATION_QUERY = 20, true, 0..=255;
    /// EDHOC (RFC 9668).
    EDHOC = 21, false, 0..=0;
    /// Block2 (RFC 7959).
    BLOCK2 = 23, false, 0..=3;
    /// Block1 (RFC 7959).
    BLOCK1 = 27, false, 0..=3;
    /// Size2 (RFC 7959).
    SIZE2 = 28, false, 0..=4;
    /// Q-Block2 (RFC 9177).
    Q_BLOCK2 = 31, true, 0..=3;
    /// Proxy-Uri.
    PROXY_URI = 35, false, 1..=1034;
    /// Proxy-Scheme.
    PROXY_SCHEME = 39, false, 1..=255;
    /// Size1.
    SIZE1 = 60, false, 0..=4;
    /// Echo (RFC 9175).
    ECHO = 252, false, 1..=40;
    /// No-Response (RFC 7967).
    NO_RESPONSE = 258, false, 0..=1;
    /// Request-Tag (RFC 9175).
    REQUEST_TAG = 292, true, 0..=8;
}

impl OptionNumber {
    /// Whether a recipient that does not know the option must refuse the message
    /// ([RFC 7252 section 5.4.6](https://www.rfc-editor.org/rfc/rfc7252#section-5.4.6)).
    pub const fn is_critical(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether the option may occur more than once; unregistered options may.
    pub const fn is_repeatable(self) -> bool {
        match self.definition() {
            Some(definition) => definition.repeatable,
            None => true,
        }
    }

    /// Whether a value of `len` bytes is allowed by the option's definition.
    pub const fn allows_len(self, len: usize) -> bool {
        match self.definition() {
            Some(definition) => definition.min_len as usize <= len && len <= definition.max_len as usize,
            None => true,
        }
    }
}

/// One option of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoapOption<'a> {
    /// Which option.
    pub number: OptionNumber,
    /// Its value.
    pub value: &'a [u8],
}

impl CoapOption<'_> {
    /// The value as an unsigned integer, if it has at most four bytes
    /// ([RFC 7252 section 3.2](https://www.rfc-editor.org/rfc/rfc7252#section-3.2)).
    pub fn uint(&self) -> Option<u32> {
        if self.value.len() > 4 {
            return None;
        }
        Some(self.value.iter().fold(0, |value, &byte| value << 8 | u32::from(byte)))
    }
}

/// The options of a message, in the order they stand in it: by ascending number.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    rest: &'a [u8],
    number: u16,
}

impl<'a> Options<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, number: 0 }
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = CoapOption<'a>;

    fn next(&mut self) -> Option<CoapOption<'a>> {
        let (number, value, rest) = split(self.number, self.rest)?;
        (self.number, self.rest) = (number, rest);
        Some(CoapOption { number: OptionNumber(number), value })
    }
}

/// Splits the first option off `bytes`, after an option with the number `previous`.
/// Nothing if `bytes` does not begin with a whole, well-formed option.
pub(crate) fn split(previous: u16, bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    let (delta, rest) = extended(first >> 4, rest)?;
    let (len, rest) = extended(first & 0xf, rest)?;
    let number = u16::try_from(u32::from(previous) + delta).ok()?;
    let (value, rest) = rest.split_at_checked(usize::try_from(len).ok()?)?;
    Some((number, value, rest))
}

/// The value that `nibble` and the bytes after it stand for; 15 is reserved.
fn extended(nibble: u8, bytes: &[u8]) -> Option<(u32, &[u8])> {
    match (nibble, bytes) {
        (0..ONE_BYTE, _) => Some((u32::from(nibble), bytes)),
        (ONE_BYTE, [byte, rest @ ..]) => Some((u32::from(*byte) + 13, rest)),
        (TWO_BYTES, [high, low, rest @ ..]) => {
            Some((u32::from(u16::from_be_bytes([*high, *low])) + 269, rest))
        }
        _ => None,
    }
}

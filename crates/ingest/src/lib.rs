//! What a posted payload means. It is a function of the payload, its format, the parsers of the resource and the
//! time of arrival alone: it gives readings, all of them, or the reason why there are none.
//!
//! Everything is bounded: how long a payload and an expression are, how deep and how large what they hold is, and
//! through these how long reading takes.

mod discovery;
mod format;
mod json_path;
mod label;
mod parser;
mod pattern;
mod senml;
mod time;
mod tree;

pub use discovery::discover;
pub use format::Format;
pub use label::{is_bidi_control, is_hidden, is_stream_label};
pub use parser::{Kind, Parser, ParserError, Specification, TimeSpecification};
pub use time::{MOST_AHEAD_MS, TIMES, TimeFormat, check_times};

use std::fmt;

/// The most readings of one payload.
pub const MOST_READINGS: usize = 256;
/// The most parsers of one resource.
pub const MOST_PARSERS: usize = 64;
/// The longest label of a stream, in bytes.
pub const LONGEST_LABEL: usize = 128;
/// The longest unit, in characters.
pub const LONGEST_UNIT: usize = 32;
/// The deepest that arrays, maps and objects may be nested.
pub const DEEPEST: usize = 16;
/// The most values of a payload, those that are arrays or objects included.
pub const MOST_VALUES: usize = 2048;
/// The longest text that regular expressions are searched in, in bytes.
pub const LONGEST_TEXT: usize = 4096;

/// One value of a payload.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The stream's label.
    pub stream: String,
    /// The unit, if one is stated.
    pub unit: Option<String>,
    /// Milliseconds since 1970.
    pub time: i64,
    /// The value, finite.
    pub value: f64,
}

/// Why a payload gives no readings, in words for those who made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(String);

impl Refused {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// The readings of `payload`, which arrived at `arrival` in milliseconds since 1970: all of them, or none and the
/// reason. A SenML pack says itself what it means; for all else, `parsers` do.
pub fn read(
    format: Format,
    payload: &[u8],
    parsers: &[Parser],
    arrival: i64,
) -> Result<Vec<Reading>, Refused> {
    let readings = match format {
        Format::SenmlJson => senml::read(sixlock_senml::json::PackReader::new(payload), arrival)?,
        Format::SenmlCbor => senml::read(sixlock_senml::cbor::PackReader::new(payload), arrival)?,
        Format::Json | Format::Cbor | Format::Text => parser::read(format, payload, parsers, arrival)?,
    };
    if readings.len() > MOST_READINGS {
        return Err(Refused::new(format!("a payload holds at most {MOST_READINGS} readings")));
    }
    check_times(&readings, arrival)?;
    Ok(readings)
}

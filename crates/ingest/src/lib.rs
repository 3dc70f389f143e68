//! What a posted payload means. It is a function of the payload, its format, the parsers of the resource and the
//! time of arrival alone: it gives readings, all of them, or the reason why there are none.
//!
//! Everything is bounded: how long a payload and an expression are, how deep and how large what they hold is, and
//! through these how long reading takes.

mod discovery;
mod format;
mod json_path;
mod label;
mod limits;
mod parser;
mod pattern;
mod reading;
mod senml;
mod time;
mod tree;
mod value;

pub use discovery::discover;
pub use format::Format;
pub use label::{is_bidi_control, is_hidden, is_stream_label};
pub use limits::{
    DEEPEST, LONGEST_LABEL, LONGEST_TEXT, LONGEST_UNIT, MOST_PARSERS, MOST_READINGS, MOST_VALUES,
};
pub use parser::{Kind, Parser, ParserError, Specification, TimeSpecification};
pub use reading::{Reading, Refused};
pub use time::{MOST_AHEAD_MS, TIMES, TimeFormat, check_times};
pub use value::{LONGEST_TEXT_VALUE, Value, ValueType};

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

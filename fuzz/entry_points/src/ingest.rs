//! Payloads that are posted to the cloud, and the expressions of those who own the resources.

use std::sync::LazyLock;

use sixlock_ingest::{
    Format, Kind, LONGEST_TEXT_VALUE, MOST_AHEAD_MS, MOST_READINGS, Parser, Reading, Specification, TIMES,
    TimeSpecification, Value, ValueType, discover, read,
};

use crate::split;

/// In 2027: times of the future are refused.
const ARRIVAL: i64 = 1_800_000_000_000;
/// So late that no time is of the future.
const LAST_ARRIVAL: i64 = TIMES.end - 1;

/// Parsers of every kind.
static KNOWN: LazyLock<Vec<Parser>> = LazyLock::new(|| {
    parsers(&[
        specification(Kind::JsonPath, "$..value", None),
        specification(Kind::JsonPath, "$[*].value", Some(("$[*].time", "unix-ms"))),
        Specification { value_type: ValueType::Text, ..specification(Kind::JsonPath, "$..value", None) },
        Specification { value_type: ValueType::Boolean, ..specification(Kind::JsonPath, "$..on", None) },
        specification(Kind::JsonPath, "$[?@.t > 1].t", Some(("$[0].time", "rfc3339"))),
        specification(Kind::Regex, r"(?<time>\d+) (.*)", Some(("", "%Y%m%d"))),
    ])
});

/// A payload: the first byte is its format. It is read as a first one, and by parsers that are there.
pub(crate) fn payload(input: &[u8]) -> usize {
    let Some((&format, payload)) = input.split_first() else { return 0 };
    let formats = [Format::SenmlJson, Format::SenmlCbor, Format::Json, Format::Cbor, Format::Text];
    let format = formats[usize::from(format) % formats.len()];
    let found = discover(format, payload).unwrap_or_default();
    let as_first = readings(format, payload, &parsers(&found), LAST_ARRIVAL);
    assert!(
        found.is_empty() || as_first > 0 || format == Format::Text,
        "what a payload shows does not read it"
    );
    as_first + readings(format, payload, &KNOWN, ARRIVAL)
}

/// An expression, a time format and a text that it is used on: the first byte of the expression is its kind.
pub(crate) fn parser(input: &[u8]) -> usize {
    let mut parts = split(input);
    let mut text = || parts.next().and_then(|part| std::str::from_utf8(part).ok()).unwrap_or_default();
    let (expression, time, payload) = (text(), text(), text());
    let (kind, format) = match expression.as_bytes().first() {
        Some(b'$') => (Kind::JsonPath, Format::Json),
        _ => (Kind::Regex, Format::Text),
    };
    let time = (!time.is_empty()).then_some(("$.time", time));
    readings(format, payload.as_bytes(), &parsers(&[specification(kind, expression, time)]), ARRIVAL)
}

fn specification(kind: Kind, expression: &str, time: Option<(&str, &str)>) -> Specification {
    let time = time.and_then(|(expression, format)| {
        let expression = (kind == Kind::JsonPath).then(|| expression.to_owned());
        Some(TimeSpecification { expression, format: format.parse().ok()? })
    });
    let (label, stream, expression) = ("x".into(), "x".into(), expression.to_owned());
    Specification { label, kind, expression, stream, value_type: ValueType::Number, time, required: false }
}

fn parsers(specifications: &[Specification]) -> Vec<Parser> {
    specifications.iter().filter_map(|one| Parser::new(one).ok()).collect()
}

/// How many readings there are in what arrives then.
fn readings(format: Format, payload: &[u8], parsers: &[Parser], arrival: i64) -> usize {
    let readings = read(format, payload, parsers, arrival).unwrap_or_default();
    assert!(readings.len() <= MOST_READINGS);
    for Reading { stream, value, time, .. } in &readings {
        assert!(sixlock_ingest::is_stream_label(stream));
        assert!(match value {
            Value::Number(number) => number.is_finite(),
            Value::Text(text) => text.chars().count() <= LONGEST_TEXT_VALUE + 1,
            Value::Boolean(_) => true,
        });
        assert!(*time <= arrival.saturating_add(MOST_AHEAD_MS));
        assert!(TIMES.contains(time) || matches!(format, Format::SenmlJson | Format::SenmlCbor));
    }
    readings.len()
}

//! The parsers of a resource that has none: its first payload shows what its payloads are like.

use serde_json::Value;

use crate::json_path::to_member;
use crate::parser::{Kind, Specification, TimeSpecification, text};
use crate::pattern::Pattern;
use crate::time::TimeFormat;
use crate::{Format, LONGEST_LABEL, MOST_PARSERS, MOST_READINGS, Refused, is_stream_label, tree};

/// The stream of a payload that is one number.
const VALUE: &str = "value";
const TIME: &str = "time";
/// A number in text.
const NUMBER: &str = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?";

/// The parsers that read every number of `payload`: one for each in JSON and CBOR, whose label is the path to it, and
/// one for text with one number. `{"value","time"}`, and an array of these, are one value with its time. A SenML pack
/// needs none.
pub fn discover(format: Format, payload: &[u8]) -> Result<Vec<Specification>, Refused> {
    match format {
        Format::SenmlJson | Format::SenmlCbor => Ok(Vec::new()),
        Format::Text => {
            let number = Pattern::new(NUMBER).map_err(Refused::new)?;
            let count = number.find(text(payload)?).take(100).count();
            if count != 1 {
                return Err(Refused::new(format!(
                    "the text holds {count} numbers: add a parser that says which one is meant"
                )));
            }
            Ok(vec![specification(VALUE.into(), Kind::Regex, NUMBER.into(), None)])
        }
        Format::Json | Format::Cbor => {
            let tree = tree::read(format, payload)?;
            if let Some(point) = points(&tree) {
                return Ok(vec![point]);
            }
            let mut found = Vec::new();
            walk(&tree, "$".into(), None, &mut found)?;
            if found.is_empty() {
                return Err(Refused::new("the payload holds no number, and the resource has no parsers"));
            }
            Ok(found)
        }
    }
}

fn specification(
    stream: String,
    kind: Kind,
    expression: String,
    time: Option<TimeSpecification>,
) -> Specification {
    Specification { label: stream.clone(), kind, expression, stream, time, required: false }
}

/// The parser of a point, or of an array of points.
fn points(tree: &Value) -> Option<Specification> {
    let (path, time) = match tree {
        // More are never read at once.
        Value::Array(points) if points.len() <= MOST_READINGS => {
            let times: Option<Vec<TimeFormat>> = points.iter().map(time_of_point).collect();
            let times = times?;
            let first = times.first()?.clone();
            ("$[*]", times.iter().all(|time| *time == first).then_some(first)?)
        }
        point => ("$", time_of_point(point)?),
    };
    let time = TimeSpecification { expression: Some(to_member(path, TIME)), format: time };
    Some(specification(VALUE.into(), Kind::JsonPath, to_member(path, VALUE), Some(time)))
}

/// How the time of a point is written, if it is a point.
fn time_of_point(value: &Value) -> Option<TimeFormat> {
    // Later than the year 5000 in seconds, earlier than 1974 in milliseconds.
    const MILLISECONDS: f64 = 1e11;
    let members = value.as_object()?;
    let (value, time) = (members.get(VALUE)?, members.get(TIME)?);
    if members.len() != 2 || !(value.is_number() || value.is_boolean()) {
        return None;
    }
    let (format, text) = match time {
        Value::Number(time) if time.as_f64()? < MILLISECONDS => (TimeFormat::UnixSeconds, time.to_string()),
        Value::Number(time) => (TimeFormat::UnixMilliseconds, time.to_string()),
        Value::String(time) => (TimeFormat::Rfc3339, time.clone()),
        _ => return None,
    };
    format.read(&text).is_ok().then_some(format)
}

/// Adds a parser for each number in `value`, whose label is `label` unless it is the whole payload. Recursion is as deep as the tree, which has a limit.
fn walk(
    value: &Value,
    path: String,
    label: Option<String>,
    found: &mut Vec<Specification>,
) -> Result<(), Refused> {
    let within = |name: &str| {
        Some(match &label {
            Some(label) => format!("{label}/{name}"),
            // No other label begins so.
            None if name.is_empty() => "/".to_owned(),
            None => name.to_owned(),
        })
    };
    match value {
        Value::Number(_) | Value::Bool(_) => {
            let label = label.unwrap_or_else(|| VALUE.to_owned());
            if !is_stream_label(&label) {
                return Err(Refused::new(format!(
                    "the path to a number is longer than {LONGEST_LABEL} bytes or holds characters that cannot be seen: \
                     add parsers that choose"
                )));
            }
            if found.len() == MOST_PARSERS {
                return Err(Refused::new(format!(
                    "the payload holds more than {MOST_PARSERS} numbers: add parsers that choose"
                )));
            }
            found.push(specification(label, Kind::JsonPath, path, None));
            Ok(())
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(at, item)| walk(item, format!("{path}[{at}]"), within(&at.to_string()), found)),
        Value::Object(members) => members.iter().try_for_each(|(name, member)| {
            // As in JSON pointers, so that no two numbers have one label.
            let label = within(&name.replace('~', "~0").replace('/', "~1"));
            walk(member, to_member(&path, name), label, found)
        }),
        Value::Null | Value::String(_) => Ok(()),
    }
}

//! The parsers of a resource that has none: its first payload shows what its payloads are like.

use serde_json::Value;

use crate::json_path::to_member;
use crate::parser::{Kind, Specification, TimeSpecification, text};
use crate::pattern::Pattern;
use crate::time::TimeFormat;
use crate::{Format, LONGEST_LABEL, MOST_PARSERS, MOST_READINGS, Refused, ValueType, is_stream_label, tree};

/// The stream of a payload that is one number.
const VALUE: &str = "value";
const TIME: &str = "time";
/// A number in text.
const NUMBER: &str = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?";

/// The parsers that read every number of `payload`, and all that is true or false in it: one for each in JSON and CBOR, whose label is
/// the path to it, and one for text with one number. `{"value","time"}`, and an array of these, are one value with its time, which may
/// be a text. Other texts are read by nobody: most of them say what a number is, or of which device. A SenML pack needs none.
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
            Ok(vec![specification(VALUE.into(), Kind::Regex, NUMBER.into(), ValueType::Number)])
        }
        Format::Json | Format::Cbor => {
            let tree = tree::read(format, payload)?;
            if let Some(point) = points(&tree) {
                return Ok(vec![point]);
            }
            let mut found = Vec::new();
            walk(&tree, "$".into(), None, &mut found)?;
            if found.is_empty() {
                return Err(Refused::new(
                    "the payload holds no number, true or false, and the resource has no parsers: add one that reads its texts",
                ));
            }
            Ok(found)
        }
    }
}

fn specification(stream: String, kind: Kind, expression: String, value_type: ValueType) -> Specification {
    Specification { label: stream.clone(), kind, expression, stream, value_type, time: None, required: false }
}

/// The parser of a point, or of an array of points.
fn points(tree: &Value) -> Option<Specification> {
    let (path, (value_type, format)) = match tree {
        // More are never read at once.
        Value::Array(points) if points.len() <= MOST_READINGS => {
            let forms: Option<Vec<(ValueType, TimeFormat)>> = points.iter().map(form_of_point).collect();
            let forms = forms?;
            let first = forms.first()?.clone();
            ("$[*]", forms.iter().all(|form| *form == first).then_some(first)?)
        }
        point => ("$", form_of_point(point)?),
    };
    let time = Some(TimeSpecification { expression: Some(to_member(path, TIME)), format });
    let value = specification(VALUE.into(), Kind::JsonPath, to_member(path, VALUE), value_type);
    Some(Specification { time, ..value })
}

/// What the value of a point is and how its time is written, if it is a point.
fn form_of_point(value: &Value) -> Option<(ValueType, TimeFormat)> {
    // Later than the year 5000 in seconds, earlier than 1974 in milliseconds.
    const MILLISECONDS: f64 = 1e11;
    let members = value.as_object()?;
    let (value, time) = (members.get(VALUE)?, members.get(TIME)?);
    if members.len() != 2 {
        return None;
    }
    let value_type = match value {
        Value::Number(_) => ValueType::Number,
        Value::Bool(_) => ValueType::Boolean,
        Value::String(_) => ValueType::Text,
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    let (format, text) = match time {
        Value::Number(time) if time.as_f64()? < MILLISECONDS => (TimeFormat::UnixSeconds, time.to_string()),
        Value::Number(time) => (TimeFormat::UnixMilliseconds, time.to_string()),
        Value::String(time) => (TimeFormat::Rfc3339, time.clone()),
        _ => return None,
    };
    format.read(&text).is_ok().then_some((value_type, format))
}

/// Adds a parser for each number and truth value in `value`, whose label is `label` unless it is the whole payload. Recursion is as deep as the tree, which has a limit.
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
            let value_type = if value.is_boolean() { ValueType::Boolean } else { ValueType::Number };
            found.push(specification(label, Kind::JsonPath, path, value_type));
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

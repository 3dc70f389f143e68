//! Parsers: what the owner of a resource says about its payloads.

use std::fmt;
use std::str::FromStr;

use serde_json::Value as Json;

use crate::json_path::Path;
use crate::pattern::Pattern;
use crate::time::TimeFormat;
use crate::{
    Format, LONGEST_LABEL, LONGEST_TEXT, MOST_READINGS, Reading, Refused, Value, ValueType, is_stream_label,
    tree,
};

/// What a parser's expression is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A JSON path, which leads to values in JSON or CBOR.
    JsonPath,
    /// A regular expression, which finds values in text, or in JSON as text.
    Regex,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::JsonPath => "json-path",
            Self::Regex => "regex",
        })
    }
}

impl FromStr for Kind {
    type Err = ParserError;

    fn from_str(text: &str) -> Result<Self, ParserError> {
        match text {
            "json-path" => Ok(Self::JsonPath),
            "regex" => Ok(Self::Regex),
            _ => Err(ParserError(format!("kind: {text:?} is neither json-path nor regex"))),
        }
    }
}

/// Where a payload says when a reading was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeSpecification {
    /// The JSON path to one time for all values, or to as many as there are values. A regular expression has the
    /// group `time` instead.
    pub expression: Option<String>,
    /// How the time is written.
    pub format: TimeFormat,
}

/// What a parser is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Specification {
    /// The parser's name, for messages.
    pub label: String,
    /// What the expression is.
    pub kind: Kind,
    /// Where the values are.
    pub expression: String,
    /// The label of the stream that they belong to.
    pub stream: String,
    /// What they are read as.
    pub value_type: ValueType,
    /// Where their time is; without it, it is that of their arrival.
    pub time: Option<TimeSpecification>,
    /// Whether a payload without a value for it is refused.
    pub required: bool,
}

/// Why a specification makes no parser, in words for those who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParserError(String);

impl fmt::Display for ParserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParserError {}

/// A parser, ready for use.
#[derive(Clone, Debug)]
pub struct Parser {
    label: String,
    stream: String,
    value_type: ValueType,
    required: bool,
    rule: Rule,
}

#[derive(Clone, Debug)]
enum Rule {
    JsonPath { values: Path, times: Option<(Path, TimeFormat)> },
    Regex { values: Pattern, times: Option<TimeFormat> },
}

impl Parser {
    /// Makes a parser.
    pub fn new(specification: &Specification) -> Result<Self, ParserError> {
        let Specification { label, kind, expression, stream, value_type, time, required } = specification;
        if !is_stream_label(stream) {
            return Err(ParserError(format!(
                "stream: a stream's label has 1 to {LONGEST_LABEL} bytes, and no characters that cannot be seen"
            )));
        }
        let in_expression = |error| ParserError(format!("expression: {error}"));
        let in_time = |error| ParserError(format!("time_expression: {error}"));
        let rule = match kind {
            Kind::JsonPath => {
                let values = Path::new(expression).map_err(in_expression)?;
                let times = match time {
                    Some(TimeSpecification { expression: Some(expression), format }) => {
                        Some((Path::new(expression).map_err(in_time)?, format.clone()))
                    }
                    Some(_) => return Err(in_time("the path to the time is missing".into())),
                    None => None,
                };
                Rule::JsonPath { values, times }
            }
            Kind::Regex => {
                let values = Pattern::new(expression).map_err(in_expression)?;
                match time {
                    Some(TimeSpecification { expression: Some(_), .. }) => {
                        let why = "a regular expression finds the time by a group of its own, (?<time>…)";
                        return Err(in_time(why.into()));
                    }
                    Some(_) if !values.has_time() => {
                        return Err(in_expression("there is a time format, but no group (?<time>…)".into()));
                    }
                    None if values.has_time() => {
                        return Err(ParserError("time_format: the group (?<time>…) needs one".into()));
                    }
                    _ => {}
                }
                Rule::Regex { values, times: time.as_ref().map(|time| time.format.clone()) }
            }
        };
        let (label, stream) = (label.clone(), stream.clone());
        Ok(Self { label, stream, value_type: *value_type, required: *required, rule })
    }

    fn refuse(&self, why: impl fmt::Display) -> Refused {
        Refused::new(format!("parser {:?}: {why}", self.label))
    }

    fn find(&self, payload: &Payload<'_>, arrival: i64) -> Result<Vec<(i64, Value)>, Refused> {
        match (&self.rule, payload) {
            (Rule::JsonPath { values, times }, Payload { tree: Some(tree), .. }) => {
                let values = values.find(tree);
                let times = times.as_ref().map(|(path, format)| (path.find(tree), format));
                if let Some((times, _)) = &times
                    && ![1, values.len()].contains(&times.len())
                    && !values.is_empty()
                {
                    let (times, values) = (times.len(), values.len());
                    return Err(self.refuse(format_args!("there are {times} times for {values} values")));
                }
                let mut found = Vec::new();
                for (at, value) in values.into_iter().enumerate() {
                    let read = value_of(self.value_type, value).map_err(|why| self.refuse(why))?;
                    let Some(value) = read else { continue };
                    let time = match &times {
                        Some((times, format)) => {
                            let time = if times.len() == 1 { times.first() } else { times.get(at) };
                            let text = match time {
                                Some(Json::String(text)) => text.clone(),
                                Some(Json::Number(number)) => number.to_string(),
                                _ => return Err(self.refuse("the time is neither text nor a number")),
                            };
                            format.read(&text).map_err(|why| self.refuse(why))?
                        }
                        None => arrival,
                    };
                    found.push((time, value));
                }
                Ok(found)
            }
            (Rule::Regex { values, times }, Payload { text: Some(text), .. }) => {
                let mut found = Vec::new();
                for (value, time) in values.find(text).take(MOST_READINGS + 1) {
                    let value = value_in(self.value_type, value).map_err(|why| self.refuse(why))?;
                    let time = match (times, time) {
                        (Some(format), Some(time)) => format.read(time).map_err(|why| self.refuse(why))?,
                        (Some(_), None) => return Err(self.refuse("a value has no time beside it")),
                        (None, _) => arrival,
                    };
                    found.push((time, value));
                }
                Ok(found)
            }
            (Rule::JsonPath { .. }, _) | (Rule::Regex { .. }, _) => Ok(Vec::new()),
        }
    }
}

/// A payload as parsers look at it.
struct Payload<'a> {
    tree: Option<Json>,
    text: Option<&'a str>,
}

/// The readings that `parsers` find in a payload: each that is required finds one, and all of them together do.
pub(crate) fn read(
    format: Format,
    payload: &[u8],
    parsers: &[Parser],
    arrival: i64,
) -> Result<Vec<Reading>, Refused> {
    let payload = match format {
        Format::Text => Payload { tree: None, text: Some(text(payload)?) },
        Format::Cbor => Payload { tree: Some(tree::read(format, payload)?), text: None },
        _ => {
            let regexes = parsers.iter().any(|parser| matches!(parser.rule, Rule::Regex { .. }));
            let text = if regexes { Some(text(payload)?) } else { None };
            Payload { tree: Some(tree::read(format, payload)?), text }
        }
    };
    let mut readings = Vec::new();
    for parser in parsers {
        let found = parser.find(&payload, arrival)?;
        if found.is_empty() && parser.required {
            return Err(parser.refuse("it finds nothing in this payload"));
        }
        let reading = |(time, value)| Reading { stream: parser.stream.clone(), unit: None, time, value };
        readings.extend(found.into_iter().map(reading));
        if readings.len() > MOST_READINGS {
            break;
        }
    }
    if readings.is_empty() {
        let labels: Vec<String> = parsers.iter().map(|parser| format!("{:?}", parser.label)).collect();
        return Err(Refused::new(format!(
            "no parser finds anything in this payload; tried: {}",
            labels.join(", ")
        )));
    }
    Ok(readings)
}

/// A payload as text.
pub(crate) fn text(payload: &[u8]) -> Result<&str, Refused> {
    if payload.len() > LONGEST_TEXT {
        return Err(Refused::new(format!(
            "text that regular expressions search has at most {LONGEST_TEXT} bytes"
        )));
    }
    std::str::from_utf8(payload).map_err(|error| Refused::new(format!("the text is not UTF-8: {error}")))
}

/// The value that stands somewhere in JSON; null is none. A text that spells a number or a truth value may be read as what it spells, true
/// and false also as 1 and 0, and anything but a list or an object as a text.
fn value_of(value_type: ValueType, json: &Json) -> Result<Option<Value>, String> {
    match json {
        Json::Null => Ok(None),
        Json::Array(_) => Err("it leads to an array: add [*] for what is in it".into()),
        Json::Object(_) => Err("it leads to an object: add the name of a member".into()),
        Json::String(text) => value_in(value_type, text).map(Some),
        Json::Bool(boolean) if value_type == ValueType::Number => {
            Ok(Value::Boolean(*boolean).number().map(Value::Number))
        }
        Json::Number(number) if value_type == ValueType::Number => Ok(number.as_f64().map(Value::Number)),
        // Another number is left out by the stream, and the rest of the payload is stored.
        Json::Number(number) if value_type == ValueType::Boolean => Ok(number.as_f64().map(|number| {
            if number == 0.0 || number == 1.0 { Value::Boolean(number == 1.0) } else { Value::Number(number) }
        })),
        Json::Bool(_) | Json::Number(_) => value_in(value_type, &json.to_string()).map(Some),
    }
}

/// The value that `text` spells.
fn value_in(value_type: ValueType, text: &str) -> Result<Value, String> {
    let read = match (value_type, text.trim()) {
        (ValueType::Text, _) => Some(Value::text(text.chars())),
        (ValueType::Boolean, "true" | "1") => Some(Value::Boolean(true)),
        (ValueType::Boolean, "false" | "0") => Some(Value::Boolean(false)),
        (ValueType::Boolean, _) => None,
        (ValueType::Number, text) => {
            text.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Number)
        }
    };
    read.ok_or_else(|| {
        let start: String = text.trim().chars().take(40).collect();
        let what = if value_type == ValueType::Boolean { "neither true nor false" } else { "not a number" };
        format!("{start:?} is {what}: a parser whose value_type is text reads it as it is")
    })
}

//! What devices get, in the format that they ask for.

use ciborium::Value;
use serde::Serialize;
use sixlock_coap_msg::{Code, ContentFormat};
use sixlock_coap_server::{Answer, ETag};
use sixlock_crypto::{Hashes, Soft};
use sixlock_ingest::Format;
use sixlock_store::{Point, Stream};

use super::refusal::Refusal;

/// From which second on SenML counts times from 1970; those before would be taken for spans.
const EARLIEST_SECOND: f64 = 268_435_456.0;

/// 2.05 with `content`, as JSON or CBOR.
pub(super) fn show(format: Format, content: &impl Serialize) -> Result<Answer, Refusal> {
    let json = json(content)?;
    let etag = etag(&json);
    match format {
        Format::Json => Ok(answer(etag, ContentFormat::JSON, json)),
        Format::Cbor => Ok(answer(etag, ContentFormat::CBOR, cbor(content)?)),
        _ => Err(Refusal::NotAcceptable),
    }
}

/// 2.01 with what was made, as JSON or CBOR.
pub(super) fn created(format: Format, made: &impl Serialize) -> Result<Answer, Refusal> {
    Ok(Answer { code: Code::CREATED, ..show(format, made)? })
}

/// 2.05 with the points of streams, each in a format that [`show`] takes, in SenML, or as text: a line for each point with its time and
/// value, and if there are several streams, the label.
pub(super) fn points<'a>(
    format: Format,
    content: &impl Serialize,
    points: impl Iterator<Item = (&'a Stream, Point)>,
) -> Result<Answer, Refusal> {
    let format_of = |content_format, body| Ok(answer(etag(&json(content)?), content_format, body));
    match format {
        Format::Json | Format::Cbor => show(format, content),
        Format::SenmlJson => {
            let records = points.map(|(stream, point)| Record::new(stream, point));
            format_of(ContentFormat::SENML_JSON, json(&records.collect::<Result<Vec<_>, _>>()?)?)
        }
        Format::SenmlCbor => {
            let records = points.map(|(stream, point)| Record::new(stream, point).map(Record::labelled));
            let records = Value::Array(records.collect::<Result<_, _>>()?);
            format_of(ContentFormat::SENML_CBOR, cbor(&records)?)
        }
        Format::Text => {
            let line = |(stream, Point { time, value }): (&Stream, Point)| {
                format!("{time} {value} {}\n", stream.label)
            };
            format_of(ContentFormat::TEXT, points.map(line).collect::<String>().into_bytes())
        }
    }
}

fn answer(etag: ETag, format: ContentFormat, payload: Vec<u8>) -> Answer {
    Answer { etag: Some(etag), format: Some(format), payload, ..Answer::new(Code::CONTENT) }
}

/// As many of `items` as fit `room` as JSON, the first ones or the last ones.
pub(super) fn page<T: Serialize>(mut items: Vec<T>, last: bool, room: usize) -> Result<Vec<T>, Refusal> {
    if last {
        items.reverse();
    }
    // The brackets, and a comma behind each item but one.
    let (mut length, mut fitting) = (1, 0);
    for item in &items {
        length += json(item)?.len() + 1;
        if length > room {
            break;
        }
        fitting += 1;
    }
    items.truncate(fitting);
    if last {
        items.reverse();
    }
    Ok(items)
}

/// A record of a SenML pack.
#[derive(Serialize)]
struct Record<'a> {
    n: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    u: Option<&'a str>,
    v: f64,
    t: f64,
}

impl<'a> Record<'a> {
    fn new(stream: &'a Stream, Point { time, value }: Point) -> Result<Self, Refusal> {
        let (label, time) = (&*stream.label, time as f64 / 1000.0);
        let is_named = label.starts_with(|first: char| first.is_ascii_alphanumeric())
            && label.chars().all(|char| char.is_ascii_alphanumeric() || "-:./_".contains(char));
        if !is_named || time < EARLIEST_SECOND {
            return Err(Refusal::NotAcceptable);
        }
        Ok(Self { n: label, u: stream.unit.as_deref(), v: value, t: time })
    }

    /// With the numbers that labels have in CBOR
    /// ([RFC 8428 section 6](https://www.rfc-editor.org/rfc/rfc8428#section-6)).
    fn labelled(self) -> Value {
        let unit = self.u.map(|unit| (Value::from(1), Value::from(unit)));
        let name = [(Value::from(0), Value::from(self.n))];
        let numbers = [(Value::from(2), Value::from(self.v)), (Value::from(6), Value::from(self.t))];
        Value::Map(name.into_iter().chain(unit).chain(numbers).collect())
    }
}

pub(super) fn json(content: &impl Serialize) -> Result<Vec<u8>, Refusal> {
    serde_json::to_vec(content).map_err(|error| Refusal::Internal(error.to_string()))
}

fn cbor(content: &impl Serialize) -> Result<Vec<u8>, Refusal> {
    let mut body = Vec::new();
    ciborium::into_writer(content, &mut body).map_err(|error| Refusal::Internal(error.to_string()))?;
    Ok(body)
}

/// The beginning of a digest: of a thing as JSON, whatever the answer's format.
pub(super) fn etag(content: &[u8]) -> ETag {
    let mut hash = Soft.sha256();
    Soft.sha256_update(&mut hash, content);
    let digest = Soft.sha256_finish(hash);
    let mut etag = ETag::default();
    let length = etag.len();
    etag.copy_from_slice(&digest[..length]);
    etag
}

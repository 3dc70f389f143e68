//! What devices get, in the format that they ask for.

use ciborium::Value;
use serde::Serialize;
use sixlock_coap_msg::{Code, ContentFormat};
use sixlock_coap_server::{Answer, ETag};
use sixlock_crypto::{Hashes, Soft};
use sixlock_ingest::Format;
use sixlock_store::{Point, Stream, Value as PointValue};

use super::refusal::Refusal;
use crate::senml_records::{NotSenml, Record};

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

/// JSON or CBOR, if it is one of these that is asked for: what is to be made is not, where its answer could not be given.
pub(super) fn structured(format: Format) -> Result<Format, Refusal> {
    match format {
        Format::Json | Format::Cbor => Ok(format),
        _ => Err(Refusal::NotAcceptable),
    }
}

/// 2.01 with what was made, as JSON or CBOR.
pub(super) fn created(format: Format, made: &impl Serialize) -> Result<Answer, Refusal> {
    Ok(Answer { code: Code::CREATED, ..show(format, made)? })
}

/// 2.05 with the points of streams, each in a format that [`show`] takes, in SenML, or as text: a line for each point with its time and
/// value, and the label. A text stands there as in JSON, in quotation marks.
pub(super) fn points<'a>(
    format: Format,
    content: &impl Serialize,
    points: impl Iterator<Item = (&'a Stream, &'a Point)>,
) -> Result<Answer, Refusal> {
    let format_of = |content_format, body| Ok(answer(etag(&json(content)?), content_format, body));
    match format {
        Format::Json | Format::Cbor => show(format, content),
        Format::SenmlJson => {
            let records = points.map(|(stream, point)| record(stream, point));
            format_of(ContentFormat::SENML_JSON, json(&records.collect::<Result<Vec<_>, _>>()?)?)
        }
        Format::SenmlCbor => {
            let records = points.map(|(stream, point)| record(stream, point).map(Record::labelled));
            let records = Value::Array(records.collect::<Result<_, _>>()?);
            format_of(ContentFormat::SENML_CBOR, cbor(&records)?)
        }
        Format::Text => {
            let mut lines = String::new();
            for (Stream { label, .. }, Point { time, value }) in points {
                match value {
                    PointValue::Text(text) => {
                        lines += &format!("{time} {} {label}\n", serde_json::Value::from(&**text));
                    }
                    PointValue::Number(_) | PointValue::Boolean(_) => {
                        lines += &format!("{time} {value} {label}\n");
                    }
                }
            }
            format_of(ContentFormat::TEXT, lines.into_bytes())
        }
    }
}

fn record<'a>(stream: &'a Stream, point: &'a Point) -> Result<Record<'a>, Refusal> {
    Record::new(&stream.label, stream.unit.as_deref(), point).map_err(|NotSenml| Refusal::NotAcceptable)
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

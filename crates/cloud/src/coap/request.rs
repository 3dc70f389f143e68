//! Reading a request: whole, and before anything is done.

use sixlock_coap_msg::{Code, ContentFormat, Message, OptionNumber};

use super::answer::Refusal;
use super::streams_data::MOST_POINTS;
use crate::Secret;
use crate::store::{LONGEST_PAGE, Page, ResourceId, StreamId};

/// A request, read and independent of its datagram.
#[derive(Debug)]
pub(crate) struct Request {
    pub(super) asked: Result<Asked, Refusal>,
    /// The key of a request at the plain door.
    pub(super) key: Option<Secret>,
    pub(super) message_id: u16,
    pub(super) token: Vec<u8>,
}

/// What a request asks for.
#[derive(Debug)]
pub(super) enum Asked {
    Post { resource: Option<ResourceId>, payload: Vec<u8> },
    Data { stream: StreamId, page: Page },
}

impl Request {
    /// Reads a request.
    pub(crate) fn read(message: &Message<'_>) -> Self {
        let key = message.query("key").map(|key| Secret::new(key.to_vec()));
        Self { asked: Asked::read(message), key, message_id: message.id(), token: message.token().to_vec() }
    }
}

impl Asked {
    fn read(message: &Message<'_>) -> Result<Self, Refusal> {
        if message.path_is(&["resources", "data"]) {
            if message.code() != Code::POST {
                return Err(Refusal::Method);
            }
            // A format that is not stated is taken for the only one there is.
            if message.value(OptionNumber::CONTENT_FORMAT).is_some()
                && message.content_format() != Some(ContentFormat::SENML_JSON)
            {
                return Err(Refusal::ContentFormat);
            }
            let resource = number(message, "id")?.map(ResourceId);
            Ok(Self::Post { resource, payload: message.payload().to_vec() })
        } else if message.path_is(&["streams", "data"]) {
            if message.code() != Code::GET {
                return Err(Refusal::Method);
            }
            let stream =
                number(message, "id")?.map(StreamId).ok_or(Refusal::Malformed("id=STREAM is missing"))?;
            let limit = number(message, "limit")?.unwrap_or(MOST_POINTS);
            if !(1..=LONGEST_PAGE).contains(&limit) {
                return Err(Refusal::Malformed("limit is not between 1 and 10000"));
            }
            let page = Page {
                limit: limit.min(MOST_POINTS),
                from: number(message, "from")?,
                until: number(message, "until")?,
            };
            Ok(Self::Data { stream, page })
        } else {
            Err(Refusal::NotFound)
        }
    }
}

/// The whole number that the query argument `name` gives; an empty one gives none.
fn number(message: &Message<'_>, name: &str) -> Result<Option<i64>, Refusal> {
    match message.query(name) {
        None | Some(b"") => Ok(None),
        Some(text) => {
            let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
            number.map(Some).ok_or(Refusal::Malformed("a number in the query is not one"))
        }
    }
}

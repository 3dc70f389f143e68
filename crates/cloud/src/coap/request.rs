//! Reading a request: whole, and independent of its datagram.

use serde::de::DeserializeOwned;
use sixlock_coap_msg::{Code, ContentFormat, Message, OptionNumber};
use sixlock_ingest::Format;

use super::answer::Refusal;
use crate::Secret;
use crate::access::Action;

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    method: Code,
    /// What its path names; nothing, if there is no such path.
    pub(super) kind: Option<Kind>,
    arguments: Vec<(&'static str, Vec<u8>)>,
    /// The key of a request at the plain door.
    pub(super) key: Option<Secret>,
    /// Nothing where none is stated; a number that is none is one that nobody has.
    content_format: Option<Option<ContentFormat>>,
    pub(super) message_id: u16,
    pub(super) token: Vec<u8>,
    pub(super) payload: Vec<u8>,
}

/// The kinds of things that paths name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Users,
    Resources,
    ResourcesData,
    Streams,
    StreamsData,
}

impl Kind {
    pub(super) const ALL: [Self; 5] =
        [Self::Users, Self::Resources, Self::ResourcesData, Self::Streams, Self::StreamsData];

    pub(super) const fn segments(self) -> &'static [&'static str] {
        match self {
            Self::Users => &["users"],
            Self::Resources => &["resources"],
            Self::ResourcesData => &["resources", "data"],
            Self::Streams => &["streams"],
            Self::StreamsData => &["streams", "data"],
        }
    }

    /// What a method does to it; nothing, if it does not take the method.
    pub(super) fn action(self, method: Code) -> Option<Action> {
        let [get, post, put, delete] = match self {
            Self::Users => {
                [Action::ReadUser, Action::AddUser, Action::ChangeUser, Action::DeleteUser].map(Some)
            }
            Self::Resources => {
                use Action::{AddResource, ChangeResource, DeleteResource, ReadResource};
                [ReadResource, AddResource, ChangeResource, DeleteResource].map(Some)
            }
            Self::Streams => {
                [Action::ReadStream, Action::AddStream, Action::ChangeStream, Action::DeleteStream].map(Some)
            }
            Self::ResourcesData | Self::StreamsData => {
                [Some(Action::ReadPoints), Some(Action::AddPoints), None, Some(Action::DeletePoints)]
            }
        };
        match method {
            Code::GET => get,
            Code::POST => post,
            Code::PUT => put,
            Code::DELETE => delete,
            _ => None,
        }
    }
}

impl Request {
    /// Reads a request.
    pub(crate) fn read(message: &Message<'_>) -> Self {
        const ARGUMENTS: [&str; 6] = ["id", "resource", "limit", "from", "until", "after"];
        let argument = |name: &'static str| Some((name, message.query(name)?.to_vec()));
        Self {
            method: message.code(),
            kind: Kind::ALL.into_iter().find(|kind| message.path_is(kind.segments())),
            arguments: ARGUMENTS.into_iter().filter_map(argument).collect(),
            key: message.query("key").map(|key| Secret::new(key.to_vec())),
            content_format: message.value(OptionNumber::CONTENT_FORMAT).map(|_| message.content_format()),
            message_id: message.id(),
            token: message.token().to_vec(),
            payload: message.payload().to_vec(),
        }
    }

    /// What is to be done.
    pub(super) fn action(&self) -> Option<Action> {
        self.kind?.action(self.method)
    }

    /// The whole number that the query argument `name` gives; an empty one gives none.
    pub(super) fn number(&self, name: &str) -> Result<Option<i64>, Refusal> {
        let text = self.arguments.iter().find(|(known, _)| *known == name).map(|(_, text)| &text[..]);
        match text {
            None | Some(b"") => Ok(None),
            Some(text) => {
                let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
                number.map(Some).ok_or(Refusal::Malformed("a number in the query is not one"))
            }
        }
    }

    /// How the payload is written: as SenML JSON, if that is not stated.
    pub(super) fn format(&self) -> Result<Format, Refusal> {
        match self.content_format {
            None => Ok(Format::SenmlJson),
            Some(stated) => stated.and_then(Format::of_content_format).ok_or(Refusal::ContentFormat),
        }
    }

    /// The JSON of the payload.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        if !matches!(self.content_format, None | Some(Some(ContentFormat::JSON))) {
            return Err(Refusal::ContentFormat);
        }
        serde_json::from_slice(&self.payload)
            .map_err(|_| Refusal::Malformed("the payload is not JSON with the fields that are asked for"))
    }

    /// What it asks for, without its query: keys can stand there.
    pub(super) fn what(&self) -> String {
        let method = match self.method {
            Code::GET => "GET",
            Code::POST => "POST",
            Code::PUT => "PUT",
            Code::DELETE => "DELETE",
            _ => "?",
        };
        let segments = self.kind.map(Kind::segments).unwrap_or(&["?"]);
        let what = format!("{method} /{}", segments.join("/"));
        match self.number("id") {
            Ok(Some(id)) => format!("{what} id={id}"),
            _ => what,
        }
    }
}

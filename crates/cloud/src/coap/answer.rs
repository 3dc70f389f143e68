//! What devices are answered, and why they are refused.

use serde::Serialize;
use sixlock_coap_msg::{Code, ContentFormat};
use sixlock_ingest::Refused;

use crate::Error;

/// The longest payload of an answer: with its headers it fits an IPv6 packet of 1280 bytes.
pub(crate) const LONGEST_ANSWER: usize = 1024;

/// The longest diagnostic, in characters: of four bytes each, they fit an answer.
const LONGEST_DIAGNOSTIC: usize = LONGEST_ANSWER / 4;

/// An answer to a device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) code: Code,
    pub(crate) content_format: Option<ContentFormat>,
    pub(crate) payload: Vec<u8>,
}

impl Answer {
    /// 2.01 with what was made.
    pub(super) fn created(made: &impl Serialize) -> Result<Self, Refusal> {
        Ok(Self { code: Code::CREATED, ..Self::json(made)? })
    }

    /// 2.02.
    pub(super) const fn deleted() -> Self {
        Self { code: Code::DELETED, content_format: None, payload: Vec::new() }
    }

    /// 2.04.
    pub(super) const fn changed() -> Self {
        Self { code: Code::CHANGED, content_format: None, payload: Vec::new() }
    }

    /// 2.05 with JSON.
    pub(super) fn json(content: &impl Serialize) -> Result<Self, Refusal> {
        let payload = serde_json::to_vec(content).map_err(|error| Refusal::Internal(error.to_string()))?;
        Ok(Self { code: Code::CONTENT, content_format: Some(ContentFormat::JSON), payload })
    }

    /// 2.05 with as many of `items` as fit, the first ones or the last ones.
    pub(super) fn page(items: &[impl Serialize], last: bool) -> Result<Self, Refusal> {
        let json = items.iter().map(serde_json::to_vec).collect::<Result<Vec<_>, _>>();
        let mut json = json.map_err(|error| Refusal::Internal(error.to_string()))?;
        if last {
            json.reverse();
        }
        // The brackets, and a comma behind each item but one.
        let mut length = 1;
        let fitting = json.iter().take_while(|item| {
            length += item.len() + 1;
            length <= LONGEST_ANSWER
        });
        json.truncate(fitting.count());
        if last {
            json.reverse();
        }
        let payload = [b"[", json.join(&b","[..]).as_slice(), b"]"].concat();
        Ok(Self { code: Code::CONTENT, content_format: Some(ContentFormat::JSON), payload })
    }
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// No key, or not that of the resource; whether the resource exists is not told.
    Key,
    /// The resource is another's.
    AnothersResource,
    /// Devices may not do this, to no resource at all.
    NotForDevices,
    NotFound,
    Method,
    ContentFormat,
    Malformed(&'static str),
    /// The payload does not give readings.
    Payload(Refused),
    /// It does not go together with what is there.
    Conflict(&'static str),
    /// It is not the device's fault.
    Busy,
    /// Nor is this, and the operator is to know.
    Internal(String),
}

impl Refusal {
    pub(super) const fn code(&self) -> Code {
        match self {
            Self::Key => Code::UNAUTHORIZED,
            Self::AnothersResource | Self::NotForDevices => Code::FORBIDDEN,
            Self::NotFound => Code::NOT_FOUND,
            Self::Method => Code::METHOD_NOT_ALLOWED,
            Self::ContentFormat => Code::UNSUPPORTED_CONTENT_FORMAT,
            Self::Malformed(_) | Self::Payload(_) => Code::BAD_REQUEST,
            Self::Conflict(_) => Code::CONFLICT,
            Self::Busy => Code::SERVICE_UNAVAILABLE,
            Self::Internal(_) => Code::INTERNAL_SERVER_ERROR,
        }
    }

    /// What the device's maker reads.
    pub(super) fn diagnostic(&self) -> String {
        let text = match self {
            Self::Key => "id and key do not belong together",
            Self::AnothersResource => "this is another's",
            Self::NotForDevices => "this is for people, by HTTP",
            Self::NotFound => "there is no such resource here",
            Self::Method => "this method is not for this resource",
            Self::ContentFormat => {
                "send readings as SenML (content format 110 or 112), JSON (50), CBOR (60) or text (0), and all else as JSON"
            }
            Self::Malformed(why) | Self::Conflict(why) => why,
            Self::Payload(why) => return why.to_string().chars().take(LONGEST_DIAGNOSTIC).collect(),
            Self::Busy => "too much to do, try again",
            Self::Internal(_) => "the cloud could not do this",
        };
        text.into()
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error {
            Error::Busy => Self::Busy,
            Error::Invalid(rule) => Self::Malformed(rule),
            Error::Payload(refused) => Self::Payload(refused),
            Error::Full(rule) => Self::Conflict(rule),
            Error::Taken(_) => Self::Conflict("this label is in use"),
            Error::Unknown(_) => Self::NotFound,
            error => Self::Internal(error.to_string()),
        }
    }
}

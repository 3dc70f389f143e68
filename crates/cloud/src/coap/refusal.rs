//! Why requests are refused.

use sixlock_coap_msg::Code;
use sixlock_ingest::Refused;

use crate::Error;

/// The longest diagnostic, in characters: of four bytes each, they fit a message of 1024 bytes.
pub(super) const LONGEST_DIAGNOSTIC: usize = 256;

/// After how many seconds a device may ask again if there is too much to do, and if the disk is full.
const BUSY_S: u32 = 5;
const DISK_FULL_S: u32 = 60;

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// No key, or not that of the resource; whether the resource exists is not told.
    Key,
    /// The resource is another's.
    AnothersResource,
    /// Devices may not do this, to no resource at all.
    NotForDevices,
    /// The identity of a user is not for this: by its scope, or as the user may not.
    NotForIdentity,
    /// The identity of a user is good no more.
    Ended,
    NotFound,
    Method,
    ContentFormat,
    /// It cannot be said in the format that is asked for.
    NotAcceptable,
    /// An option that must be understood is not, for this.
    Option(&'static str),
    /// What it is about is not in the state that it names.
    Precondition,
    /// A block before this one is missing.
    Incomplete,
    TooLarge,
    Malformed(&'static str),
    /// So is what it names: how.
    Invalid(String),
    /// The payload does not give readings.
    Payload(Refused),
    /// Its owner may not have more: what, and how much.
    Quota(String),
    /// Its owner may not store more points today: how many, and in how many seconds the next day begins.
    PointsOfDay(String, u32),
    /// It does not go together with what is there.
    Conflict(&'static str),
    /// Its streams take none of its points: why.
    LeftOut(String),
    /// It is not the device's fault.
    Busy,
    /// Nor is this: nothing can be stored until its operator makes room.
    DiskFull,
    /// Nor is this, and the operator is to know.
    Internal(String),
}

impl Refusal {
    pub(super) const fn code(&self) -> Code {
        match self {
            Self::Key | Self::Ended => Code::UNAUTHORIZED,
            Self::AnothersResource | Self::NotForDevices | Self::NotForIdentity | Self::Quota(_) => {
                Code::FORBIDDEN
            }
            Self::PointsOfDay(..) => Code::TOO_MANY_REQUESTS,
            Self::NotFound => Code::NOT_FOUND,
            Self::Method => Code::METHOD_NOT_ALLOWED,
            Self::ContentFormat => Code::UNSUPPORTED_CONTENT_FORMAT,
            Self::NotAcceptable => Code::NOT_ACCEPTABLE,
            Self::Option(_) => Code::BAD_OPTION,
            Self::Precondition => Code::PRECONDITION_FAILED,
            Self::Incomplete => Code::REQUEST_ENTITY_INCOMPLETE,
            Self::TooLarge => Code::REQUEST_ENTITY_TOO_LARGE,
            Self::Malformed(_) | Self::Invalid(_) | Self::Payload(_) => Code::BAD_REQUEST,
            Self::Conflict(_) | Self::LeftOut(_) => Code::CONFLICT,
            Self::Busy | Self::DiskFull => Code::SERVICE_UNAVAILABLE,
            Self::Internal(_) => Code::INTERNAL_SERVER_ERROR,
        }
    }

    /// After how many seconds to ask again
    /// ([RFC 7252 section 5.9.3.4](https://www.rfc-editor.org/rfc/rfc7252#section-5.9.3.4)).
    pub(super) const fn max_age(&self) -> Option<u32> {
        match self {
            Self::Busy => Some(BUSY_S),
            Self::DiskFull => Some(DISK_FULL_S),
            // https://www.rfc-editor.org/rfc/rfc8516#section-4
            Self::PointsOfDay(_, again_s) => Some(*again_s),
            _ => None,
        }
    }

    /// What the device's maker reads.
    pub(super) fn diagnostic(&self) -> String {
        let text = match self {
            Self::Key => "id and key do not belong together",
            Self::AnothersResource => "this is another's",
            Self::NotForDevices => "this is for people, by HTTP",
            Self::NotForIdentity => {
                "this identity is not for that: it may be to read only or for one resource, or its user may not"
            }
            Self::Ended => "this identity is good no more: make another by HTTP",
            Self::NotFound => "there is no such resource here",
            Self::Method => "this method is not for this resource",
            Self::ContentFormat => {
                "send readings as SenML (content format 110 or 112), JSON (50), CBOR (60) or text (0), and all else as JSON or CBOR"
            }
            Self::NotAcceptable => {
                "this comes as JSON (content format 50) or CBOR (60), points also as SenML (110 or 112) or text (0); SenML \
                 knows no names with other characters than letters, digits and -:./_ and no times before July 1978"
            }
            Self::Precondition => "it has changed: get it again",
            Self::Incomplete => "blocks before this one are missing: begin anew",
            Self::TooLarge => "a body has at most 65536 bytes",
            Self::Malformed(why) | Self::Conflict(why) | Self::Option(why) => why,
            Self::Quota(why) | Self::PointsOfDay(why, _) => why,
            Self::LeftOut(why) | Self::Invalid(why) => return why.chars().take(LONGEST_DIAGNOSTIC).collect(),
            Self::Payload(why) => return why.to_string().chars().take(LONGEST_DIAGNOSTIC).collect(),
            Self::Busy => "too much to do, try again",
            Self::DiskFull => "the disk of the cloud is full, try again later",
            Self::Internal(_) => "the cloud could not do this",
        };
        text.into()
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error {
            Error::Busy => Self::Busy,
            Error::DiskFull(_) => Self::DiskFull,
            Error::Invalid(rule) => Self::Malformed(rule),
            Error::Payload(refused) => Self::Payload(refused),
            Error::Quota { .. } => Self::Quota(error.to_string()),
            Error::PointsOfDay { again_ms, .. } => {
                Self::PointsOfDay(error.to_string(), u32::try_from(again_ms / 1000 + 1).unwrap_or(u32::MAX))
            }
            Error::LeftOut(_) => Self::LeftOut(error.to_string()),
            Error::Full(rule) => Self::Conflict(rule),
            Error::Taken("identity") => Self::Conflict("this identity is in use"),
            Error::Taken("label") => Self::Conflict("this label is in use"),
            Error::Taken(_) => Self::Conflict("this name is in use"),
            Error::KeyTaken => Self::Conflict("this key is in use: have another made"),
            Error::Computed => {
                Self::Conflict("this stream is computed: its points are what those of its inputs make them")
            }
            Error::Unknown(_) => Self::NotFound,
            Error::Changed => Self::Precondition,
            error => Self::Internal(error.to_string()),
        }
    }
}

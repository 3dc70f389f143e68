//! What devices are answered, and why they are refused.

use serde::Serialize;
use sixlock_coap::{BeyondTheEnd, Part};
use sixlock_coap_msg::{Block, Code, ContentFormat};
use sixlock_ingest::{Format, Refused};
use sixlock_store::ResourceId;

use super::content::{ETag, LONGEST_BODY};
use super::request::Request;
use crate::Error;

/// The longest payload of a message: with its headers it fits an IPv6 packet of 1280 bytes.
pub(crate) const LONGEST_PAYLOAD: usize = 1024;

/// The longest diagnostic, in characters: of four bytes each, they fit a message.
const LONGEST_DIAGNOSTIC: usize = LONGEST_PAYLOAD / 4;

/// After how many seconds a device may ask again if there is too much to do, and if the disk is full.
const BUSY_S: u32 = 5;
const DISK_FULL_S: u32 = 60;

/// An answer to a device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) code: Code,
    pub(crate) etag: Option<ETag>,
    pub(crate) content_format: Option<ContentFormat>,
    /// Which part of its content the payload is.
    pub(crate) block: Option<Block>,
    /// How long the content is that the payload is the first part of.
    pub(crate) size: Option<u32>,
    /// Which part of the request's body was taken.
    pub(crate) taken: Option<Block>,
    /// After how many seconds it may be another; nothing for CoAP's own, a minute.
    pub(crate) max_age: Option<u32>,
    /// Whose data it is about; nothing if that was not found out.
    pub(crate) about: Option<ResourceId>,
    pub(crate) payload: Vec<u8>,
}

impl Answer {
    /// A code alone.
    pub(crate) const fn bare(code: Code) -> Self {
        Self {
            code,
            etag: None,
            content_format: None,
            block: None,
            size: None,
            taken: None,
            max_age: None,
            about: None,
            payload: Vec::new(),
        }
    }

    /// 2.01 with what was made.
    pub(super) fn created(format: Format, made: &impl Serialize) -> Result<Self, Refusal> {
        Ok(Self { code: Code::CREATED, ..Self::content(format, made)? })
    }

    /// The answer as it is sent: the content that the client has already, by its ETag, is only confirmed, and of longer
    /// content that part is sent which it asks for.
    pub(super) fn for_request(self, request: &Request) -> Self {
        if self.code == Code::CONTENT && self.etag.is_some_and(|etag| request.has(&etag)) {
            // https://www.rfc-editor.org/rfc/rfc7252#section-5.9.1.3
            return Self { etag: self.etag, about: self.about, ..Self::bare(Code::VALID) };
        }
        if !request.is_get() {
            // To ask for the rest of it would be to do it again.
            return self;
        }
        match Part::of(&self.payload, request.block(), request.largest_block) {
            Ok(Part { block, .. }) if block.is_none() => self,
            Ok(Part { block, bytes }) => {
                let is_first = block.is_some_and(|block| block.number() == 0);
                let size = u32::try_from(self.payload.len()).ok().filter(|_| is_first);
                Self { block, size, payload: bytes.to_vec(), ..self }
            }
            Err(BeyondTheEnd) => Self::bare(Code::BAD_REQUEST),
        }
    }

    /// The answer as the endpoint takes it.
    pub(crate) fn lend(&self) -> sixlock_coap::Answer<'_> {
        sixlock_coap::Answer {
            etag: self.etag.as_ref().map(<[u8; 8]>::as_slice),
            format: self.content_format,
            block2: self.block,
            size2: self.size,
            block1: self.taken,
            max_age: self.max_age,
            // How long a body may be.
            size1: (self.code == Code::REQUEST_ENTITY_TOO_LARGE).then_some(LONGEST_BODY as u32),
            payload: &self.payload,
            ..self.code.into()
        }
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
    /// The payload does not give readings.
    Payload(Refused),
    /// It does not go together with what is there.
    Conflict(&'static str),
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
            Self::Key => Code::UNAUTHORIZED,
            Self::AnothersResource | Self::NotForDevices => Code::FORBIDDEN,
            Self::NotFound => Code::NOT_FOUND,
            Self::Method => Code::METHOD_NOT_ALLOWED,
            Self::ContentFormat => Code::UNSUPPORTED_CONTENT_FORMAT,
            Self::NotAcceptable => Code::NOT_ACCEPTABLE,
            Self::Option(_) => Code::BAD_OPTION,
            Self::Precondition => Code::PRECONDITION_FAILED,
            Self::Incomplete => Code::REQUEST_ENTITY_INCOMPLETE,
            Self::TooLarge => Code::REQUEST_ENTITY_TOO_LARGE,
            Self::Malformed(_) | Self::Payload(_) => Code::BAD_REQUEST,
            Self::Conflict(_) => Code::CONFLICT,
            Self::Busy | Self::DiskFull => Code::SERVICE_UNAVAILABLE,
            Self::Internal(_) => Code::INTERNAL_SERVER_ERROR,
        }
    }

    /// The answer that says so.
    pub(super) fn answer(&self) -> Answer {
        let payload = self.diagnostic().into_bytes();
        Answer { payload, max_age: self.max_age(), ..Answer::bare(self.code()) }
    }

    /// After how many seconds to ask again
    /// ([RFC 7252 section 5.9.3.4](https://www.rfc-editor.org/rfc/rfc7252#section-5.9.3.4)).
    const fn max_age(&self) -> Option<u32> {
        match self {
            Self::Busy => Some(BUSY_S),
            Self::DiskFull => Some(DISK_FULL_S),
            _ => None,
        }
    }

    /// What the device's maker reads.
    fn diagnostic(&self) -> String {
        let text = match self {
            Self::Key => "id and key do not belong together",
            Self::AnothersResource => "this is another's",
            Self::NotForDevices => "this is for people, by HTTP",
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
            Error::Full(rule) => Self::Conflict(rule),
            Error::Taken(_) => Self::Conflict("this label is in use"),
            Error::Unknown(_) => Self::NotFound,
            Error::Changed => Self::Precondition,
            error => Self::Internal(error.to_string()),
        }
    }
}

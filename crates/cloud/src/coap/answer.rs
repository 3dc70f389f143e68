//! What devices are answered.

use sixlock_coap::{BeyondTheEnd, Part};
use sixlock_coap_msg::{Block, Code, ContentFormat};

use super::refusal::Refusal;
use super::request::Request;
use sixlock_store::ResourceId;

/// The longest payload of a message: with its headers it fits an IPv6 packet of 1280 bytes.
pub(crate) const LONGEST_PAYLOAD: usize = 1024;

/// The longest body, of a request or an answer: a longer list is cut.
pub(super) const LONGEST_BODY: usize = 65_536;

/// Which state of a thing an answer shows: the beginning of a digest of it as JSON, whatever the answer's format.
pub(crate) type ETag = [u8; 8];

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

impl From<&Refusal> for Answer {
    fn from(refusal: &Refusal) -> Self {
        let payload = refusal.diagnostic().into_bytes();
        Self { payload, max_age: refusal.max_age(), ..Self::bare(refusal.code()) }
    }
}

//! Answers to requests.

use sixlock_coap_msg::{Block, Code, ContentFormat};

use crate::ids::Holder;

/// The longest payload of a message, in bytes: with its headers it fits an IPv6 packet of 1280 bytes.
pub const LONGEST_PAYLOAD: usize = 1024;

/// An entity tag ([RFC 7252 section 5.10.6](https://www.rfc-editor.org/rfc/rfc7252#section-5.10.6)).
pub type ETag = [u8; 8];

/// An answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The code.
    pub code: Code,
    /// Which state of the resource it is.
    pub etag: Option<ETag>,
    /// The format of the payload.
    pub format: Option<ContentFormat>,
    /// Which part of the whole the payload is.
    pub block2: Option<Block>,
    /// The length of the whole of which the payload is the first part, in bytes.
    pub size2: Option<u32>,
    /// Which part of the request's body was taken.
    pub block1: Option<Block>,
    /// The greatest length of a request's body, in bytes.
    pub size1: Option<u32>,
    /// The number of seconds after which it may be another; `None` for CoAP's own, 60.
    pub max_age: Option<u32>,
    /// The device or user whose observation it begins, if it does; `None` if that was not found out. Of each, a limited number is taken.
    pub about: Option<Holder>,
    /// The payload, of at most [`LONGEST_PAYLOAD`] bytes.
    pub payload: Vec<u8>,
}

impl Answer {
    /// A code alone.
    pub const fn new(code: Code) -> Self {
        Self {
            code,
            etag: None,
            format: None,
            block2: None,
            size2: None,
            block1: None,
            size1: None,
            max_age: None,
            about: None,
            payload: Vec::new(),
        }
    }

    /// Returns the code without its dot: 205 for 2.05.
    pub(crate) fn status(&self) -> u16 {
        u16::from(self.code.class()) * 100 + u16::from(self.code.detail())
    }

    /// Returns the answer as the endpoint takes it.
    pub(crate) fn lend(&self) -> sixlock_coap::Answer<'_> {
        sixlock_coap::Answer {
            etag: self.etag.as_ref().map(<[u8; 8]>::as_slice),
            format: self.format,
            block2: self.block2,
            size2: self.size2,
            block1: self.block1,
            size1: self.size1,
            max_age: self.max_age,
            payload: &self.payload,
            ..self.code.into()
        }
    }
}

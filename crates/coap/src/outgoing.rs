use sixlock_coap_msg::{BuildError, Builder, Code, ContentFormat, HEADER, MAX_TOKEN};

/// The most that one segment of the path, or the content format, takes besides its value.
const OPTION_HEAD: usize = 3;
/// The longest value of a content format, in bytes.
const FORMAT: usize = 2;

/// A request that a server makes of a peer, in whose session both are client and server
/// ([RFC 7252 section 2.2](https://www.rfc-editor.org/rfc/rfc7252#section-2.2)).
#[derive(Clone, Copy, Debug)]
pub struct OutgoingRequest<'a> {
    /// The method.
    pub code: Code,
    /// The segments of the path.
    pub path: &'a [&'a str],
    /// The payload's format.
    pub format: ContentFormat,
    /// The payload.
    pub payload: &'a [u8],
}

impl OutgoingRequest<'_> {
    /// No message with this request is longer.
    pub fn max_len(&self) -> usize {
        let path: usize = self.path.iter().map(|segment| OPTION_HEAD + segment.len()).sum();
        HEADER + MAX_TOKEN + path + OPTION_HEAD + FORMAT + 1 + self.payload.len()
    }

    /// Writes options and payload.
    pub(crate) fn write(&self, mut builder: Builder<'_>) -> Result<usize, BuildError> {
        builder.path(self.path)?.content_format(self.format)?;
        builder.finish_with(self.payload)
    }
}

//! The node's own CoAP server: its latest reading, for whoever asks.

use sixlock_base::{Cx, Entropy};
use sixlock_coap::{Responder, Response};
use sixlock_coap_msg::{BuildError, Builder, Code, ContentFormat, Message, OptionNumber};
use sixlock_senml::DeviceName;

use crate::sensor::{Measurement, write_pack};

/// The critical options that the server knows. That the host and port in them are those of the request, IPv6 and UDP
/// have seen to.
pub(crate) const KNOWN: &[OptionNumber] = &[
    OptionNumber::URI_HOST,
    OptionNumber::URI_PORT,
    OptionNumber::URI_PATH,
    OptionNumber::URI_QUERY,
    OptionNumber::ACCEPT,
];

/// What there is, in the link format ([RFC 6690](https://www.rfc-editor.org/rfc/rfc6690)).
const LINKS: &[u8] = b"</sensors>;ct=110";

/// Serves `/sensors`, the latest reading of at most `READINGS` quantities, and `/.well-known/core`.
pub(crate) struct Service<const READINGS: usize> {
    responder: Responder,
    latest: heapless::Vec<Measurement, READINGS>,
}

impl<const READINGS: usize> Service<READINGS> {
    pub(crate) const fn new() -> Self {
        Self { responder: Responder::new(), latest: heapless::Vec::new() }
    }

    /// Keeps as many of `measurements` as there is room for.
    pub(crate) fn keep(&mut self, measurements: &[Measurement]) {
        self.latest = measurements.iter().copied().take(READINGS).collect();
    }

    /// Answers a datagram: fills `out`, and returns how long the answer is, if there is one.
    pub(crate) fn handle<C, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        name: &DeviceName,
        datagram: &[u8],
        out: &mut [u8],
    ) -> Option<usize> {
        let Self { responder, latest } = self;
        responder.handle(cx, KNOWN, datagram, out, |request, response| {
            answer(request, response, name, latest, LINKS)
        })
    }
}

pub(crate) fn answer(
    request: &Message<'_>,
    response: Response<'_>,
    name: &DeviceName,
    latest: &[Measurement],
    links: &[u8],
) -> Result<usize, BuildError> {
    let (format, reading) = if request.path_is(&["sensors"]) {
        (ContentFormat::SENML_JSON, true)
    } else if request.path_is(&[".well-known", "core"]) {
        (ContentFormat::LINK_FORMAT, false)
    } else {
        return response.with_code(Code::NOT_FOUND).map(Builder::finish);
    };
    let accepted = request.value(OptionNumber::ACCEPT).and_then(|accept| accept.uint());
    let refused = match () {
        () if request.code() != Code::GET => Some(Code::METHOD_NOT_ALLOWED),
        () if accepted.is_some_and(|accepted| accepted != format.0.into()) => Some(Code::NOT_ACCEPTABLE),
        // Nothing has been measured yet.
        () if reading && latest.is_empty() => Some(Code::SERVICE_UNAVAILABLE),
        () => None,
    };
    if let Some(code) = refused {
        return response.with_code(code).map(Builder::finish);
    }
    let mut content = response.with_code(Code::CONTENT)?;
    content.content_format(format)?;
    match reading {
        true => content.finish_written(|out| write_pack(out, name, latest)),
        false => content.finish_with(links),
    }
}

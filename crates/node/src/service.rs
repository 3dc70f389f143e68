//! The node's own CoAP server: its latest reading, for whoever asks.

use sixlock_base::{Cx, Duration, Entropy, Instant, New};
use sixlock_coap::{Observers, Responder, Response};
use sixlock_coap_msg::{BuildError, Builder, Code, ContentFormat, Message, OptionNumber};
use sixlock_senml::DeviceName;

use crate::measurement::{Measurement, write_pack};
use crate::sessions::Peer;

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
/// What there is, where it can be observed
/// ([RFC 7641 section 6](https://www.rfc-editor.org/rfc/rfc7641#section-6)).
const OBSERVABLE_LINKS: &[u8] = b"</sensors>;ct=110;obs";

/// For how long a response is fresh that does not say it, in seconds.
const MAX_AGE: u32 = 60;

/// How a node tells its latest reading to those who ask by CoAP; not at all for `()`.
pub trait Service: New {
    /// Whether it does.
    const SERVES: bool;

    /// Whether the readings can be observed.
    const IS_OBSERVED: bool;

    /// Keeps a reading.
    fn keep(&mut self, _: &[Measurement]) {}

    /// Answers a datagram: fills `out`, and returns how long the answer is, if there is one. The readings are those of the device
    /// `name`, and one is made each `period`.
    fn handle<C, E: Entropy, N>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: (&DeviceName, Duration),
        _: Peer,
        _: &[u8],
        _: &mut [u8],
    ) -> Option<usize> {
        None
    }

    /// Fills `out` with the next notification; returns the observer that it is for, and how long it is.
    fn poll_transmit<C, E: Entropy, N>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: &DeviceName,
        _: Duration,
        _: &mut [u8],
    ) -> Option<(Peer, usize)> {
        None
    }

    /// When to call [`Service::handle_timeout`].
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Does what is due.
    fn handle_timeout<C, E: Entropy, N>(&mut self, _: &mut Cx<'_, C, E, N>) {}
}

impl Service for () {
    const SERVES: bool = false;
    const IS_OBSERVED: bool = false;
}

/// Serves `/sensors`, the latest reading of at most `READINGS` quantities, and `/.well-known/core`. At most `OBSERVERS` observe
/// the readings.
pub struct Readings<const READINGS: usize, const OBSERVERS: usize = 0> {
    responder: Responder,
    latest: heapless::Vec<Measurement, READINGS>,
    observers: Observers<Peer, OBSERVERS>,
}

impl<const READINGS: usize, const OBSERVERS: usize> New for Readings<READINGS, OBSERVERS> {
    const NEW: Self =
        Self { responder: Responder::new(), latest: heapless::Vec::new(), observers: Observers::new() };
}

impl<const READINGS: usize, const OBSERVERS: usize> Service for Readings<READINGS, OBSERVERS> {
    const SERVES: bool = READINGS > 0;
    const IS_OBSERVED: bool = OBSERVERS > 0;

    /// Keeps as many of `measurements` as there is room for.
    fn keep(&mut self, measurements: &[Measurement]) {
        self.latest = measurements.iter().copied().take(READINGS).collect();
        if OBSERVERS > 0 {
            self.observers.changed();
        }
    }

    fn handle<C, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        (name, period): (&DeviceName, Duration),
        peer: Peer,
        datagram: &[u8],
        out: &mut [u8],
    ) -> Option<usize> {
        let Self { responder, latest, observers } = self;
        if OBSERVERS > 0 && observers.handle(peer, datagram) {
            return None;
        }
        let (now, links) = (cx.now, if OBSERVERS > 0 { OBSERVABLE_LINKS } else { LINKS });
        responder.handle(cx, KNOWN, datagram, out, |request, response| {
            answer::<OBSERVERS>(request, response, name, latest, links, || {
                Some(Observed { number: observers.request(now, peer, request)?, period })
            })
        })
    }

    fn poll_transmit<C, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        name: &DeviceName,
        period: Duration,
        out: &mut [u8],
    ) -> Option<(Peer, usize)> {
        let Self { responder, latest, observers } = self;
        observers.poll_transmit(cx, responder, out, |response, number| {
            tell::<OBSERVERS>(response, name, latest, || Some(Observed { number, period }))
        })
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.observers.poll_timeout()
    }

    fn handle_timeout<C, E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.observers.handle_timeout(cx);
    }
}

/// That readings are observed that are made so often, and where in their order one stands.
pub(crate) struct Observed {
    pub(crate) number: u32,
    pub(crate) period: Duration,
}

/// Answers a request. With `OBSERVERS`, `observe` begins or ends what it asks for, if it is for the readings.
pub(crate) fn answer<const OBSERVERS: usize>(
    request: &Message<'_>,
    response: Response<'_>,
    name: &DeviceName,
    latest: &[Measurement],
    links: &[u8],
    observe: impl FnOnce() -> Option<Observed>,
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
    if reading {
        return tell::<OBSERVERS>(response, name, latest, observe);
    }
    let mut content = response.with_code(Code::CONTENT)?;
    content.content_format(format)?;
    content.finish_with(links)
}

/// Tells the latest reading; with `OBSERVERS`, as `observe` says.
pub(crate) fn tell<const OBSERVERS: usize>(
    response: Response<'_>,
    name: &DeviceName,
    latest: &[Measurement],
    observe: impl FnOnce() -> Option<Observed>,
) -> Result<usize, BuildError> {
    let observed = if OBSERVERS > 0 { observe() } else { None };
    let mut content = response.with_code(Code::CONTENT)?;
    if let Some(Observed { number, .. }) = observed {
        content.option_uint(OptionNumber::OBSERVE, number)?;
    }
    content.content_format(ContentFormat::SENML_JSON)?;
    // Who hears nothing for so long asks again, and is not to when a reading was lost:
    // https://www.rfc-editor.org/rfc/rfc7641#section-4.3.1
    if let Some(Observed { period, .. }) = observed
        && period.millis() / 500 > MAX_AGE
    {
        content.option_uint(OptionNumber::MAX_AGE, period.millis() / 500)?;
    }
    content.finish_written(|out| write_pack(out, name, latest))
}

//! Why a poll gave nothing, in words for the owner of the resource.

use std::fmt;
use std::io;

use sixlock_coap_msg::Code;
use sixlock_dtls::Failure as Handshake;

use super::guard::Refusal;
use super::target::BadUrl;

/// Why a poll gave nothing.
#[derive(Debug)]
pub(super) enum Failure {
    /// The URL, or one that it redirects to, cannot be polled.
    Url(BadUrl),
    /// It may not be polled.
    Refused(Refusal),
    /// The name stands for no address.
    Unresolved,
    /// The network says no.
    Network(io::Error),
    /// There was no answer in time.
    TimedOut,
    /// The server's certificate or TLS is not good.
    Tls(io::Error),
    /// What came is not HTTP.
    Http(hyper::Error),
    /// Redirects led too far, or from https to http.
    Redirect(&'static str),
    /// HTTP's answer is not a success.
    Status(u16),
    /// The body is longer than is taken.
    TooLong,
    /// The body is compressed, though that was not asked for.
    Encoded,
    /// The DTLS handshake or session failed.
    Dtls(Handshake),
    /// The server closed the session before it answered.
    Closed,
    /// CoAP's answer is not 2.05.
    Code(Code),
    /// The server rejected the message.
    Reset,
    /// The blocks of the answer do not belong together.
    Blocks,
    /// The answer has an option that it must not be used without knowing.
    Option,
    /// The request does not fit a datagram.
    Request,
    /// Readings do not come in the format that the answer states.
    Format,
    /// The readings could not be understood or stored.
    Store(crate::Error),
}

impl Failure {
    /// Whether the server may have forgotten the session in which this happened.
    pub(super) fn may_be_a_lost_session(&self) -> bool {
        matches!(self, Self::TimedOut | Self::Dtls(_) | Self::Closed | Self::Network(_))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(why) => write!(f, "the URL cannot be polled: {why}"),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Unresolved => f.write_str("the name stands for no address"),
            Self::Network(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                f.write_str("nobody listens there")
            }
            Self::Network(error) => write!(f, "it cannot be reached: {error}"),
            Self::TimedOut => f.write_str("no answer came in time"),
            Self::Tls(error) => write!(f, "TLS failed: {error}"),
            Self::Http(error) => write!(f, "the answer is not good HTTP: {error}"),
            Self::Redirect(why) => f.write_str(why),
            Self::Status(status) => write!(f, "the answer is {status}"),
            Self::TooLong => f.write_str("the answer is longer than 65536 bytes"),
            Self::Encoded => f.write_str("the answer is compressed, though that was not asked for"),
            Self::Dtls(Handshake::TimedOut) => f.write_str("nobody answered the DTLS handshake"),
            Self::Dtls(Handshake::Authentication) => f.write_str("the DTLS key is not that of the device"),
            Self::Dtls(Handshake::Negotiation) => {
                f.write_str("the device does not know TLS_PSK_WITH_AES_128_CCM_8")
            }
            Self::Dtls(Handshake::Refused(alert)) => write!(
                f,
                "the device refused the DTLS handshake (alert {}); does it know this identity and key?",
                alert.0
            ),
            Self::Dtls(Handshake::Alert(alert)) => {
                write!(f, "the device ended the DTLS session (alert {})", alert.0)
            }
            Self::Closed => f.write_str("the device closed the DTLS session"),
            Self::Code(code) => write!(f, "the answer is {}.{:02}", code.class(), code.detail()),
            Self::Reset => f.write_str("the device rejected the request"),
            Self::Blocks => f.write_str(
                "the answer comes in blocks that do not belong together; did it change meanwhile?",
            ),
            Self::Option => f.write_str("the answer has an option that is not understood"),
            Self::Request => f.write_str("the URL is too long for a datagram"),
            Self::Format => {
                f.write_str("the answer is neither SenML, JSON, CBOR nor text, or does not say so")
            }
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl From<BadUrl> for Failure {
    fn from(why: BadUrl) -> Self {
        Self::Url(why)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<crate::Error> for Failure {
    fn from(error: crate::Error) -> Self {
        Self::Store(error)
    }
}

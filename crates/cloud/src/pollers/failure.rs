//! Why a poll gave nothing, in words for the owner of the resource.

use std::fmt;
use std::io;

use sixlock_coap_msg::Code;
use sixlock_dtls::{Failure as Handshake, Refusal as Unreadable};
use sixlock_x509::Error;

use super::guard::Refusal;
use super::target::BadUrl;

/// Why a poll gave nothing.
#[derive(Debug)]
pub(crate) enum Failure {
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
    /// There is no key by which the device could be known.
    Unknown,
    /// The device tells no more what changes.
    Unobserved,
    /// It has answered, and cannot be listened to besides.
    TooManyObserved,
    /// The DTLS handshake or session failed, and why DTLS refused something before that, if it did.
    Dtls(Handshake, Option<Unreadable>),
    /// What the device has shown proves nothing.
    Unproved(Unproved),
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

/// Why a device's public key or certificate does not prove which device it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unproved {
    /// The key is another.
    Key,
    /// The certificate bears another name.
    Name,
    /// The certificate, or key, is no good.
    Certificate(Error),
}

impl fmt::Display for Unproved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key => "the device has another public key than the one by which this resource is known",
            Self::Name => "the device's certificate bears another name than the identity of this resource",
            Self::Certificate(Error::Expired) => "the device's certificate has expired",
            Self::Certificate(Error::NotYetValid) => "the device's certificate is not valid yet",
            Self::Certificate(Error::UnknownAuthority | Error::Signature) => {
                "the device's certificate is signed by none of the authorities that this cloud trusts"
            }
            Self::Certificate(Error::KeyUsage | Error::Purpose) => {
                "the device's certificate is not one for servers, which sixlock keys x509 --server makes"
            }
            Self::Certificate(_) => {
                "the device's key or certificate is not one of P-256 of the form that this cloud takes"
            }
        })
    }
}

impl Failure {
    /// Whether the cloud cannot store for now what it would store at another time.
    pub(super) fn is_of_cloud(&self) -> bool {
        use crate::Error;
        let Self::Store(error) = self else { return false };
        matches!(
            error,
            Error::Busy
                | Error::Database(_)
                | Error::Append(_)
                | Error::DiskFull(_)
                | Error::File { .. }
                | Error::Died(_)
        )
    }

    /// Whether the server may have forgotten the session in which this happened.
    pub(super) fn may_be_a_lost_session(&self) -> bool {
        matches!(self, Self::TimedOut | Self::Dtls(..) | Self::Closed | Self::Network(_))
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
            Self::Unknown => f.write_str("the resource has no key by which the device could be known"),
            Self::Unobserved => f.write_str("the device tells no more what changes; it is asked again"),
            Self::TooManyObserved => f.write_str(
                "it was polled, and is not observed: this cloud listens to at most 64 devices of a user and 256 in all",
            ),
            Self::Unproved(why) => why.fmt(f),
            Self::Dtls(Handshake::TimedOut, None) => f.write_str("nobody answered the DTLS handshake"),
            Self::Dtls(Handshake::TimedOut, Some(refusal)) => {
                write!(f, "nobody answered the DTLS handshake with what could be taken ({})", refusal.name())
            }
            Self::Dtls(Handshake::Authentication(refusal), _) => {
                write!(f, "the DTLS key is not that of the device ({})", refusal.name())
            }
            Self::Dtls(Handshake::Negotiation(refusal), _) => write!(
                f,
                "the device knows no DTLS suite that the cloud has for this kind of key ({})",
                refusal.name()
            ),
            Self::Dtls(Handshake::Refused(alert), _) => write!(
                f,
                "the device refused the DTLS handshake (alert {}); does it know this cloud by this identity and key?",
                alert.0
            ),
            Self::Dtls(Handshake::Alert(alert), refusal) => {
                write!(f, "the device ended the DTLS session (alert {})", alert.0)?;
                let told = |refusal: &Unreadable| {
                    write!(f, ", after it had sent what the cloud refused ({})", refusal.name())
                };
                refusal.as_ref().map_or(Ok(()), told)
            }
            Self::Closed => f.write_str("the device closed the DTLS session"),
            Self::Code(Code::SERVICE_UNAVAILABLE) => f.write_str("the answer is 5.03: the device has nothing to tell yet"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handshake_without_a_good_answer_says_what_dtls_refused() {
        let said = |refusal| Failure::Dtls(Handshake::TimedOut, refusal).to_string();
        assert_eq!(said(None), "nobody answered the DTLS handshake");
        let refusal = Unreadable::all().next().unwrap();
        assert!(said(Some(refusal)).ends_with(&format!("({})", refusal.name())));
    }
}

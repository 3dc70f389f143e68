//! Why the cloud did not start, in words that say what to do.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use sixlock_store::Error;

/// Why the cloud did not start.
#[derive(Debug)]
pub enum StartError {
    /// An address cannot be listened at.
    Bind {
        /// The address.
        address: SocketAddr,
        /// The option that chooses another.
        option: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// HTTP without TLS would be open to the network.
    ExposedHttp(SocketAddr),
    /// The file does not hold the certificate of an authority.
    Authority(PathBuf),
    /// TLS cannot be set up.
    Tls(tokio_rustls::rustls::Error),
    /// TLS with the SMTP server cannot be set up.
    Mail(lettre::transport::smtp::Error),
    /// There is a user at the SMTP server without a password, or a password without a user.
    MailPassword,
    /// The store cannot be opened, or a file that the cloud needs.
    Store(Error),
    /// The CoAP server cannot start.
    CoapServer(sixlock_coap_server::Error),
}

impl StartError {
    pub(crate) fn bind(option: &'static str, address: SocketAddr, source: io::Error) -> Self {
        Self::Bind { address, option, source }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind { address, option, source } => write!(
                f,
                "cannot listen at {address}: {source}; choose another address with {option}, or port 0 there for any free one"
            ),
            Self::ExposedHttp(address) => write!(
                f,
                "{address} can be reached from the network, and HTTP there needs TLS; pass --tls-cert and \
                 --tls-key, listen at 127.0.0.1, or pass --behind-proxy if a proxy in front does TLS"
            ),
            Self::Authority(path) => write!(
                f,
                "{} does not hold certificates of authorities with keys of P-256; choose another file with --device-ca",
                path.display()
            ),
            Self::Tls(source) => write!(f, "TLS cannot be set up: {source}; please report this"),
            Self::Mail(source) => write!(f, "no SMTP server can be spoken to: {source}; name another with --smtp"),
            Self::MailPassword => f.write_str(
                "a user at the SMTP server and a password go together: pass --smtp smtp://USER@HOST and --smtp-password FILE",
            ),
            Self::Store(error) => error.fmt(f),
            Self::CoapServer(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bind { source, .. } => Some(source),
            Self::Tls(source) => Some(source),
            Self::Mail(source) => Some(source),
            Self::Store(error) => error.source(),
            Self::CoapServer(error) => error.source(),
            Self::ExposedHttp(_) | Self::Authority(_) | Self::MailPassword => None,
        }
    }
}

impl From<Error> for StartError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<sixlock_coap_server::Error> for StartError {
    fn from(error: sixlock_coap_server::Error) -> Self {
        Self::CoapServer(error)
    }
}

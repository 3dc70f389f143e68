//! A connection to a broker.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use sixlock_store::BrokerToServe;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::packets::{self, Answer, Connect, DISCONNECT};
use crate::pollers::{BadUrl, Failure, Guard, Scheme, Target, connect};
use crate::{Error, StartError};

/// How long a broker may take to be connected to, and to say whether it takes the client.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a broker may take to read what it is sent.
const SENDING: Duration = Duration::from_secs(30);
/// After how many seconds of silence a broker may take the cloud for gone.
const KEEP_ALIVE: u16 = 90;
/// How much is read at a time.
const READ: usize = 256;
/// The most certificates of authorities of a broker.
const AUTHORITIES: usize = 16;

/// Why a session did not begin, or ended.
#[derive(Debug)]
pub(super) enum SessionError {
    /// The address is no good, or cannot be reached.
    Unreached(Failure),
    /// The broker's certificate or TLS is not good.
    Tls(io::Error),
    /// The authority is not what it was when it was set.
    Authority(&'static str),
    /// The broker does not take the client.
    Refused(u8),
    /// It closed the connection before it said anything.
    ClosedAtOnce,
    /// It closed the connection.
    Closed,
    /// The connection broke.
    Broken(io::Error),
    /// What came is no MQTT.
    NotMqtt,
    /// It did not answer in time when a session was begun.
    TimedOut,
    /// It did not read what it was sent.
    Unread,
    /// It gave no sign of life.
    Silent,
    /// It did not acknowledge a message.
    Unacknowledged,
    /// The points could not be read.
    Store(Error),
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreached(failure) => failure.fmt(f),
            Self::Tls(error) => write!(f, "TLS failed: {error}"),
            Self::Authority(why) => write!(f, "authority: {why}"),
            Self::Refused(1) => f.write_str("the broker does not speak MQTT 3.1.1"),
            Self::Refused(2) => {
                f.write_str("the broker does not take this client id; choose another, of letters and digits")
            }
            Self::Refused(3) => f.write_str("the broker says that it is not available for now"),
            Self::Refused(4) => f.write_str("the broker refused user name or password"),
            Self::Refused(5) => {
                f.write_str("the broker says that the client is not authorized: user name or password is wrong, or may not be used from here")
            }
            Self::Refused(code) => write!(f, "the broker refused the connection, with code {code}"),
            Self::ClosedAtOnce => f.write_str(
                "the broker closed the connection before it said anything; is it MQTT that is spoken there, and with TLS (mqtts) or without (mqtt)?",
            ),
            Self::Closed => f.write_str("the broker closed the connection"),
            Self::Broken(error) => write!(f, "the connection broke: {error}"),
            Self::NotMqtt => f.write_str("what came is not what a broker of MQTT 3.1.1 says"),
            Self::TimedOut => f.write_str("the broker did not answer within 10 s"),
            Self::Unread => f.write_str("the broker did not read what it was sent within 30 s"),
            Self::Silent => f.write_str("the broker gave no sign of life for 30 s"),
            Self::Unacknowledged => f.write_str("the broker did not acknowledge a message in time"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl From<Error> for SessionError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// The certificates in `pem`, by which a broker may be known.
pub(super) fn authorities(pem: &str) -> Result<RootCertStore, &'static str> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(|_| "it is not PEM")?;
        roots.add(certificate).map_err(|_| "one of its certificates is not one of X.509")?;
        if roots.len() > AUTHORITIES {
            return Err("it has more than 16 certificates");
        }
    }
    if roots.is_empty() { Err("it holds no certificate (-----BEGIN CERTIFICATE-----)") } else { Ok(roots) }
}

fn connector(roots: RootCertStore) -> Result<TlsConnector, StartError> {
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(StartError::Tls)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Connects to brokers. Clones share what they trust.
#[derive(Clone)]
pub(crate) struct Dialer {
    pub(super) guard: Guard,
    tls: TlsConnector,
}

impl Dialer {
    /// Connects where `guard` lets it, and trusts what the system trusts.
    pub(crate) fn new(guard: Guard) -> Result<Self, StartError> {
        let mut roots = RootCertStore::empty();
        // Without any, brokers with TLS say that the issuer is unknown.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Ok(Self { guard, tls: connector(roots)? })
    }

    /// Begins a session as `client_id`.
    pub(super) async fn connect(
        &self,
        broker: &BrokerToServe,
        client_id: &str,
    ) -> Result<Session, SessionError> {
        timeout(PATIENCE, self.begin(broker, client_id)).await.unwrap_or(Err(SessionError::TimedOut))
    }

    async fn begin(&self, broker: &BrokerToServe, client_id: &str) -> Result<Session, SessionError> {
        let target =
            Target::parse_broker(&broker.settings.url).map_err(|why| SessionError::Unreached(why.into()))?;
        let stream = connect(&self.guard, &target).await.map_err(SessionError::Unreached)?;
        // Packets are small, and go out when they are written.
        stream.set_nodelay(true).map_err(SessionError::Broken)?;
        let mut session = match target.scheme() {
            Scheme::Mqtts => {
                let tls = match &broker.settings.authority {
                    None => self.tls.clone(),
                    Some(pem) => {
                        let roots = authorities(pem).map_err(SessionError::Authority)?;
                        connector(roots)
                            .map_err(|_| SessionError::Authority("TLS cannot be begun with it"))?
                    }
                };
                let name = ServerName::try_from(target.host().to_owned());
                let name = name.map_err(|_| SessionError::Unreached(BadUrl::Host.into()))?;
                Session::over(tls.connect(name, stream).await.map_err(SessionError::Tls)?)
            }
            _ => Session::over(stream),
        };
        let connect = Connect {
            client_id,
            username: broker.settings.username.as_deref(),
            password: broker.password.as_ref().map(|password| password.bytes()),
            keep_alive: KEEP_ALIVE,
        };
        session.send(&connect.packet()).await?;
        match session.receive().await {
            Ok(Answer::Connected(0)) => Ok(session),
            Ok(Answer::Connected(code)) => Err(SessionError::Refused(code)),
            Ok(_) => Err(SessionError::NotMqtt),
            Err(SessionError::Closed) => Err(SessionError::ClosedAtOnce),
            Err(error) => Err(error),
        }
    }
}

/// A session with a broker.
pub(super) struct Session {
    reader: Box<dyn AsyncRead + Send + Unpin>,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    /// What came, and is no whole packet yet: a few bytes.
    received: Vec<u8>,
}

impl Session {
    fn over(stream: impl AsyncRead + AsyncWrite + Send + 'static) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self { reader: Box::new(reader), writer: Box::new(writer), received: Vec::new() }
    }

    /// Sends packets.
    pub(super) async fn send(&mut self, packets: &[u8]) -> Result<(), SessionError> {
        let sent = async {
            self.writer.write_all(packets).await?;
            self.writer.flush().await
        };
        let sent = timeout(SENDING, sent).await.map_err(|_| SessionError::Unread)?;
        sent.map_err(SessionError::Broken)
    }

    /// Waits for the next packet. Whoever waits no longer loses nothing.
    pub(super) async fn receive(&mut self) -> Result<Answer, SessionError> {
        loop {
            let read = packets::read(&self.received).map_err(|_| SessionError::NotMqtt)?;
            if let Some((answer, length)) = read {
                self.received.drain(..length);
                return Ok(answer);
            }
            let mut bytes = [0; READ];
            match self.reader.read(&mut bytes).await {
                Ok(0) => return Err(SessionError::Closed),
                Ok(length) => self.received.extend(&bytes[..length]),
                // TLS that is not ended in order.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Err(SessionError::Closed);
                }
                Err(error) => return Err(SessionError::Broken(error)),
            }
        }
    }

    /// Ends it in order.
    pub(super) async fn end(mut self) {
        let ended = async {
            self.writer.write_all(&DISCONNECT).await?;
            self.writer.shutdown().await
        };
        // Whoever does not read does not hold up the end.
        let _ = timeout(Duration::from_secs(1), ended).await;
    }
}

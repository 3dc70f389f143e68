//! Asking, and telling, by HTTP/1.1 and HTTPS. One request a connection, to the address that was checked.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use sixlock_ingest::Format;
use sixlock_store::Secret;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::connect::connect;
use super::failure::Failure;
use super::guard::Guard;
use super::payload::{LONGEST_BODY, Payload};
use super::target::{BadUrl, Scheme, Target};
use crate::StartError;

/// How long one request may take with all its redirects.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a redirect is followed.
const REDIRECTS: usize = 3;
/// The longest head of an answer.
const LONGEST_HEAD: usize = 64 << 10;

/// Asks and tells HTTP servers. Clones share what they trust.
#[derive(Clone)]
pub(crate) struct Http {
    tls: TlsConnector,
}

impl Http {
    /// Trusts servers whose certificates lead to one of `roots`.
    pub(super) fn new(roots: RootCertStore) -> Result<Self, StartError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(StartError::Tls)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { tls: TlsConnector::from(Arc::new(config)) })
    }

    /// Trusts what the system trusts.
    pub(crate) fn trusting_the_system() -> Result<Self, StartError> {
        let mut roots = RootCertStore::empty();
        // Without any, HTTPS polls say that the issuer is unknown.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Self::new(roots)
    }

    /// Gets `target`. The authorization is sent to its own scheme, host and port only.
    pub(super) async fn get(
        &self,
        guard: &Guard,
        target: &Target,
        authorization: Option<&Secret>,
    ) -> Result<Payload, Failure> {
        let asked = self.follow(guard, target, authorization);
        tokio::time::timeout(PATIENCE, asked).await.unwrap_or(Err(Failure::TimedOut))
    }

    /// Posts `body` to `target`, with these headers. Redirects are not followed: what is told is for nobody else.
    pub(crate) async fn post(
        &self,
        guard: &Guard,
        target: &Target,
        headers: Vec<(HeaderName, HeaderValue)>,
        body: Vec<u8>,
    ) -> Result<(), Failure> {
        let asked = async {
            let answered =
                self.ask(guard, target, &Asked { method: Method::POST, headers, body: body.into() }).await?;
            let status = answered.response.status();
            if status.is_redirection() {
                return Err(Failure::Redirect("it redirects, and what is told goes nowhere else"));
            }
            if status.is_success() { Ok(()) } else { Err(Failure::Status(status.as_u16())) }
        };
        tokio::time::timeout(PATIENCE, asked).await.unwrap_or(Err(Failure::TimedOut))
    }

    /// Sends `asked` to `target`, and gives the status and the body of the answer, which has at most 65536 bytes. Redirects are not
    /// followed.
    pub(crate) async fn call(
        &self,
        guard: &Guard,
        target: &Target,
        asked: &Asked,
    ) -> Result<(StatusCode, Bytes), Failure> {
        let asked = async {
            let Answered { response, _connection } = self.ask(guard, target, asked).await?;
            check_encoding(&response)?;
            Ok((response.status(), body(response).await?))
        };
        tokio::time::timeout(PATIENCE, asked).await.unwrap_or(Err(Failure::TimedOut))
    }

    async fn follow(
        &self,
        guard: &Guard,
        target: &Target,
        authorization: Option<&Secret>,
    ) -> Result<Payload, Failure> {
        let mut here = target.clone();
        for _ in 0..=REDIRECTS {
            let authorization = authorization.filter(|_| here.has_origin_of(target));
            let answered = self.ask(guard, &here, &Asked::readings(authorization)?).await?;
            let response = &answered.response;
            if !response.status().is_redirection() {
                return read(answered).await;
            }
            let location = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
            let Some(location) = location else { return Err(Failure::Status(response.status().as_u16())) };
            let there = here.redirected(location)?;
            match (here.scheme(), there.scheme()) {
                (Scheme::Https, Scheme::Http) => {
                    return Err(Failure::Redirect("it redirects from https to http"));
                }
                (_, Scheme::Http | Scheme::Https) => here = there,
                (_, Scheme::Coap | Scheme::Coaps) => {
                    return Err(Failure::Redirect("it redirects from HTTP to CoAP"));
                }
                (_, Scheme::Mqtt | Scheme::Mqtts) => return Err(BadUrl::Scheme.into()),
            }
        }
        Err(Failure::Redirect("it redirects more than three times"))
    }

    async fn ask(&self, guard: &Guard, target: &Target, asked: &Asked) -> Result<Answered, Failure> {
        let stream = connect(guard, target).await?;
        if target.scheme() != Scheme::Https {
            return exchange(stream, target, asked).await;
        }
        let name = ServerName::try_from(target.host().to_owned()).map_err(|_| BadUrl::Host)?;
        let stream = self.tls.connect(name, stream).await.map_err(Failure::Tls)?;
        exchange(stream, target, asked).await
    }
}

/// An answer whose body is still to be read, and the connection that it comes over, which ends with this.
struct Answered {
    response: Response<Incoming>,
    _connection: JoinSet<hyper::Result<()>>,
}

/// What is asked of a server.
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Bytes,
}

impl Asked {
    /// Readings, as the one whom this authorizes.
    fn readings(authorization: Option<&Secret>) -> Result<Self, Failure> {
        let accept = HeaderValue::from_static(
            "application/senml+json, application/senml+cbor;q=0.9, application/json;q=0.8, */*;q=0.1",
        );
        let mut headers = vec![(header::ACCEPT, accept)];
        if let Some(authorization) = authorization {
            let mut value = HeaderValue::from_bytes(authorization.bytes()).map_err(|_| Failure::Request)?;
            value.set_sensitive(true);
            headers.push((header::AUTHORIZATION, value));
        }
        Ok(Self { method: Method::GET, headers, body: Bytes::new() })
    }
}

async fn exchange<S>(stream: S, target: &Target, asked: &Asked) -> Result<Answered, Failure>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut builder = Request::builder()
        .method(&asked.method)
        .uri(target.path_and_query())
        .header(header::HOST, target.authority())
        .header(header::USER_AGENT, concat!("sixlock/", env!("CARGO_PKG_VERSION")))
        .header(header::ACCEPT_ENCODING, "identity")
        .header(header::CONNECTION, "close");
    for (name, value) in &asked.headers {
        builder = builder.header(name, value);
    }
    let request = builder.body(Full::new(asked.body.clone())).map_err(|_| Failure::Request)?;
    let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
        .max_buf_size(LONGEST_HEAD)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(Failure::Http)?;
    let mut connections = JoinSet::new();
    connections.spawn(connection);
    let response = sender.send_request(request).await.map_err(Failure::Http)?;
    Ok(Answered { response, _connection: connections })
}

async fn read(answered: Answered) -> Result<Payload, Failure> {
    let Answered { response, _connection } = answered;
    if response.status() != StatusCode::OK {
        return Err(Failure::Status(response.status().as_u16()));
    }
    check_encoding(&response)?;
    let format = match header(&response, header::CONTENT_TYPE) {
        None => Format::SenmlJson,
        Some(media_type) => Format::of_media_type(media_type).ok_or(Failure::Format)?,
    };
    Ok(Payload { format, bytes: body(response).await?.to_vec() })
}

fn header(response: &Response<Incoming>, name: HeaderName) -> Option<&str> {
    response.headers().get(name)?.to_str().ok()
}

fn check_encoding(response: &Response<Incoming>) -> Result<(), Failure> {
    match header(response, header::CONTENT_ENCODING) {
        Some(encoding) if !encoding.eq_ignore_ascii_case("identity") => Err(Failure::Encoded),
        _ => Ok(()),
    }
}

/// The body of an answer.
async fn body(response: Response<Incoming>) -> Result<Bytes, Failure> {
    let body = Limited::new(response.into_body(), LONGEST_BODY).collect().await;
    let body = body.map_err(|error| match error.downcast::<hyper::Error>() {
        Ok(error) => Failure::Http(*error),
        Err(_) => Failure::TooLong,
    })?;
    Ok(body.to_bytes())
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;
    use tokio_rustls::rustls::ServerConfig;
    use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

    use super::*;
    use crate::pollers::Purpose;

    /// Answers over TLS as `localhost`; its certificate is its own issuer.
    async fn server() -> (SocketAddr, CertificateDer<'static>) {
        let rcgen::CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                // A client that does not trust us goes away.
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let _ = stream.read(&mut [0; 1024]).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]").await;
            }
        });
        (address, cert.der().clone())
    }

    #[tokio::test]
    async fn https_is_believed_only_with_a_certificate_of_the_name_that_is_trusted() {
        let (address, certificate) = server().await;
        let guard = Guard::new(Purpose::Polls, vec!["127.0.0.1/32".parse().unwrap()], Vec::new());
        let target = |host| Target::parse(&format!("https://{host}:{}/", address.port())).unwrap();
        let mut roots = RootCertStore::empty();
        let stranger = Http::new(roots.clone()).unwrap();
        roots.add(certificate).unwrap();
        let trusting = Http::new(roots).unwrap();

        let payload = trusting.get(&guard, &target("localhost"), None).await.unwrap();
        assert_eq!(payload, Payload { format: Format::SenmlJson, bytes: b"[]".to_vec() });
        let failure = trusting.get(&guard, &target("127.0.0.1"), None).await.unwrap_err();
        assert!(matches!(failure, Failure::Tls(_)), "another name: {failure}");
        let failure = stranger.get(&guard, &target("localhost"), None).await.unwrap_err();
        assert!(matches!(failure, Failure::Tls(_)), "an unknown issuer: {failure}");
    }
}

//! TLS for HTTP: a certificate, and its key.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sixlock_crypto::{Hashes, Soft};
use sixlock_store::{Secret, read_private, secrets};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

use crate::{Error, tls_only};

/// Where the certificate of the HTTP server is, and its key.
#[derive(Clone, Debug)]
pub struct Tls {
    /// PEM: the certificate, and behind it those that lead to its authority.
    pub certificates: PathBuf,
    /// PEM: the private key. Nobody else may be able to read it.
    pub key: PathBuf,
}

impl Tls {
    /// Reads both; with the fingerprint of the certificate.
    pub(crate) fn acceptor(&self) -> Result<(TlsAcceptor, String), Error> {
        let certificates = read_certificates(&self.certificates)
            .map_err(|reason| Error::file(&self.certificates, reason))?;
        let fingerprint = certificate_fingerprint(&certificates[0]);
        let config = self.with_key(certificates).map_err(|reason| Error::file(&self.key, reason))?;
        Ok((TlsAcceptor::from(Arc::new(config)), fingerprint))
    }

    fn with_key(&self, certificates: Vec<CertificateDer<'static>>) -> io::Result<ServerConfig> {
        let pem = Secret::new(read_private(&self.key)?.into_bytes());
        let key = PrivateKeyDer::from_pem_slice(pem.bytes())
            .map_err(|error| io::Error::other(format!("it holds no private key: {error}")))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(certificates, key))
            .map_err(|error| io::Error::other(format!("key and certificate do not fit: {error}")))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

/// Begins TLS with a client, over what `wrap` makes of its connection. A client that speaks HTTP is told where to go.
pub(crate) async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
    tls: &TlsAcceptor,
    mut stream: TcpStream,
    wrap: impl FnOnce(TcpStream) -> S,
) -> io::Result<TlsStream<S>> {
    if tls_only::refuse_http(&mut stream).await? {
        return Err(io::Error::other("the client speaks HTTP without TLS"));
    }
    tls.accept(wrap(stream)).await
}

/// What a certificate in DER is known by: its SHA-256, in hexadecimal digits.
pub fn certificate_fingerprint(der: &[u8]) -> String {
    let mut hash = Soft.sha256();
    Soft.sha256_update(&mut hash, der);
    secrets::hex(&Soft.sha256_finish(hash))
}

/// The certificates in a PEM file: one at least.
pub(crate) fn read_certificates(path: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let pem = std::fs::read(path)?;
    let certificates = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|error| io::Error::other(format!("it is not PEM: {error}")))?;
    if certificates.is_empty() {
        return Err(io::Error::other("it holds no certificate"));
    }
    Ok(certificates)
}

//! Connections to the cloud's HTTP, plain or over TLS, from any address of the loopback.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrIn, bind, connect, setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// The longest answer that is read, in bytes.
const LONGEST: usize = 4 << 20;

/// Where the cloud listens, and what it speaks there.
#[derive(Clone)]
pub(super) struct HttpServer {
    address: SocketAddrV4,
    tls: Option<Arc<ClientConfig>>,
}

impl HttpServer {
    /// Plain HTTP.
    pub(super) const fn plain(address: SocketAddrV4) -> Self {
        Self { address, tls: None }
    }

    /// HTTP over TLS, with a certificate that the one in `authority`, in PEM, has signed.
    pub(super) fn secure(address: SocketAddrV4, authority: &[u8]) -> io::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(authority).map_err(io::Error::other)?)
            .map_err(io::Error::other)?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { address, tls: Some(Arc::new(config)) })
    }

    /// What stands in a request's field `Host`.
    pub(super) fn host(&self) -> String {
        self.address.to_string()
    }

    /// A connection from the address `from`, which waits for nothing longer than `patience`.
    pub(super) fn connect(&self, from: Ipv4Addr, patience: Duration) -> io::Result<Connection> {
        let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
        // Linux takes this limit for connecting, too.
        let limit = TimeVal::milliseconds(patience.as_millis() as i64);
        setsockopt(&socket, sockopt::SendTimeout, &limit)?;
        bind(socket.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(from, 0)))?;
        connect(socket.as_raw_fd(), &SockaddrIn::from(self.address))?;
        let stream = TcpStream::from(socket);
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(patience))?;
        let Some(config) = &self.tls else { return Ok(Connection::Plain(stream)) };
        let name = ServerName::from(std::net::IpAddr::V4(*self.address.ip()));
        let session = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
        Ok(Connection::Secure(Box::new(StreamOwned::new(session, stream))))
    }

    /// What is answered to a request from the address `from` within `patience`, of which the cloud is to close the connection.
    pub(super) fn ask(&self, from: Ipv4Addr, request: &[u8], patience: Duration) -> io::Result<Answer> {
        let end = Instant::now() + patience;
        let mut connection = self.connect(from, patience)?;
        // Who refuses a request may answer and hang up before all of it was sent.
        let sent = connection.write_all(request).and_then(|()| connection.flush());
        let answer = Answer::read(&mut connection, end);
        answer.map_err(|error| sent.err().unwrap_or(error))
    }
}

/// A connection of a client.
pub(super) enum Connection {
    Plain(TcpStream),
    Secure(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Connection {
    fn stream(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Secure(secure) => secure.get_ref(),
        }
    }

    /// What has come in, without waiting; nothing if the server has hung up.
    pub(super) fn poll(&mut self) -> Option<Vec<u8>> {
        let mut bytes = vec![0; 16 << 10];
        self.stream().set_nonblocking(true).ok()?;
        let read = self.read(&mut bytes);
        self.stream().set_nonblocking(false).ok()?;
        match read {
            Ok(0) => None,
            Ok(length) => {
                bytes.truncate(length);
                Some(bytes)
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Some(Vec::new())
            }
            Err(_) => None,
        }
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Secure(secure) => secure.read(buffer),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Secure(secure) => secure.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Secure(secure) => secure.flush(),
        }
    }
}

/// What is answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// Whether the body is as long as the head says.
    pub(super) is_whole: bool,
}

impl Answer {
    /// Reads until the server hangs up, `end` or the longest answer.
    fn read(connection: &mut Connection, end: Instant) -> io::Result<Self> {
        let (mut all, mut buffer) = (Vec::new(), [0; 16 << 10]);
        while all.len() < LONGEST && Instant::now() < end {
            match connection.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => all.extend_from_slice(&buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // What came before may be all of it.
                Err(_) => break,
            }
        }
        Self::parse(&all).ok_or_else(|| io::ErrorKind::TimedOut.into())
    }

    fn parse(all: &[u8]) -> Option<Self> {
        let status = all.strip_prefix(b"HTTP/1.1 ").or_else(|| all.strip_prefix(b"HTTP/1.0 "))?.get(..3)?;
        let status = std::str::from_utf8(status).ok()?.parse().ok()?;
        let head = all.windows(4).position(|end| end == b"\r\n\r\n");
        let length = head.and_then(|end| content_length(&all[..end]));
        let body = head.map(|end| all.len() - end - 4);
        Some(Self { status, is_whole: length.zip(body).is_some_and(|(length, body)| length == body) })
    }

    pub(super) const fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }
}

fn content_length(head: &[u8]) -> Option<usize> {
    let head = std::str::from_utf8(head).ok()?;
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let mut lengths = fields.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    lengths.next()?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_if_its_body_is_as_long_as_its_head_says() {
        let parse =
            |text: &str| Answer::parse(text.as_bytes()).map(|answer| (answer.status, answer.is_whole));
        assert_eq!(parse("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"), Some((200, true)));
        assert_eq!(parse("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}"), Some((200, false)));
        assert_eq!(parse("HTTP/1.1 431 "), Some((431, false)));
        assert_eq!(parse("HTTP/1.1 4"), None);
        assert_eq!(parse(""), None);
    }
}

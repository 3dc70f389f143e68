//! E-mail: plain text, handed to the one SMTP server that the operator names.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use lettre::message::Mailbox;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use percent_encoding::percent_decode_str;
use sixlock_store::{Secret, read_private, secrets};
use url::Url;

use crate::{Error, StartError};

/// How long the server may take over each step, and over all of them.
const PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE_IN_ALL: Duration = Duration::from_secs(30);
/// The longest subject, in characters.
const LONGEST_SUBJECT: usize = 200;
/// The longest text, in bytes.
const LONGEST_TEXT: usize = 16 << 10;

/// An SMTP server: `smtp://[USER@]HOST[:PORT]` or `smtps://[USER@]HOST[:PORT]`.
///
/// With `smtps` the connection begins with TLS, at port 465 unless another is named. With `smtp` it goes on with TLS (STARTTLS), at port
/// 587; a server at a loopback address or `localhost`, at port 25, is spoken to without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmtpServer {
    host: String,
    port: u16,
    tls: TlsUse,
    user: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TlsUse {
    FromTheBeginning,
    StartTls,
    None,
}

impl FromStr for SmtpServer {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const RULE: &str =
            "write smtp://USER@HOST:PORT or smtps://USER@HOST:PORT; USER and PORT may be left out";
        let url = Url::parse(text).map_err(|_| RULE)?;
        if url.password().is_some() {
            return Err("write the password into a file, and name that with --smtp-password");
        }
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return Err(RULE);
        }
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(RULE)?;
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).to_owned();
        let address: Option<IpAddr> = host.parse().ok();
        let is_near = host == "localhost" || address.is_some_and(|address| address.is_loopback());
        let (tls, usual) = match (url.scheme(), is_near) {
            ("smtps", _) => (TlsUse::FromTheBeginning, 465),
            ("smtp", false) => (TlsUse::StartTls, 587),
            ("smtp", true) => (TlsUse::None, 25),
            _ => return Err(RULE),
        };
        let user = Some(url.username()).filter(|user| !user.is_empty());
        // A name of a user is often an address, whose @ is written %40.
        let user = user.map(|user| percent_decode_str(user).decode_utf8().map(Cow::into_owned));
        let user = user.transpose().map_err(|_| RULE)?;
        Ok(Self { host, port: url.port().unwrap_or(usual), tls, user })
    }
}

/// How e-mail is sent.
#[derive(Clone, Debug)]
pub struct MailSettings {
    /// The server that takes it.
    pub server: SmtpServer,
    /// From whom it comes: `alerts@example.org` or `Alerts <alerts@example.org>`.
    pub from: Mailbox,
    /// The file of the user's password at the server, readable by its owner only.
    pub password: Option<PathBuf>,
}

/// Sends e-mail. Clones share the server.
#[derive(Clone)]
pub(crate) struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

/// Why an e-mail was not sent.
#[derive(Debug)]
pub(crate) enum MailError {
    /// The receiver is no address.
    Receiver,
    /// The subject is empty, too long, or has characters that cannot stand in a header.
    Subject,
    /// The text is longer than 16 KiB.
    TooLong,
    /// There are no random bytes, or the message cannot be written.
    Unwritable,
    /// The server has not taken it in time.
    TimedOut,
    /// The server did not take it.
    Server(lettre::transport::smtp::Error),
}

impl fmt::Display for MailError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Receiver => f.write_str("the receiver is no e-mail address"),
            Self::Subject => f.write_str("a subject has 1 to 200 characters, and none that cannot be seen"),
            Self::TooLong => f.write_str("the text of an e-mail has at most 16384 bytes"),
            Self::Unwritable => f.write_str("the e-mail cannot be written"),
            Self::TimedOut => f.write_str("the SMTP server did not take it within 30 s"),
            Self::Server(error) => {
                write!(f, "the SMTP server did not take it: {error}")?;
                let source = std::error::Error::source(error);
                source.map_or(Ok(()), |source| write!(f, ": {source}"))
            }
        }
    }
}

/// Reads an e-mail address: `ann@example.org`, without a name beside it.
pub(crate) fn address(text: &str) -> Result<Address, MailError> {
    let is_seen = !text.chars().any(|char| char.is_whitespace() || sixlock_ingest::is_hidden(char));
    let address = text.parse::<Address>().ok();
    address.filter(|_| is_seen && text.len() <= 254).ok_or(MailError::Receiver)
}

impl Mailer {
    /// Sends as these settings say. Nothing is connected to before there is something to send.
    pub(crate) fn new(settings: &MailSettings) -> Result<Self, StartError> {
        let MailSettings { server: SmtpServer { host, port, tls, user }, from, password } = settings;
        let parameters = || TlsParameters::new(host.clone()).map_err(StartError::Mail);
        let tls = match tls {
            TlsUse::FromTheBeginning => Tls::Wrapper(parameters()?),
            TlsUse::StartTls => Tls::Required(parameters()?),
            TlsUse::None => Tls::None,
        };
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host.clone())
            .port(*port)
            .tls(tls)
            .timeout(Some(PATIENCE));
        match (user, password) {
            (Some(user), Some(file)) => {
                let read = read_private(file).map_err(|error| Error::file(file, error))?;
                let password = Secret::new(read.into_bytes());
                let password = String::from_utf8_lossy(password.bytes().trim_ascii_end()).into_owned();
                builder = builder.credentials(Credentials::new(user.clone(), password));
            }
            (None, None) => {}
            _ => return Err(StartError::MailPassword),
        }
        Ok(Self { transport: builder.build(), from: from.clone() })
    }

    /// Sends `text` to one address. When this returns `Ok`, the server has taken the message over.
    pub(crate) async fn send(&self, to: &str, subject: &str, text: &str) -> Result<(), MailError> {
        let message = self.write(to, subject, text)?;
        let sent = tokio::time::timeout(PATIENCE_IN_ALL, self.transport.send(message)).await;
        sent.map_err(|_| MailError::TimedOut)?.map(drop).map_err(MailError::Server)
    }

    fn write(&self, to: &str, subject: &str, text: &str) -> Result<Message, MailError> {
        let to = address(to)?;
        if !(1..=LONGEST_SUBJECT).contains(&subject.chars().count())
            || subject.chars().any(sixlock_ingest::is_hidden)
        {
            return Err(MailError::Subject);
        }
        if text.len() > LONGEST_TEXT {
            return Err(MailError::TooLong);
        }
        let id = secrets::token().map_err(|_| MailError::Unwritable)?;
        // A program wrote it, so no program is to answer it (https://www.rfc-editor.org/rfc/rfc3834#section-5).
        let submitted = HeaderName::new_from_ascii_str("Auto-Submitted");
        Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(subject)
            .message_id(Some(format!("<{id}@{}>", self.from.email.domain())))
            .header(ContentType::TEXT_PLAIN)
            .raw_header(HeaderValue::new(submitted, "auto-generated".to_owned()))
            .body(text.to_owned())
            .map_err(|_| MailError::Unwritable)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    use tokio::net::TcpListener;
    use tokio::sync::mpsc;

    use super::*;

    fn settings(server: &str) -> MailSettings {
        let from = "Alerts <alerts@example.org>".parse().unwrap();
        MailSettings { server: server.parse().unwrap(), from, password: None }
    }

    /// A server that takes what it is sent (RFC 5321), and tells each envelope with its message.
    async fn server() -> (u16, mpsc::UnboundedReceiver<(Vec<String>, String)>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (taken, receiver) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let mut stream = BufReader::new(stream);
                stream.write_all(b"220 mail.example.org ESMTP\r\n").await.unwrap();
                let (mut envelope, mut line) = (Vec::new(), String::new());
                while stream.read_line(&mut line).await.unwrap() > 0 {
                    let command = std::mem::take(&mut line).trim_end().to_owned();
                    let answer: &[u8] = match command.split([' ', ':']).next().unwrap_or_default() {
                        "EHLO" => b"250-mail.example.org\r\n250 8BITMIME\r\n",
                        "DATA" => {
                            stream.write_all(b"354 go on\r\n").await.unwrap();
                            let mut message = String::new();
                            while !message.ends_with("\r\n.\r\n") {
                                stream.read_line(&mut message).await.unwrap();
                            }
                            taken.send((std::mem::take(&mut envelope), message)).unwrap();
                            b"250 taken\r\n"
                        }
                        "QUIT" => break,
                        "RCPT" if command.contains("nobody") => b"550 no such user\r\n",
                        _ => {
                            envelope.push(command);
                            b"250 go on\r\n"
                        }
                    };
                    stream.write_all(answer).await.unwrap();
                }
            }
        });
        (port, receiver)
    }

    #[tokio::test]
    async fn a_message_arrives_and_nothing_in_it_becomes_a_header_or_another_receiver() {
        let (port, mut taken) = server().await;
        let mailer = Mailer::new(&settings(&format!("smtp://127.0.0.1:{port}"))).unwrap();
        mailer.send("ann@example.org", "Wärme: 31 °C", "first\n.\nBcc: x@example.org\n").await.unwrap();
        let (envelope, message) = taken.recv().await.unwrap();
        let to: Vec<_> = envelope.iter().filter(|command| command.starts_with("RCPT")).collect();
        assert_eq!(to, ["RCPT TO:<ann@example.org>"]);
        let (head, _) = message.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("Auto-Submitted: auto-generated\r\n"), "{head}");
        assert!(!head.contains("Bcc") && head.contains("From: Alerts <alerts@example.org>"), "{head}");

        for (to, subject) in [
            ("ann@example.org\r\nRCPT TO:<eve@example.org>", "warm"),
            ("ann@example.org, eve@example.org", "warm"),
            ("<ann@example.org>", "warm"),
            ("ann", "warm"),
            ("ann@example.org", "warm\r\nBcc: eve@example.org"),
            ("ann@example.org", "warm\nX: y"),
            ("ann@example.org", ""),
        ] {
            assert!(mailer.send(to, subject, "text").await.is_err(), "{to:?} {subject:?}");
        }
        assert!(taken.try_recv().is_err(), "one of these was sent");
        let refused = mailer.send("nobody@example.org", "warm", "text").await.unwrap_err().to_string();
        assert!(refused.contains("550") || refused.contains("no such user"), "{refused}");
    }

    #[test]
    fn a_server_that_is_not_on_this_machine_is_spoken_to_by_tls_only() {
        let tls = |text: &str| text.parse::<SmtpServer>().map(|server| (server.tls, server.port));
        assert_eq!(tls("smtp://mail.example.org"), Ok((TlsUse::StartTls, 587)));
        assert_eq!(tls("smtp://ann%40example.org@192.0.2.1:25"), Ok((TlsUse::StartTls, 25)));
        assert_eq!(tls("smtps://mail.example.org"), Ok((TlsUse::FromTheBeginning, 465)));
        assert_eq!(tls("smtp://localhost"), Ok((TlsUse::None, 25)));
        assert_eq!(tls("smtp://[::1]:2525"), Ok((TlsUse::None, 2525)));
        for wrong in ["mail.example.org", "http://mail.example.org", "smtp://", "smtp://a/b", "smtp://a:b@c"]
        {
            assert!(tls(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            "smtp://ann%40example.org@192.0.2.1".parse::<SmtpServer>().unwrap().user.as_deref(),
            Some("ann@example.org")
        );
    }

    #[test]
    fn a_user_needs_a_password_and_a_password_a_user() {
        let named = MailSettings { password: Some("/nowhere".into()), ..settings("smtp://localhost") };
        assert!(matches!(Mailer::new(&named), Err(StartError::MailPassword)));
        assert!(matches!(Mailer::new(&settings("smtp://ann@localhost")), Err(StartError::MailPassword)));
    }
}

//! Telling one message on its channel.

use std::fmt;

use hyper::header::{self, HeaderName, HeaderValue};
use sixlock_crypto::{Hashes, Soft};
use sixlock_store::{ChannelKind, Message, Severity, secrets};

use super::message;
use crate::mail::{self, MailError, Mailer};
use crate::pollers::{BadUrl, Failure, Guard, Http, Refusal, Scheme, Target};

/// The header of a webhook's signature, and that of the message's id.
const SIGNATURE: HeaderName = HeaderName::from_static("sixlock-signature");
const MESSAGE: HeaderName = HeaderName::from_static("sixlock-message");

/// How messages are told. Clones share connections' settings.
#[derive(Clone)]
pub(crate) struct Tellers {
    pub(crate) guard: Guard,
    pub(crate) http: Http,
    /// Nothing where the operator named no SMTP server.
    pub(crate) mailer: Option<Mailer>,
}

/// Why a channel cannot have an address.
#[derive(Debug)]
pub(crate) enum BadAddress {
    /// It is no URL of HTTP.
    Url(BadUrl),
    /// Its scheme is that of CoAP.
    Scheme,
    /// The URL of ntfy names no topic.
    Topic,
    /// Nothing may be sent there.
    Refused(Refusal),
    /// It is no address of e-mail.
    Mail(MailError),
    /// This cloud sends no e-mail.
    NoMail,
}

/// Why a message was not told.
#[derive(Debug)]
pub(super) enum SendError {
    Address(BadAddress),
    Http(Failure),
    Mail(MailError),
    /// The secret of the channel is no longer there.
    NoKey,
    /// The channel's user has had as many e-mails sent today as may be.
    TooManyMails,
}

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(why) => why.fmt(f),
            Self::Scheme => f.write_str("it is told by http and https only"),
            Self::Topic => f.write_str("it names no topic; write for example https://ntfy.sh/my-topic"),
            Self::Refused(why) => why.fmt(f),
            Self::Mail(why) => why.fmt(f),
            Self::NoMail => f.write_str(
                "this cloud sends no e-mail; its operator names a server with --smtp and --mail-from",
            ),
        }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(why) => why.fmt(f),
            Self::Http(why) => why.fmt(f),
            Self::Mail(why) => why.fmt(f),
            Self::TooManyMails => f.write_str(
                "100 e-mails of this user were sent today, or 10 with codes; the next go tomorrow (UTC)",
            ),
            Self::NoKey => f.write_str("the key of the channel is missing; make the channel anew"),
        }
    }
}

/// Reads the URL of a channel, where something may be sent.
fn target(guard: &Guard, kind: ChannelKind, url: &str) -> Result<Target, BadAddress> {
    let target = Target::parse(url).map_err(BadAddress::Url)?;
    if !matches!(target.scheme(), Scheme::Http | Scheme::Https) {
        return Err(BadAddress::Scheme);
    }
    if kind == ChannelKind::Ntfy && target.path().all(|segment| segment.is_empty()) {
        return Err(BadAddress::Topic);
    }
    guard.check_literal(&target).map_err(BadAddress::Refused)?;
    Ok(target)
}

/// Checks the address of a channel that is to be made, and returns it as it is kept.
pub(crate) fn check_address(
    tellers: &Tellers,
    kind: ChannelKind,
    address: &str,
) -> Result<String, BadAddress> {
    match kind {
        ChannelKind::Webhook | ChannelKind::Ntfy => Ok(target(&tellers.guard, kind, address)?.to_string()),
        ChannelKind::Email if tellers.mailer.is_none() => Err(BadAddress::NoMail),
        ChannelKind::Email => Ok(mail::address(address).map_err(BadAddress::Mail)?.to_string()),
    }
}

/// What signs a body: HMAC-SHA256 over the time, a full stop and the body, in hexadecimal digits.
fn signature(key: &[u8], seconds: i64, body: &[u8]) -> String {
    let key = Soft.hmac_key(key);
    secrets::hex(&Soft.hmac_sha256(&key, &[seconds.to_string().as_bytes(), b".", body]))
}

fn header(value: &[u8]) -> Result<HeaderValue, SendError> {
    HeaderValue::from_bytes(value).map_err(|_| SendError::Http(Failure::Request))
}

impl Tellers {
    /// Tells a message at the time `now`. When this returns `Ok`, its receiver has taken it.
    pub(super) async fn tell(&self, message: &Message, now: i64) -> Result<(), SendError> {
        match message.kind {
            ChannelKind::Webhook => self.webhook(message, now).await,
            ChannelKind::Ntfy => self.ntfy(message).await,
            ChannelKind::Email => {
                let mailer = self.mailer.as_ref().ok_or(SendError::Address(BadAddress::NoMail))?;
                let (title, text) = (message::title(message), message::text(message));
                mailer.send(&message.address, &title, &text).await.map_err(SendError::Mail)
            }
        }
    }

    async fn webhook(&self, message: &Message, now: i64) -> Result<(), SendError> {
        let key = message.secret.as_ref().ok_or(SendError::NoKey)?;
        let body = message::json(message).to_string().into_bytes();
        let seconds = now.div_euclid(1_000);
        let signed = format!("t={seconds},v1={}", signature(key.bytes(), seconds, &body));
        let headers = vec![
            (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (SIGNATURE, header(signed.as_bytes())?),
            (MESSAGE, header(message.id.as_bytes())?),
        ];
        self.post(message, headers, body).await
    }

    /// Publishes to a topic of [ntfy](https://docs.ntfy.sh/publish/): the body is the text, the rest stands in headers, in UTF-8.
    async fn ntfy(&self, message: &Message) -> Result<(), SendError> {
        let (priority, tag) = match (&*message.event, message.severity) {
            ("opened", Severity::Critical) => ("5", "rotating_light"),
            ("opened", Severity::Warning) => ("4", "warning"),
            ("opened", Severity::Information) => ("3", "information_source"),
            ("cleared", _) => ("2", "white_check_mark"),
            _ => ("3", "test_tube"),
        };
        let mut headers = vec![
            (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")),
            (HeaderName::from_static("title"), header(message::title(message).as_bytes())?),
            (HeaderName::from_static("priority"), HeaderValue::from_static(priority)),
            (
                HeaderName::from_static("tags"),
                header(format!("{tag},{}", message.severity.name()).as_bytes())?,
            ),
            (MESSAGE, header(message.id.as_bytes())?),
        ];
        if let Some(token) = &message.secret {
            let mut value = header(&[b"Bearer ".as_slice(), token.bytes()].concat())?;
            value.set_sensitive(true);
            headers.push((header::AUTHORIZATION, value));
        }
        self.post(message, headers, message::text(message).into_bytes()).await
    }

    async fn post(
        &self,
        message: &Message,
        headers: Vec<(HeaderName, HeaderValue)>,
        body: Vec<u8>,
    ) -> Result<(), SendError> {
        let target = target(&self.guard, message.kind, &message.address).map_err(SendError::Address)?;
        self.http.post(&self.guard, &target, headers, body).await.map_err(SendError::Http)
    }
}

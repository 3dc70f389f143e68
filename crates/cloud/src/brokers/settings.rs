//! What the settings of a broker may be.

use super::session::authorities;
use super::topic;
use crate::pollers::{BadUrl, Guard, Refusal, Scheme, Target};

/// The longest user name, password and client id, in bytes.
const LONGEST_NAME: usize = 256;
/// The longest certificates of authorities, in bytes.
const LONGEST_AUTHORITY: usize = 16_384;

/// Texts of a broker's settings.
pub(crate) struct BrokerText<'a> {
    pub(crate) url: &'a str,
    pub(crate) username: Option<&'a str>,
    pub(crate) password: Option<&'a str>,
    pub(crate) authority: Option<&'a str>,
    pub(crate) client_id: Option<&'a str>,
    pub(crate) prefix: &'a str,
}

/// Why a broker cannot have some settings.
#[derive(Debug)]
pub(crate) enum BadBroker {
    /// The URL is none of a broker.
    Url(BadUrl),
    /// Nothing may be sent there.
    Refused(Refusal),
    /// A field is no good, for this reason.
    Field(&'static str, &'static str),
}

/// Checks settings, and returns the URL as it is kept.
pub(crate) fn check(guard: &Guard, text: &BrokerText<'_>) -> Result<String, BadBroker> {
    let target = Target::parse_broker(text.url).map_err(BadBroker::Url)?;
    guard.check_literal(&target).map_err(BadBroker::Refused)?;
    let is_name =
        |name: &str| (1..=LONGEST_NAME).contains(&name.len()) && !name.chars().any(sixlock_ingest::is_hidden);
    const NAME: &str = "it has 1 to 256 bytes, and no characters that cannot be seen";
    for (field, name) in [("username", text.username), ("client_id", text.client_id)] {
        if !name.is_none_or(is_name) {
            return Err(BadBroker::Field(field, NAME));
        }
    }
    if text.password.is_some() && text.username.is_none() {
        return Err(BadBroker::Field("password", "MQTT 3.1.1 has none without a user name"));
    }
    if !text.password.is_none_or(|password| (1..=LONGEST_NAME).contains(&password.len())) {
        return Err(BadBroker::Field("password", "it has 1 to 256 bytes"));
    }
    if let Some(authority) = text.authority {
        if target.scheme() != Scheme::Mqtts {
            return Err(BadBroker::Field("authority", "it is for mqtts"));
        }
        if authority.len() > LONGEST_AUTHORITY {
            return Err(BadBroker::Field("authority", "it is longer than 16384 bytes"));
        }
        authorities(authority).map_err(|why| BadBroker::Field("authority", why))?;
    }
    match topic::objection(text.prefix) {
        Some(why) => Err(BadBroker::Field("prefix", why)),
        // Two URLs that differ by the slash alone are the same place.
        None => Ok(target.to_string().trim_end_matches('/').to_owned()),
    }
}

//! What the audit record holds: refusals, and actions that matter to security.

use serde::Serialize;

use crate::client::Client;
use crate::log::Line;

/// The scheme by which a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// HTTP.
    Http,
    /// CoAP without security.
    Coap,
    /// CoAP over DTLS.
    Coaps,
    /// No request: a command on the server's machine.
    Command,
}

impl Scheme {
    /// Returns its name in the log, the metrics and the record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Coap => "coap",
            Self::Coaps => "coaps",
            Self::Command => "command",
        }
    }
}

/// A refusal.
#[derive(Clone, Debug, Serialize)]
pub struct Refused {
    #[serde(rename = "scheme")]
    scheme: Scheme,
    /// The peer's address.
    from: Client,
    /// The reason, in one word of a fixed list.
    reason: &'static str,
    /// The name that the peer states, believed or not: a user, a PSK identity, a resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    who: Option<String>,
    /// The path that was asked for, without any query: keys can stand there.
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<String>,
    /// The row of the resource that it is about, for the log of that.
    #[serde(skip)]
    resource: Option<i64>,
    /// Whether whoever asked has not proved that they may do anything with it.
    #[serde(skip)]
    is_strangers: bool,
}

impl Refused {
    /// The longest field, in bytes as JSON writes it: an unknown peer chooses its length.
    const LONGEST: usize = 192;

    /// A refusal of a request from `from`.
    pub fn new(scheme: Scheme, from: impl Into<Client>, reason: &'static str) -> Self {
        Self { scheme, from: from.into(), reason, who: None, what: None, resource: None, is_strangers: false }
    }

    /// Adds the name that the peer states, cut to 192 bytes.
    pub fn who(self, who: impl Into<String>) -> Self {
        Self { who: Some(cut(who.into(), Self::LONGEST)), ..self }
    }

    /// Adds the path that was asked for, cut to 192 bytes.
    pub fn what(self, what: impl Into<String>) -> Self {
        Self { what: Some(cut(what.into(), Self::LONGEST)), ..self }
    }

    /// Says that the device of the resource of this row was refused, or who may do something with it.
    pub fn of(self, resource: i64) -> Self {
        Self { resource: Some(resource), ..self }
    }

    /// Says that a stranger wanted something of the resource of this row.
    pub fn of_stranger(self, resource: i64) -> Self {
        Self { resource: Some(resource), is_strangers: true, ..self }
    }

    /// Returns the row of the resource that it is about, if that is known.
    pub(crate) const fn resource(&self) -> Option<i64> {
        self.resource
    }

    /// Whether a stranger was refused.
    pub(crate) const fn is_strangers(&self) -> bool {
        self.is_strangers
    }

    /// Returns who was refused.
    pub(crate) const fn client(&self) -> Client {
        self.from
    }

    /// Returns the scheme of the request.
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the reason.
    pub const fn reason(&self) -> &'static str {
        self.reason
    }

    /// Adds its fields to a line of the log.
    pub(crate) fn line(&self, line: Line) -> Line {
        let Self { scheme, from, reason, who, what, .. } = self;
        line.field("scheme", scheme.name())
            .field("from", from)
            .field("reason", reason)
            .maybe("who", who.as_ref())
            .maybe("what", what.as_ref())
    }
}

/// An action that matters to security.
#[derive(Clone, Debug, Serialize)]
pub struct Done {
    #[serde(rename = "scheme")]
    scheme: Scheme,
    /// The address of the user; `None` if a command did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Client>,
    /// The action, in one word of a fixed list.
    action: &'static str,
    /// The user.
    #[serde(skip_serializing_if = "Option::is_none")]
    who: Option<String>,
    /// The path of the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<String>,
    /// The row of the resource that it was done to, for the log of that.
    #[serde(skip)]
    resource: Option<i64>,
}

impl Done {
    /// The longest field, in bytes as JSON writes it.
    const LONGEST: usize = 1024;

    /// An action.
    pub fn new(scheme: Scheme, action: &'static str) -> Self {
        Self { scheme, from: None, action, who: None, what: None, resource: None }
    }

    /// Adds the address of the user.
    pub fn from(self, client: Client) -> Self {
        Self { from: Some(client), ..self }
    }

    /// Adds the user's name, cut to 1,024 bytes.
    pub fn who(self, who: impl Into<String>) -> Self {
        Self { who: Some(cut(who.into(), Self::LONGEST)), ..self }
    }

    /// Adds the path of the object, cut to 1,024 bytes.
    pub fn what(self, what: impl Into<String>) -> Self {
        Self { what: Some(cut(what.into(), Self::LONGEST)), ..self }
    }

    /// Says to the resource of which row it was done.
    pub fn of(self, resource: i64) -> Self {
        Self { resource: Some(resource), ..self }
    }

    /// Returns the row of the resource that it was done to, if it was done to one.
    pub(crate) const fn resource(&self) -> Option<i64> {
        self.resource
    }

    /// Returns the user.
    pub(crate) fn by(&self) -> Option<&str> {
        self.who.as_deref()
    }

    /// Returns the action.
    pub const fn action(&self) -> &'static str {
        self.action
    }

    /// Adds its fields to a line of the log.
    pub(crate) fn line(&self, line: Line) -> Line {
        let Self { scheme, from, action, who, what, .. } = self;
        line.field("scheme", scheme.name())
            .maybe("from", from.as_ref())
            .field("action", action)
            .maybe("who", who.as_ref())
            .maybe("what", what.as_ref())
    }
}

/// An entry of the record.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Entry {
    /// A refusal.
    Refused(Refused),
    /// An action.
    Done(Done),
}

/// Cuts `text` to `longest` bytes as JSON writes them; "…" stands for the missing rest.
fn cut(mut text: String, longest: usize) -> String {
    const MISSING: char = '…';
    let (mut length, mut fits) = (0, 0);
    for (at, char) in text.char_indices() {
        length += length_in_json(char);
        if length > longest {
            text.truncate(fits);
            text.push(MISSING);
            return text;
        }
        if length + MISSING.len_utf8() <= longest {
            fits = at + char.len_utf8();
        }
    }
    text
}

const fn length_in_json(char: char) -> usize {
    match char {
        '"' | '\\' => 2,
        '\0'..='\u{1f}' => 6,
        _ => char.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_that_nobody_knows_chooses_no_length_of_a_line() {
        let from: std::net::SocketAddr = "[2001:db8:1111:2222:3333:4444:5555:6666]:65535".parse().unwrap();
        for long in ["A", "\0", "\"", "é", "😀"].map(|char| char.repeat(31_000)) {
            let refused = Refused::new(Scheme::Http, from, "too_many_passwords").who(&*long).what(&*long);
            let line = serde_json::to_string(&refused).unwrap();
            assert!(line.len() <= 580 && line.contains('…'), "{} {line}", line.len());
            let done = Done::new(Scheme::Http, "signed_in").who(&*long).what(&*long);
            assert!(serde_json::to_string(&done).unwrap().len() < 3000);
        }
        for whole in ["", "/api/v1/users/ann", &"é".repeat(96)] {
            assert_eq!(cut(whole.into(), Refused::LONGEST), whole);
        }
        assert_eq!(cut("é".repeat(97), Refused::LONGEST), format!("{}…", "é".repeat(94)));
    }
}

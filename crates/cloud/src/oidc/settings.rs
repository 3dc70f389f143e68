//! What the operator says of the OpenID provider: a TOML file, which the command reads.

use std::fmt;
use std::net::IpAddr;

use serde::Deserialize;
use sixlock_store::Secret;
use url::Url;

use crate::pollers::PollAllow;

/// The longest issuer and address, in bytes.
const LONGEST_URL: usize = 512;

/// An OpenID provider by which people sign in at the dashboard.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OidcSettings {
    /// Who the provider is.
    pub issuer: Issuer,
    /// What this cloud is called there.
    pub client_id: ClientId,
    /// By which it proves that; without one it is a public client.
    #[serde(default)]
    pub client_secret: Option<ClientSecret>,
    /// What the button says behind "Sign in with"; without it, the host of the issuer.
    #[serde(default)]
    pub label: Option<Label>,
    /// The claim that a new account is named by.
    #[serde(default = "usual_name_claim")]
    pub name_claim: String,
    /// Whether an account at the provider that nobody here has linked gets a new account.
    #[serde(default)]
    pub sign_up: bool,
    /// The scopes that are asked for; `openid` is among them in any case.
    #[serde(default = "usual_scopes")]
    pub scopes: Vec<Scope>,
    /// Audiences beside this cloud that an ID token may be for.
    #[serde(default)]
    pub audiences: Vec<String>,
    /// Where browsers find the dashboard; without it, where they say that they ask.
    #[serde(default)]
    pub url: Option<PublicUrl>,
    /// Where else inside, beside the issuer's own host and port, its endpoints may be.
    #[serde(default)]
    pub allow: Vec<PollAllow>,
}

fn usual_name_claim() -> String {
    "preferred_username".to_owned()
}

fn usual_scopes() -> Vec<Scope> {
    ["openid", "profile", "email"].map(|scope| Scope(scope.to_owned())).into()
}

impl OidcSettings {
    /// What the button says behind "Sign in with".
    pub(crate) fn label(&self) -> &str {
        self.label.as_ref().map_or_else(|| self.issuer.host(), |label| &label.0)
    }

    /// The scopes, as a request names them.
    pub(super) fn scope(&self) -> String {
        let mut scopes = vec!["openid"];
        scopes.extend(self.scopes.iter().map(|scope| &*scope.0).filter(|scope| *scope != "openid"));
        scopes.join(" ")
    }
}

/// Whether a URL is one of this machine.
fn is_near(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether a URL is one of HTTPS, or of HTTP within this machine.
fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_near(url))
}

/// Reads a URL of HTTPS, or of HTTP within this machine, that holds nothing but where something is.
fn safe_url(text: &str) -> Result<Url, &'static str> {
    let url = Url::parse(text).map_err(|_| "it is no URL; write for example https://id.example.org")?;
    if !is_safe(&url) {
        return Err("it begins with https:// or, on this machine only, with http://");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it has no user and no password");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it has neither a query (?...) nor a fragment (#...)");
    }
    if text.len() > LONGEST_URL {
        return Err("it has at most 512 bytes");
    }
    Ok(url)
}

/// Who a provider is: the URL of which its tokens say that they are issued by it.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Issuer {
    /// As it was written: it is compared byte by byte.
    text: String,
    url: Url,
}

impl Issuer {
    /// The URL.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Whether it is at HTTP, and so within this machine.
    fn is_plain(&self) -> bool {
        self.url.scheme() == "http"
    }

    /// Whether one of its endpoints may be at `url`: those of an issuer at HTTPS are at HTTPS, those of one at HTTP within this machine.
    pub(super) fn may_have(&self, url: &Url) -> bool {
        if self.is_plain() { is_near(url) && is_safe(url) } else { url.scheme() == "https" }
    }

    /// Where inside it may be asked: where it is itself, and, at HTTP, anywhere on this machine.
    pub(super) fn places(&self) -> Vec<PollAllow> {
        let port = self.url.port_or_known_default().unwrap_or_default();
        let own = format!("{}:{port}", self.host());
        let this_machine: &[&str] = if self.is_plain() { &["127.0.0.0/8", "::1/128"] } else { &[] };
        let places = this_machine.iter().copied().chain([&*own]);
        places.filter_map(|place| place.parse().ok()).collect()
    }

    /// Where the provider says where its endpoints are
    /// ([OpenID Connect Discovery 1.0, section 4](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig)).
    pub(super) fn configuration(&self) -> String {
        format!("{}/.well-known/openid-configuration", self.text.strip_suffix('/').unwrap_or(&self.text))
    }
}

impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl TryFrom<String> for Issuer {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let url = safe_url(&text)?;
        Ok(Self { text, url })
    }
}

/// Where browsers find the dashboard: scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct PublicUrl(String);

impl PublicUrl {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for PublicUrl {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let url = safe_url(&text)?;
        if url.path() != "/" {
            return Err("it has no path: the dashboard is at the root");
        }
        Ok(Self(text.strip_suffix('/').unwrap_or(&text).to_owned()))
    }
}

/// What this cloud is called at the provider.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct ClientId(String);

impl ClientId {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ClientId {
    type Error = &'static str;

    /// [RFC 6749 appendix A.1](https://www.rfc-editor.org/rfc/rfc6749#appendix-A.1)
    fn try_from(text: String) -> Result<Self, Self::Error> {
        match (1..=255).contains(&text.len()) && text.bytes().all(|byte| (0x20..=0x7e).contains(&byte)) {
            true => Ok(Self(text)),
            false => Err("it has 1 to 255 characters of ASCII"),
        }
    }
}

/// By which this cloud proves to the provider that it is the client.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct ClientSecret(Secret);

impl ClientSecret {
    pub(super) fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl TryFrom<String> for ClientSecret {
    type Error = &'static str;

    /// [RFC 6749 appendix A.2](https://www.rfc-editor.org/rfc/rfc6749#appendix-A.2)
    fn try_from(text: String) -> Result<Self, Self::Error> {
        let secret = Secret::new(text.into_bytes());
        let is_visible = secret.bytes().iter().all(|byte| (0x20..=0x7e).contains(byte));
        match (1..=1024).contains(&secret.bytes().len()) && is_visible {
            true => Ok(Self(secret)),
            false => {
                Err("it has 1 to 1024 characters of ASCII; leave client_secret out if the client is public")
            }
        }
    }
}

/// What the button says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Label(String);

impl TryFrom<String> for Label {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_seen = !text.chars().any(sixlock_ingest::is_hidden) && text.trim() == text;
        match is_seen && (1..=64).contains(&text.chars().count()) {
            true => Ok(Self(text)),
            false => Err("it has 1 to 64 characters that can be seen"),
        }
    }
}

/// A scope.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Scope(String);

impl TryFrom<String> for Scope {
    type Error = &'static str;

    /// [RFC 6749 section 3.3](https://www.rfc-editor.org/rfc/rfc6749#section-3.3)
    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_of_scope = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
        match (1..=64).contains(&text.len()) && text.bytes().all(is_of_scope) {
            true => Ok(Self(text)),
            false => {
                Err("each scope has 1 to 64 characters of ASCII, without spaces, quotation marks and \\")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_off_this_machine_is_one_of_https() {
        for (text, configuration) in [
            ("https://id.example.org", "https://id.example.org/.well-known/openid-configuration"),
            ("https://id.example.org/", "https://id.example.org/.well-known/openid-configuration"),
            ("https://id.example.org/a/b", "https://id.example.org/a/b/.well-known/openid-configuration"),
            ("http://127.0.0.1:3000", "http://127.0.0.1:3000/.well-known/openid-configuration"),
            ("http://[::1]:3000", "http://[::1]:3000/.well-known/openid-configuration"),
            ("http://localhost:3000", "http://localhost:3000/.well-known/openid-configuration"),
        ] {
            assert_eq!(Issuer::try_from(text.to_owned()).unwrap().configuration(), configuration);
        }
        for text in [
            "id.example.org",
            "http://id.example.org",
            "http://192.0.2.1",
            "http://localhost.example.org",
            "ftp://localhost",
            "https://ann@id.example.org",
            "https://id.example.org?a",
            "https://id.example.org#a",
        ] {
            assert!(Issuer::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    #[test]
    fn the_dashboard_is_at_a_root() {
        let url = |text: &str| PublicUrl::try_from(text.to_owned()).map(|url| url.0);
        assert_eq!(url("https://sixlock.example.org/"), Ok("https://sixlock.example.org".to_owned()));
        assert!(url("https://example.org/sixlock").is_err() && url("http://example.org").is_err());
    }
}

//! What a poller asks: a URL that was read and found to have the form it needs.

use std::fmt;
use std::net::IpAddr;

use percent_encoding::percent_decode_str;
use sixlock_ingest::is_hidden;
use url::{ParseError, Url};

/// The longest URL, in bytes.
const LONGEST: usize = 1024;

/// How a URL is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// HTTP without TLS.
    Http,
    /// HTTP over TLS.
    Https,
    /// CoAP without DTLS.
    Coap,
    /// CoAP over DTLS.
    Coaps,
    /// MQTT without TLS.
    Mqtt,
    /// MQTT over TLS.
    Mqtts,
}

impl Scheme {
    fn named(name: &str) -> Option<Self> {
        match name {
            "http" => Some(Self::Http),
            "https" => Some(Self::Https),
            "coap" => Some(Self::Coap),
            "coaps" => Some(Self::Coaps),
            "mqtt" => Some(Self::Mqtt),
            "mqtts" => Some(Self::Mqtts),
            _ => None,
        }
    }

    /// The port of a URL that names none.
    const fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
            Self::Coap => 5683,
            Self::Coaps => 5684,
            Self::Mqtt => 1883,
            Self::Mqtts => 8883,
        }
    }

    /// Whether it is that of a broker, which is not asked for readings but told them.
    const fn is_of_broker(self) -> bool {
        matches!(self, Self::Mqtt | Self::Mqtts)
    }
}

/// Why a URL cannot be polled, whatever stands behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadUrl {
    /// It does not parse.
    Malformed,
    /// It is longer than 1024 bytes.
    TooLong,
    /// It holds a line break or another character that cannot be seen.
    Hidden,
    /// Its scheme is none of the four.
    Scheme,
    /// It holds a user or password, which would be shown and logged with it.
    UserInfo,
    /// It has a fragment, which is never sent.
    Fragment,
    /// Its host is no name and no address.
    Host,
    /// A segment of the path or an argument is longer than CoAP's options are.
    Option,
    /// Of a broker: its scheme is neither of MQTT's.
    BrokerScheme,
    /// Of a broker: it names more than host and port.
    BrokerPath,
    /// Of a broker: it holds a user or password.
    BrokerUserInfo,
}

impl fmt::Display for BadUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "it is not a URL; write for example coaps://sensor.example.org/temperature",
            Self::TooLong => "it is longer than 1024 bytes",
            Self::Hidden => "it holds a line break or another character that cannot be seen",
            Self::Scheme => "only http, https, coap and coaps are polled",
            Self::UserInfo => "it must hold no user or password; give them as authorization",
            Self::Fragment => "it must have no fragment (#...)",
            Self::Host => "its host is neither a name nor an IP address",
            Self::Option => "a part of its path or query is longer than 255 bytes",
            Self::BrokerScheme => {
                "write for example mqtts://broker.example.org:8883, or mqtt://… without TLS"
            }
            Self::BrokerPath => "it names more than host and port; what topics begin with is the prefix",
            Self::BrokerUserInfo => "it must hold no user or password; give them as username and password",
        })
    }
}

/// A URL that can be polled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    url: Url,
    scheme: Scheme,
    host: String,
    address: Option<IpAddr>,
    port: u16,
}

impl Target {
    /// Reads the URL `text` of what is polled, or told by HTTP.
    pub(crate) fn parse(text: &str) -> Result<Self, BadUrl> {
        Some(Self::read(text)?).filter(|target| !target.scheme.is_of_broker()).ok_or(BadUrl::Scheme)
    }

    /// Reads the URL `text` of a broker, which names host and port alone.
    pub(crate) fn parse_broker(text: &str) -> Result<Self, BadUrl> {
        let target = Self::read(text).map_err(|why| match why {
            BadUrl::Malformed | BadUrl::Scheme => BadUrl::BrokerScheme,
            BadUrl::UserInfo => BadUrl::BrokerUserInfo,
            why => why,
        })?;
        if !target.scheme.is_of_broker() {
            return Err(BadUrl::BrokerScheme);
        }
        match target.path_and_query() {
            "" | "/" => Ok(target),
            _ => Err(BadUrl::BrokerPath),
        }
    }

    fn read(text: &str) -> Result<Self, BadUrl> {
        if text.len() > LONGEST {
            return Err(BadUrl::TooLong);
        }
        if text.chars().any(is_hidden) {
            // The URL standard has them removed, so that what is polled would be another URL than the one that was given.
            return Err(BadUrl::Hidden);
        }
        Self::of(Url::parse(text).map_err(|error| match error {
            ParseError::InvalidDomainCharacter => BadUrl::Host,
            _ => BadUrl::Malformed,
        })?)
    }

    fn of(url: Url) -> Result<Self, BadUrl> {
        let scheme = Scheme::named(url.scheme()).ok_or(BadUrl::Scheme)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BadUrl::UserInfo);
        }
        if url.fragment().is_some() {
            return Err(BadUrl::Fragment);
        }
        let host = url.host_str().ok_or(BadUrl::Host)?;
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let address = host.parse().ok();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        if address.is_none() && !((1..=253).contains(&host.len()) && host.bytes().all(is_name)) {
            return Err(BadUrl::Host);
        }
        let port = url.port().unwrap_or(scheme.port());
        let target = Self { scheme, host: host.to_ascii_lowercase(), address, port, url };
        let too_long = |part: Vec<u8>| part.len() > 255;
        if target.is_coap() && (target.path().any(too_long) || target.query().any(too_long)) {
            return Err(BadUrl::Option);
        }
        Ok(target)
    }

    /// Where a redirect from here to `location` leads.
    pub(crate) fn redirected(&self, location: &str) -> Result<Self, BadUrl> {
        let mut url = self.url.join(location).map_err(|_| BadUrl::Malformed)?;
        // RFC 9110 section 10.2.2: a fragment is for a person's view of the page.
        url.set_fragment(None);
        if url.as_str().len() > LONGEST {
            return Err(BadUrl::TooLong);
        }
        Some(Self::of(url)?).filter(|target| !target.scheme.is_of_broker()).ok_or(BadUrl::Scheme)
    }

    /// How it is asked.
    pub(crate) const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Whether it is asked by CoAP.
    pub(crate) const fn is_coap(&self) -> bool {
        matches!(self.scheme, Scheme::Coap | Scheme::Coaps)
    }

    /// The host, a name in lower case or an address without brackets.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// The host, if it is an address.
    pub(crate) const fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// The port.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// Host and port as HTTP's Host header has them.
    pub(crate) fn authority(&self) -> &str {
        self.url.authority()
    }

    /// What HTTP's request line asks for.
    pub(crate) fn path_and_query(&self) -> &str {
        &self.url[url::Position::BeforePath..url::Position::AfterQuery]
    }

    /// Whether both lead to the same scheme, host and port.
    pub(crate) fn has_origin_of(&self, other: &Self) -> bool {
        (self.scheme, &self.host, self.port) == (other.scheme, &other.host, other.port)
    }

    /// The values of the Uri-Path options
    /// ([RFC 7252 section 6.4](https://www.rfc-editor.org/rfc/rfc7252#section-6.4)).
    pub(crate) fn path(&self) -> impl Iterator<Item = Vec<u8>> {
        let path = self.url.path().strip_prefix('/').unwrap_or(self.url.path());
        // "/" alone is no segment at all, while "/a/" ends with an empty one.
        (!path.is_empty()).then(|| path.split('/').map(decode)).into_iter().flatten()
    }

    /// The values of the Uri-Query options.
    pub(crate) fn query(&self) -> impl Iterator<Item = Vec<u8>> {
        self.url.query().into_iter().flat_map(|query| query.split('&')).map(decode)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.url.fmt(f)
    }
}

/// `text` with its percent-encoded bytes decoded.
fn decode(text: &str) -> Vec<u8> {
    percent_decode_str(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_the_four_schemes_have_their_ports() {
        for (url, scheme, host, port) in [
            ("http://example.org", Scheme::Http, "example.org", 80),
            ("HTTPS://Example.org/x", Scheme::Https, "example.org", 443),
            ("coap://Sensor.example.org", Scheme::Coap, "sensor.example.org", 5683),
            ("coap://sensor:80/a", Scheme::Coap, "sensor", 80),
            ("coaps://[fd00::1]/a", Scheme::Coaps, "fd00::1", 5684),
            ("coaps://192.0.2.1:5000/a", Scheme::Coaps, "192.0.2.1", 5000),
            // One of the spellings that browsers and resolvers take for an address.
            ("http://0x7f.1/", Scheme::Http, "127.0.0.1", 80),
        ] {
            let target = Target::parse(url).unwrap();
            assert_eq!((target.scheme(), target.host(), target.port()), (scheme, host, port), "{url}");
        }
    }

    #[test]
    fn what_is_not_polled_is_refused_with_its_reason() {
        for (url, why) in [
            ("sensor", BadUrl::Malformed),
            ("http://example.org/a\r\nX: y", BadUrl::Hidden),
            ("http://example.org/a\tb", BadUrl::Hidden),
            ("http://example.org\n/", BadUrl::Hidden),
            ("http://exam\u{200b}ple.org/", BadUrl::Hidden),
            ("http://", BadUrl::Malformed),
            ("ftp://example.org", BadUrl::Scheme),
            ("file:///etc/passwd", BadUrl::Scheme),
            ("gopher://example.org", BadUrl::Scheme),
            ("http://user@example.org", BadUrl::UserInfo),
            ("coaps://user:word@example.org", BadUrl::UserInfo),
            ("http://:word@example.org", BadUrl::UserInfo),
            ("http://example.org/#a", BadUrl::Fragment),
            ("coap:///path", BadUrl::Host),
            ("coap:sensor", BadUrl::Host),
            ("coap://sen%20sor/", BadUrl::Host),
        ] {
            assert_eq!(Target::parse(url), Err(why), "{url}");
        }
        let long = |length| format!("coap://sensor/{}", "a".repeat(length));
        assert!(Target::parse(&long(255)).is_ok());
        assert_eq!(Target::parse(&long(256)), Err(BadUrl::Option));
        assert_eq!(Target::parse(&long(1024)), Err(BadUrl::TooLong));
    }

    #[test]
    fn a_url_becomes_the_options_of_a_request() {
        let options = |url: &str| {
            let target = Target::parse(url).unwrap();
            let text = |part: Vec<u8>| String::from_utf8(part).unwrap();
            (target.path().map(text).collect::<Vec<_>>(), target.query().map(text).collect::<Vec<_>>())
        };
        let none: [String; 0] = [];
        assert_eq!(options("coap://a"), (none.to_vec(), none.to_vec()));
        assert_eq!(options("coap://a/"), (none.to_vec(), none.to_vec()));
        assert_eq!(options("coap://a/b/"), (vec!["b".into(), String::new()], none.to_vec()));
        assert_eq!(
            options("coap://a/b%2Fc/%7e?x=1&y=%26"),
            (vec!["b/c".into(), "~".into()], vec!["x=1".into(), "y=&".into()])
        );
    }

    #[test]
    fn a_broker_is_host_and_port_alone_and_is_not_polled() {
        let read = |url: &str| {
            Target::parse_broker(url).map(|target| (target.scheme(), target.host().to_owned(), target.port()))
        };
        assert_eq!(read("mqtt://Broker.example.org"), Ok((Scheme::Mqtt, "broker.example.org".into(), 1883)));
        assert_eq!(read("mqtts://[2001:db8::1]/"), Ok((Scheme::Mqtts, "2001:db8::1".into(), 8883)));
        assert_eq!(read("mqtts://192.0.2.1:5000"), Ok((Scheme::Mqtts, "192.0.2.1".into(), 5000)));
        for (url, why) in [
            ("broker", BadUrl::BrokerScheme),
            ("https://broker", BadUrl::BrokerScheme),
            ("ftp://broker", BadUrl::BrokerScheme),
            ("mqtt://broker/topic", BadUrl::BrokerPath),
            ("mqtt://broker?a", BadUrl::BrokerPath),
            ("mqtt://ann:secret@broker", BadUrl::BrokerUserInfo),
            ("mqtt://bro ker", BadUrl::Host),
            ("mqtt:///a", BadUrl::Host),
            ("mqtt://broker#a", BadUrl::Fragment),
        ] {
            assert_eq!(Target::parse_broker(url), Err(why), "{url}");
        }
        assert_eq!(Target::parse("mqtt://broker"), Err(BadUrl::Scheme));
        let from = Target::parse("http://example.org").unwrap();
        assert_eq!(from.redirected("mqtt://broker"), Err(BadUrl::Scheme));
    }

    #[test]
    fn redirects_are_relative_to_where_they_stand() {
        let from = Target::parse("https://example.org/a/b?c").unwrap();
        let to = |location: &str| from.redirected(location).map(|target| target.to_string());
        assert_eq!(to("d").unwrap(), "https://example.org/a/d");
        assert_eq!(to("/d#top").unwrap(), "https://example.org/d");
        assert_eq!(to("//127.0.0.1/").unwrap(), "https://127.0.0.1/");
        assert_eq!(to("file:///etc/passwd"), Err(BadUrl::Scheme));
        assert_eq!(to("http://user@example.org"), Err(BadUrl::UserInfo));
    }
}

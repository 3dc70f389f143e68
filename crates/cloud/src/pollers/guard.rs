//! Where polls, alerts and readings for brokers may go.
//!
//! Whoever may set a poller, a channel or a broker up makes the cloud send requests, and the cloud stands where its users do not: beside
//! databases, metadata services and other people's devices. So requests go to addresses of the open Internet, and
//! elsewhere only where the operator says so: of polls, which only ask, apart from alerts and readings, which tell. A name is resolved once a request, and the connection is made to the
//! very address that was checked: [`Checked`] comes from nowhere else, and the clients take nothing else.
//!
//! Signing in by a provider goes where that says that its endpoints are. The operator chose the provider, so its own host and port may be at an
//! inside address, as those of one's own house are; what it names beside that is held to the same rule as the others.

use std::fmt;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::str::FromStr;

use serde::Deserialize;

use super::target::{Scheme, Target};
use crate::networks::Network;

/// An address that may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checked(SocketAddr);

impl Checked {
    /// The address.
    pub(super) const fn address(self) -> SocketAddr {
        self.0
    }
}

/// Addresses that nobody may allow, and what they are.
const NEVER: &[(Network, &str)] = &[
    (Network::v4([0, 0, 0, 0], 8), "an unspecified"),
    (Network::v4([224, 0, 0, 0], 4), "a multicast"),
    (Network::v4([255, 255, 255, 255], 32), "a broadcast"),
    (Network::v6([0, 0, 0, 0, 0, 0, 0, 0], 128), "an unspecified"),
    (Network::v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96), "an IPv4-mapped"),
    (Network::v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), "a multicast"),
];

/// Addresses that the operator has to allow, and what they are: what is not on the open Internet
/// ([RFC 6890](https://www.rfc-editor.org/rfc/rfc6890) and the registries that it began), or stands for an IPv4
/// address that was not checked.
const CLOSED: &[(Network, &str)] = &[
    // Where machines of the big providers ask who they are. The last one looks like any other address.
    (Network::v4([169, 254, 169, 254], 32), "a metadata service's"),
    (Network::v4([100, 100, 100, 200], 32), "a metadata service's"),
    (Network::v4([192, 0, 0, 192], 32), "a metadata service's"),
    (Network::v4([168, 63, 129, 16], 32), "a metadata service's"),
    (Network::v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128), "a metadata service's"),
    (Network::v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128), "a metadata service's"),
    (Network::v4([127, 0, 0, 0], 8), "a loopback"),
    (Network::v4([10, 0, 0, 0], 8), "a private"),
    (Network::v4([172, 16, 0, 0], 12), "a private"),
    (Network::v4([192, 168, 0, 0], 16), "a private"),
    (Network::v4([169, 254, 0, 0], 16), "a link-local"),
    (Network::v4([100, 64, 0, 0], 10), "a shared (carrier-grade NAT)"),
    (Network::v4([192, 0, 0, 0], 24), "a reserved"),
    (Network::v4([192, 0, 2, 0], 24), "a documentation"),
    (Network::v4([198, 51, 100, 0], 24), "a documentation"),
    (Network::v4([203, 0, 113, 0], 24), "a documentation"),
    (Network::v4([192, 88, 99, 0], 24), "a 6to4 relay's"),
    (Network::v4([198, 18, 0, 0], 15), "a benchmarking"),
    (Network::v4([240, 0, 0, 0], 4), "a reserved"),
    (Network::v6([0, 0, 0, 0, 0, 0, 0, 1], 128), "a loopback"),
    (Network::v6([0, 0, 0, 0, 0, 0, 0, 0], 96), "an IPv4-compatible"),
    (Network::v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96), "a NAT64"),
    (Network::v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), "a NAT64"),
    (Network::v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), "a documentation"),
    (Network::v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), "a documentation"),
    // Teredo, ORCHID, benchmarking.
    (Network::v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), "a reserved"),
    (Network::v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), "a 6to4"),
    (Network::v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), "a unique local"),
    (Network::v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), "a link-local"),
    (Network::v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), "a site-local"),
];

/// The IPv6 addresses that are given out; all others are closed, whatever they will once be.
const GLOBAL_V6: Network = Network::v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

fn named(networks: &[(Network, &'static str)], address: IpAddr) -> Option<&'static str> {
    networks.iter().find(|(network, _)| network.contains(address)).map(|(_, what)| *what)
}

/// Where polls, alerts, readings for brokers or sign-ins may go besides the open Internet: `CIDR[:PORT]` or `HOST[:PORT]`.
///
/// With a port, exactly that one is allowed; without, every port from 1024 on, and those of HTTP and HTTPS. A name
/// is allowed wherever it leads: who answers for it is to be trusted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct PollAllow {
    place: HostPattern,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HostPattern {
    Network(Network),
    Host(String),
}

impl FromStr for PollAllow {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const RULE: &str =
            "write a network like 10.0.0.0/8, fd00::/64 or [fd00::/64]:5683, or a host like sensor.lan:5684";
        let (place, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((network, "")) => (network, None),
            Some((network, rest)) => (network, Some(rest.strip_prefix(':').ok_or(RULE)?)),
            // More colons than one are an IPv6 address.
            None => match text.split_once(':') {
                Some((place, port)) if !port.contains(':') => (place, Some(port)),
                _ => (text, None),
            },
        };
        let port = port.map(|port| port.parse().ok().filter(|port| *port != 0).ok_or(RULE)).transpose()?;
        let address = place.split_once('/').map_or(place, |(first, _)| first);
        let place = match address.parse::<IpAddr>() {
            Ok(_) => HostPattern::Network(place.parse()?),
            Err(_) => {
                let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
                if place.is_empty() || !place.bytes().all(is_name) {
                    return Err(RULE);
                }
                HostPattern::Host(place.to_ascii_lowercase())
            }
        };
        Ok(Self { place, port })
    }
}

impl TryFrom<String> for PollAllow {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<SocketAddr> for PollAllow {
    /// That address, at that port.
    fn from(address: SocketAddr) -> Self {
        Self { place: HostPattern::Network(address.ip().into()), port: Some(address.port()) }
    }
}

impl PollAllow {
    fn covers(&self, host: &str, address: IpAddr) -> bool {
        match &self.place {
            HostPattern::Network(network) => network.contains(address),
            HostPattern::Host(name) => name == host,
        }
    }
}

/// What goes somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Polls,
    Alerts,
    /// Asking the OpenID provider.
    SignIn,
    Brokers,
}

impl Purpose {
    const fn name(self) -> &'static str {
        match self {
            Self::Polls => "polls",
            Self::Alerts => "alerts",
            Self::SignIn => "sign-ins",
            Self::Brokers => "readings",
        }
    }

    /// The option by which the operator allows it.
    const fn option(self) -> &'static str {
        match self {
            Self::Polls => "--poll-allow",
            Self::Alerts => "--alert-allow",
            Self::SignIn => "\"allow\" in the file of --oidc:",
            Self::Brokers => "--broker-allow",
        }
    }
}

/// Why an address is not asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    purpose: Purpose,
    reason: Reason,
    /// What the operator writes to allow it.
    place: String,
    /// Whether it was found by a name.
    by_name: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Never(&'static str),
    OwnAddress,
    Closed(&'static str),
    ThisMachine,
    Port(u16),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, purpose, option) = (&self.place, self.purpose.name(), self.purpose.option());
        match self.reason {
            Reason::Port(_) => {}
            // Where a name leads inside the operator's network is nothing for those who set pollers up.
            _ if self.by_name => {
                return write!(
                    f,
                    "{host} leads to no address of the open Internet; the cloud's operator may allow {purpose} there with \
                     {option} {host}"
                );
            }
            _ => {}
        }
        match self.reason {
            Reason::Never(what) => return write!(f, "{host} is at {what} address, where {purpose} never go"),
            Reason::OwnAddress => {
                return write!(f, "{host} is an address of this cloud itself, where {purpose} never go");
            }
            Reason::Closed(what) => write!(f, "{host} is at {what} address")?,
            Reason::ThisMachine => write!(f, "{host} is an address of the cloud's own machine")?,
            Reason::Port(port) => write!(f, "port {port} belongs to another service")?,
        }
        write!(f, "; the cloud's operator allows {purpose} there with {option} {host}")
    }
}

/// Decides where polls, alerts, or readings for brokers may go.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    purpose: Purpose,
    allowed: Vec<PollAllow>,
    /// Where the cloud itself listens.
    own_addresses: Vec<SocketAddr>,
}

impl Guard {
    /// Allows, besides the open Internet, what is `allowed`, but never the cloud's `own_addresses`.
    pub(crate) fn new(purpose: Purpose, allowed: Vec<PollAllow>, own_addresses: Vec<SocketAddr>) -> Self {
        Self { purpose, allowed, own_addresses }
    }

    /// Says no to a target that names an address which may not be asked. Where a name leads is seen when it is
    /// polled.
    pub(crate) fn check_literal(&self, target: &Target) -> Result<(), Refusal> {
        match target.address() {
            Some(address) => self.check(target, SocketAddr::new(address, target.port())).map(drop),
            None => Ok(()),
        }
    }

    /// Says whether `target` may be asked at `address`, one of those that its name stands for.
    pub(super) fn check(&self, target: &Target, address: SocketAddr) -> Result<Checked, Refusal> {
        match self.objection(target, address) {
            None => Ok(Checked(address)),
            Some(reason) => {
                let place = match target.address() {
                    Some(IpAddr::V6(address)) => format!("[{address}]:{}", target.port()),
                    _ => format!("{}:{}", target.host(), target.port()),
                };
                Err(Refusal { purpose: self.purpose, reason, place, by_name: target.address().is_none() })
            }
        }
    }

    fn objection(&self, target: &Target, address: SocketAddr) -> Option<Reason> {
        let (ip, port) = (address.ip(), address.port());
        if let Some(what) = named(NEVER, ip) {
            return Some(Reason::Never(what));
        }
        let local = is_local(ip);
        let is_own =
            |own: &SocketAddr| own.port() == port && (own.ip() == ip || own.ip().is_unspecified() && local);
        if self.own_addresses.iter().any(is_own) {
            return Some(Reason::OwnAddress);
        }
        let allowing = || self.allowed.iter().filter(|allow| allow.covers(target.host(), ip));
        if allowing().any(|allow| allow.port == Some(port)) {
            return None;
        }
        if !allowing().any(|allow| allow.port.is_none()) {
            let closed =
                named(CLOSED, ip).or((ip.is_ipv6() && !GLOBAL_V6.contains(ip)).then_some("a reserved"));
            if let Some(what) = closed {
                return Some(Reason::Closed(what));
            }
            if local {
                return Some(Reason::ThisMachine);
            }
        }
        // What listens below 1024 is mostly not for devices: mail, remote shells, domain names.
        let own = match target.scheme() {
            Scheme::Http | Scheme::Https => matches!(port, 80 | 443),
            Scheme::Coap | Scheme::Coaps | Scheme::Mqtt | Scheme::Mqtts => false,
        };
        (port < 1024 && !own).then_some(Reason::Port(port))
    }
}

/// Whether this machine has the address: only its own can be bound.
fn is_local(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(allowed: &[&str]) -> Guard {
        let allowed = allowed.iter().map(|text| text.parse().unwrap()).collect();
        Guard::new(
            Purpose::Polls,
            allowed,
            vec!["127.0.0.1:8080".parse().unwrap(), "[::]:5684".parse().unwrap()],
        )
    }

    fn check(guard: &Guard, url: &str, address: &str) -> Result<Checked, Reason> {
        let target = Target::parse(url).unwrap();
        let address = SocketAddr::new(address.parse().unwrap(), target.port());
        guard.check(&target, address).map_err(|refusal| refusal.reason)
    }

    #[test]
    fn only_the_open_internet_is_polled() {
        let guard = guard(&[]);
        for (address, reason) in [
            ("0.0.0.0", Reason::Never("an unspecified")),
            ("0.1.2.3", Reason::Never("an unspecified")),
            ("224.0.1.187", Reason::Never("a multicast")),
            ("239.255.255.250", Reason::Never("a multicast")),
            ("255.255.255.255", Reason::Never("a broadcast")),
            ("::", Reason::Never("an unspecified")),
            ("::ffff:127.0.0.1", Reason::Never("an IPv4-mapped")),
            ("::ffff:8.8.8.8", Reason::Never("an IPv4-mapped")),
            ("ff02::fd", Reason::Never("a multicast")),
            ("169.254.169.254", Reason::Closed("a metadata service's")),
            ("100.100.100.200", Reason::Closed("a metadata service's")),
            ("192.0.0.192", Reason::Closed("a metadata service's")),
            ("168.63.129.16", Reason::Closed("a metadata service's")),
            ("fd00:ec2::254", Reason::Closed("a metadata service's")),
            ("fd20:ce::254", Reason::Closed("a metadata service's")),
            ("127.0.0.1", Reason::Closed("a loopback")),
            ("127.255.255.255", Reason::Closed("a loopback")),
            ("10.0.0.0", Reason::Closed("a private")),
            ("10.255.255.255", Reason::Closed("a private")),
            ("172.16.0.1", Reason::Closed("a private")),
            ("172.31.255.255", Reason::Closed("a private")),
            ("192.168.178.1", Reason::Closed("a private")),
            ("169.254.1.1", Reason::Closed("a link-local")),
            ("100.64.0.1", Reason::Closed("a shared (carrier-grade NAT)")),
            ("100.127.255.255", Reason::Closed("a shared (carrier-grade NAT)")),
            ("192.0.0.1", Reason::Closed("a reserved")),
            ("192.0.2.1", Reason::Closed("a documentation")),
            ("198.51.100.1", Reason::Closed("a documentation")),
            ("203.0.113.255", Reason::Closed("a documentation")),
            ("192.88.99.1", Reason::Closed("a 6to4 relay's")),
            ("198.18.0.1", Reason::Closed("a benchmarking")),
            ("198.19.255.255", Reason::Closed("a benchmarking")),
            ("240.0.0.1", Reason::Closed("a reserved")),
            ("::1", Reason::Closed("a loopback")),
            ("::7f00:1", Reason::Closed("an IPv4-compatible")),
            ("64:ff9b::7f00:1", Reason::Closed("a NAT64")),
            ("64:ff9b::808:808", Reason::Closed("a NAT64")),
            ("64:ff9b:1::1", Reason::Closed("a NAT64")),
            ("2001:db8::1", Reason::Closed("a documentation")),
            ("3fff::1", Reason::Closed("a documentation")),
            ("2001::1", Reason::Closed("a reserved")),
            ("2001:2::1", Reason::Closed("a reserved")),
            ("2001:20::1", Reason::Closed("a reserved")),
            ("2002:7f00:1::", Reason::Closed("a 6to4")),
            ("fc00::1", Reason::Closed("a unique local")),
            ("fd00::212:7400:0:1", Reason::Closed("a unique local")),
            ("fe80::1", Reason::Closed("a link-local")),
            ("febf::1", Reason::Closed("a link-local")),
            ("fec0::1", Reason::Closed("a site-local")),
            ("100::1", Reason::Closed("a reserved")),
            ("5f00::1", Reason::Closed("a reserved")),
            ("4000::1", Reason::Closed("a reserved")),
        ] {
            assert_eq!(check(&guard, "coap://sensor.example.org", address), Err(reason), "{address}");
        }
        for address in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::1",
            "2606:4700::1111",
            "2a00::1",
            "3ffe::1",
        ] {
            assert!(check(&guard, "coap://sensor.example.org", address).is_ok(), "{address}");
        }
    }

    #[test]
    fn low_ports_are_those_of_http_alone() {
        let guard = guard(&[]);
        for url in ["http://a", "https://a", "http://a:443", "http://a:8080", "coap://a", "coap://a:61616"] {
            assert!(check(&guard, url, "1.1.1.1").is_ok(), "{url}");
        }
        for (url, port) in [
            ("http://a:22", 22),
            ("https://a:25", 25),
            ("coap://a:53", 53),
            ("coap://a:80", 80),
            ("coaps://a:443", 443),
        ] {
            assert_eq!(check(&guard, url, "1.1.1.1"), Err(Reason::Port(port)), "{url}");
        }
    }

    #[test]
    fn the_operator_allows_networks_and_hosts_with_or_without_a_port() {
        let ask = |allowed: &str, url: &str, address: &str| check(&guard(&[allowed]), url, address).is_ok();
        assert!(ask("10.0.0.0/8", "coap://a", "10.1.2.3"));
        assert!(!ask("10.0.0.0/8", "coap://a", "192.168.0.1"));
        assert!(!ask("10.0.0.0/8", "coap://a:53", "10.1.2.3"));
        assert!(ask("10.0.0.0/8:53", "coap://a:53", "10.1.2.3"));
        assert!(!ask("10.0.0.0/8:53", "coap://a", "10.1.2.3"));
        assert!(ask("fd00::/64", "coaps://a", "fd00::1"));
        assert!(!ask("fd00::/64", "coaps://a", "fd00:0:0:1::1"));
        assert!(ask("[fd00::/64]:5683", "coap://a", "fd00::1"));
        assert!(!ask("[fd00::/64]:5683", "coaps://a", "fd00::1"));
        assert!(ask("[fd00::1]", "coaps://a", "fd00::1"));
        assert!(ask("fd00::1", "coaps://a", "fd00::1"));
        assert!(ask("127.0.0.1:5683", "coap://a", "127.0.0.1"));
        assert!(ask("0.0.0.0/0", "coap://a", "127.0.0.1"));
        assert!(ask("Sensor.lan", "coap://sensor.lan", "10.1.2.3"));
        assert!(!ask("Sensor.lan", "coap://other.lan", "10.1.2.3"));
        assert!(ask("1.1.1.1:22", "http://a:22", "1.1.1.1"));
        assert!(!ask("0.0.0.0/0", "coap://a", "224.0.1.187"), "multicast is never asked");
        assert!(!ask("::/0", "coap://a", "::ffff:10.0.0.1"), "a mapped address is never asked");
    }

    #[test]
    fn the_clouds_own_addresses_are_never_asked() {
        let guard = guard(&["0.0.0.0/0", "::/0", "127.0.0.1:8080", "localhost:5684"]);
        assert_eq!(check(&guard, "http://localhost:8080", "127.0.0.1"), Err(Reason::OwnAddress));
        assert_eq!(check(&guard, "coaps://localhost", "127.0.0.1"), Err(Reason::OwnAddress));
        assert!(check(&guard, "coap://localhost", "127.0.0.1").is_ok());
        assert!(check(&guard, "http://a:8080", "1.1.1.1").is_ok());
    }

    #[test]
    fn what_is_no_network_or_host_is_not_allowed() {
        for text in [
            "",
            "10.0.0.0/33",
            "fd00::/129",
            "10.0.0.0/x",
            "10.0.0.0/8:0",
            "10.0.0.0/8:x",
            "[fd00::/64",
            "fd00::/64]:1",
            "[fd00::/64]5683",
            "a b",
            "a/8",
            "http://a",
            "a:1:2",
            ":80",
        ] {
            assert!(text.parse::<PollAllow>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_refusal_says_the_rule_and_how_to_allow_it() {
        let refusal = |url| guard(&[]).check_literal(&Target::parse(url).unwrap()).unwrap_err().to_string();
        assert_eq!(
            refusal("coaps://[fd00::1]/temperature"),
            "[fd00::1]:5684 is at a unique local address; the cloud's operator allows polls there with --poll-allow [fd00::1]:5684"
        );
        assert_eq!(
            refusal("coap://224.0.1.187"),
            "224.0.1.187:5683 is at a multicast address, where polls never go"
        );
        let named = Target::parse("coap://localhost").unwrap();
        assert_eq!(guard(&[]).check_literal(&named), Ok(()), "where a name leads is seen when it is polled");
    }
}

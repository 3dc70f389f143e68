//! Where a request comes from: the address of its connection, or where that is a proxy which the operator trusts, the
//! address that the proxy names.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::http::HeaderMap;
use sixlock_telemetry::Client;

use crate::networks::Network;

/// Proxies whose word is taken on where a request comes from.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrustedProxies(Vec<Network>);

impl TrustedProxies {
    pub(crate) const fn new(networks: Vec<Network>) -> Self {
        Self(networks)
    }

    /// Whether `address` is one of theirs.
    pub(crate) fn include(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address.to_canonical()))
    }

    /// Where a request with these headers comes from whose connection is from `peer`. Each proxy adds the address that it
    /// was asked from at the end of `X-Forwarded-For`, so the last one that is no trusted proxy is the client's; what
    /// stands before it the client may have made up.
    pub(crate) fn client(&self, peer: SocketAddr, headers: &HeaderMap) -> Client {
        let mut client = Client { address: peer.ip().to_canonical(), port: Some(peer.port()) };
        let mut lines: Vec<&str> = Vec::new();
        for line in headers.get_all("x-forwarded-for") {
            // An empty line names no address, and nothing before it is looked at.
            lines.push(line.to_str().unwrap_or_default());
        }
        for named in lines.iter().rev().flat_map(|line| line.rsplit(',')) {
            if !self.include(client.address) {
                break;
            }
            let Some(address) = address(named.trim()) else { break };
            client = Client { address: address.to_canonical(), port: None };
        }
        client
    }
}

/// An address as proxies write it, also with a port.
fn address(text: &str) -> Option<IpAddr> {
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse::<Ipv6Addr>().ok();
    let with_port = || text.parse::<SocketAddr>().ok();
    text.parse()
        .ok()
        .or_else(|| bracketed().map(IpAddr::V6))
        .or_else(|| with_port().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(trusted: &[&str], peer: &str, forwarded: &[&str]) -> String {
        let trusted = trusted.iter().map(|network| network.parse().unwrap()).collect();
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append("x-forwarded-for", line.parse().unwrap());
        }
        TrustedProxies::new(trusted).client(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn the_last_address_that_is_no_trusted_proxy_is_the_clients() {
        let trusted = ["127.0.0.1", "10.0.0.0/8", "fd00::/64"];
        for (peer, forwarded, expected) in [
            // Nobody else is believed.
            ("192.0.2.1:7", &["203.0.113.9"][..], "192.0.2.1:7"),
            ("[2001:db8::1]:7", &["203.0.113.9"], "[2001:db8::1]:7"),
            ("127.0.0.1:7", &[], "127.0.0.1:7"),
            ("127.0.0.1:7", &["203.0.113.9"], "203.0.113.9"),
            ("[::ffff:127.0.0.1]:7", &["203.0.113.9"], "203.0.113.9"),
            ("[fd00::1]:7", &["2001:db8::5"], "2001:db8::5"),
            ("127.0.0.1:7", &["1.2.3.4, 203.0.113.9"], "203.0.113.9"),
            ("127.0.0.1:7", &["1.2.3.4, 203.0.113.9, 10.1.2.3"], "203.0.113.9"),
            ("127.0.0.1:7", &["1.2.3.4", "203.0.113.9 ", "10.1.2.3"], "203.0.113.9"),
            ("127.0.0.1:7", &["1.2.3.4, nonsense, 10.1.2.3"], "10.1.2.3"),
            ("127.0.0.1:7", &["203.0.113.9:4711"], "203.0.113.9"),
            ("127.0.0.1:7", &["[2001:db8::5]:4711"], "2001:db8::5"),
            ("127.0.0.1:7", &["[2001:db8::5]"], "2001:db8::5"),
            ("127.0.0.1:7", &["10.0.0.1, 10.0.0.2"], "10.0.0.1"),
            ("127.0.0.1:7", &[""], "127.0.0.1:7"),
        ] {
            assert_eq!(client(&trusted, peer, forwarded), expected, "{peer} {forwarded:?}");
        }
        assert_eq!(client(&[], "127.0.0.1:7", &["203.0.113.9"]), "127.0.0.1:7");
    }
}

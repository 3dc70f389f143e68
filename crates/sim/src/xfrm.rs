//! Associations as the Linux kernel is told of them: lines for iproute2's `ip -batch`.

use std::fmt::Write;
use std::net::Ipv6Addr;

use sixlock_base::{AhSuite, EspSuite, NetworkSuite};

use crate::protection::{Peering, Tunnel};

/// The algorithms of `suite` with keying material of [`NetworkSuite::key_len`] bytes, as `ip xfrm state add` takes them; none
/// if the kernel does not have the suite.
pub fn xfrm_algorithms(suite: NetworkSuite, key: &[u8]) -> Option<String> {
    use EspSuite::*;
    let (cipher, code) = match suite {
        NetworkSuite::Ah(code) => ("", Some(code)),
        NetworkSuite::Joint(_) => return None,
        NetworkSuite::Esp(suite) => match suite {
            CtrXcbc => (CTR, Some(AhSuite::Xcbc)),
            CtrCmac => (CTR, Some(AhSuite::Cmac)),
            CtrHmacSha1 => (CTR, Some(AhSuite::HmacSha1)),
            CtrHmacSha256 => (CTR, Some(AhSuite::HmacSha256)),
            CbcXcbc => (CBC, Some(AhSuite::Xcbc)),
            CbcCmac => (CBC, Some(AhSuite::Cmac)),
            CbcHmacSha1 => (CBC, Some(AhSuite::HmacSha1)),
            CbcHmacSha256 => (CBC, Some(AhSuite::HmacSha256)),
            NullXcbc => (NULL, Some(AhSuite::Xcbc)),
            NullCmac => (NULL, Some(AhSuite::Cmac)),
            NullHmacSha1 => (NULL, Some(AhSuite::HmacSha1)),
            NullHmacSha256 => (NULL, Some(AhSuite::HmacSha256)),
            Ctr => (CTR, None),
            Cbc => (CBC, None),
            Gcm => return Some(format!("aead rfc4106(gcm(aes)) {} 128", hex(key))),
            Ccm8 => return Some(format!("aead rfc4309(ccm(aes)) {} 64", hex(key))),
            Ccm12 => return Some(format!("aead rfc4309(ccm(aes)) {} 96", hex(key))),
            Ccm16 => return Some(format!("aead rfc4309(ccm(aes)) {} 128", hex(key))),
            GcmImplicit | Ccm8Implicit => return None,
        },
    };
    let code_len = code.map_or(0, AhSuite::key_len);
    let (key, code_key) = key.split_at_checked(key.len().checked_sub(code_len)?)?;
    let mut algorithms = String::new();
    if !cipher.is_empty() {
        algorithms = format!("enc {cipher} {} ", hex(key));
    }
    if let Some(code) = code {
        let (name, bits) = match code {
            AhSuite::Xcbc => ("xcbc(aes)", 96),
            AhSuite::Cmac => ("cmac(aes)", 96),
            AhSuite::HmacSha1 => ("hmac(sha1)", 96),
            AhSuite::HmacSha256 => ("hmac(sha256)", 128),
        };
        let _ = write!(algorithms, "auth-trunc {name} {} {bits}", hex(code_key));
    }
    Some(algorithms)
}

const CTR: &str = "rfc3686(ctr(aes))";
const CBC: &str = "cbc(aes)";
const NULL: &str = "ecb(cipher_null)";

/// A key as iproute2 takes it.
fn hex(key: &[u8]) -> String {
    if key.is_empty() {
        return "''".into();
    }
    key.iter().fold("0x".into(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// Lines that make a Linux kernel `host`, as far as `peerings` speak of it; none if it does not have the suite. It should
/// have forgotten what it was told before.
pub fn xfrm(peerings: &[Peering], host: Ipv6Addr) -> Option<String> {
    let mut lines = String::new();
    for peering in peerings.iter().filter(|peering| peering.host == host) {
        lines += &peering.xfrm()?;
    }
    Some(lines)
}

impl Peering {
    fn xfrm(&self) -> Option<String> {
        let Self { node, host, tunnel, suite, spi, .. } = *self;
        let protocol = match suite {
            NetworkSuite::Ah(_) => "ah",
            NetworkSuite::Esp(_) | NetworkSuite::Joint(_) => "esp",
        };
        let mode = if tunnel.is_some() { "tunnel" } else { "transport" };
        let mut lines = String::new();
        for (from, to, direction, key) in
            [(node, host, "in", &self.from_node), (host, node, "out", &self.from_host)]
        {
            let algorithms = xfrm_algorithms(suite, key)?;
            // What a policy selects is what is inside a tunnel, of which the template tells the ends.
            let selected = match (tunnel, direction) {
                (None, _) => format!("src {from} dst {to}"),
                (Some(Tunnel { node, host }), "in") => format!("src {node} dst {host}"),
                (Some(Tunnel { node, host }), _) => format!("src {host} dst {node}"),
            };
            let ends = if tunnel.is_some() { format!("src {from} dst {to} ") } else { String::new() };
            let _ = write!(
                lines,
                "xfrm state add src {from} dst {to} proto {protocol} spi {spi} mode {mode} \
                 replay-window 64 flag esn {algorithms}\n\
                 xfrm policy add {selected} dir {direction} tmpl {ends}proto {protocol} mode {mode}\n"
            );
        }
        Some(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::CLOUD;
    use crate::protection::Prefix;

    #[test]
    fn a_kernel_is_told_of_both_directions() {
        let peering = Peering {
            id: 2,
            node: "fd00::1".parse().unwrap(),
            host: "fd00:0:0:1::1".parse().unwrap(),
            tunnel: None,
            suite: NetworkSuite::Esp(EspSuite::CbcHmacSha1),
            spi: 257,
            from_node: (0..36).collect(),
            from_host: (100..136).collect(),
        };
        let expected = "\
            xfrm state add src fd00::1 dst fd00:0:0:1::1 proto esp spi 257 mode transport replay-window 64 flag esn \
            enc cbc(aes) 0x000102030405060708090a0b0c0d0e0f \
            auth-trunc hmac(sha1) 0x101112131415161718191a1b1c1d1e1f20212223 96\n\
            xfrm policy add src fd00::1 dst fd00:0:0:1::1 dir in tmpl proto esp mode transport\n\
            xfrm state add src fd00:0:0:1::1 dst fd00::1 proto esp spi 257 mode transport replay-window 64 flag esn \
            enc cbc(aes) 0x6465666768696a6b6c6d6e6f70717273 \
            auth-trunc hmac(sha1) 0x7475767778797a7b7c7d7e7f8081828384858687 96\n\
            xfrm policy add src fd00:0:0:1::1 dst fd00::1 dir out tmpl proto esp mode transport\n";
        let peerings = [peering.clone(), Peering { host: CLOUD, ..peering.clone() }];
        assert_eq!(xfrm(&peerings, peering.host).as_deref(), Some(expected));
        let between = Tunnel { node: Prefix::mesh(), host: Prefix::one(peering.host) };
        let tunnel = Peering { tunnel: Some(between), ..peering.clone() };
        let ends = "xfrm policy add src fd00::/64 dst fd00:0:0:1::1/128 dir in \
                    tmpl src fd00::1 dst fd00:0:0:1::1 proto esp mode tunnel\n";
        assert!(xfrm(std::slice::from_ref(&tunnel), tunnel.host).is_some_and(|lines| lines.contains(ends)));
        let implicit = Peering { suite: NetworkSuite::Esp(EspSuite::GcmImplicit), ..peering };
        assert_eq!(xfrm(std::slice::from_ref(&implicit), implicit.host), None);
        let joint = Peering { suite: NetworkSuite::Joint(EspSuite::CtrXcbc), ..implicit };
        assert_eq!(xfrm(std::slice::from_ref(&joint), joint.host), None);
    }
}

//! What a security mode protects readings from. It follows from what each layer does and where it ends: link security at the next hop,
//! IPsec at the border router, DTLS at the far end.

use core::fmt;

use serde::Serialize;
use sixlock_base::{Security, TransportSuite};

/// Who may want to read what nodes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reader {
    /// Whoever records frames near the radio, without any key.
    Listener,
    /// A node that was captured, with its keys, and forwards what others send.
    CapturedNode,
    /// Whoever holds the border router, or is between it and the far end.
    BorderRouter,
}

/// Who may want to speak in a node's name, or to say again what it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Forger {
    /// Whoever sends frames near the radio, without any key.
    Injector,
    /// A node that was captured, with its keys, in the name of another.
    CapturedNode,
    /// Whoever holds the border router, or is between it and the far end.
    BorderRouter,
}

impl Reader {
    /// Each by its name in a file.
    pub(crate) const NAMED: [(&str, Self); 3] = [
        ("listener", Self::Listener),
        ("captured-node", Self::CapturedNode),
        ("border-router", Self::BorderRouter),
    ];
}

impl Forger {
    /// Each by its name in a file.
    pub(crate) const NAMED: [(&str, Self); 3] = [
        ("injector", Self::Injector),
        ("captured-node", Self::CapturedNode),
        ("border-router", Self::BorderRouter),
    ];
}

impl fmt::Display for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Listener => "a listener near the radio",
            Self::CapturedNode => "a captured node",
            Self::BorderRouter => "whoever holds the border router, or is behind it",
        })
    }
}

impl fmt::Display for Forger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Injector => "an injector near the radio",
            Self::CapturedNode => "a captured node",
            Self::BorderRouter => "whoever holds the border router, or is behind it",
        })
    }
}

/// What a security mode protects readings from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Protection {
    /// Who cannot read them.
    pub secret_from: Vec<Reader>,
    /// Who can neither forge nor replay them.
    pub unforgeable_by: Vec<Forger>,
    /// Whether who gets a node's keys cannot read what was recorded before.
    pub forward_secrecy: bool,
}

impl Protection {
    /// That of this mode.
    pub fn of(security: Security) -> Self {
        let Security { link, network, transport, .. } = security;
        let is_encrypted = [
            link.is_some_and(|suite| suite.encrypts()),
            network.is_some_and(|suite| suite.encrypts()),
            transport.is_some(),
        ];
        let is_authentic = [
            link.is_some_and(|suite| suite.authenticates()),
            network.is_some_and(|suite| suite.authenticates()),
            transport.is_some(),
        ];
        let readers = [Reader::Listener, Reader::CapturedNode, Reader::BorderRouter];
        let forgers = [Forger::Injector, Forger::CapturedNode, Forger::BorderRouter];
        // Each of them is kept out by one layer less than the one before: by any, by those above the link, by those above IPsec.
        let kept_out = |layers: [bool; 3], from: usize| layers[from..].iter().any(|layer| *layer);
        let secret = readers.into_iter().enumerate().filter(|(from, _)| kept_out(is_encrypted, *from));
        let authentic = forgers.into_iter().enumerate().filter(|(from, _)| kept_out(is_authentic, *from));
        Self {
            secret_from: secret.map(|(_, reader)| reader).collect(),
            unforgeable_by: authentic.map(|(_, forger)| forger).collect(),
            // Both agree on a key by ECDHE.
            forward_secrecy: transport.is_some_and(TransportSuite::has_public_keys),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mode: &str) -> Protection {
        Protection::of(Security::any(mode).unwrap())
    }

    /// The rows of SECURITY.md, "What each mode protects".
    #[test]
    fn a_mode_protects_as_far_as_its_layers_reach() {
        use Reader::{BorderRouter, CapturedNode, Listener};
        for (mode, secret, unforgeable) in [
            ("none", &[][..], &[][..]),
            ("llsec", &[Listener], &[Forger::Injector]),
            ("llsec:cbc-mac-64", &[], &[Forger::Injector]),
            ("llsec:ctr", &[Listener], &[]),
            ("ah", &[], &[Forger::Injector, Forger::CapturedNode]),
            ("esp", &[Listener, CapturedNode], &[Forger::Injector, Forger::CapturedNode]),
            ("esp:null-xcbc", &[], &[Forger::Injector, Forger::CapturedNode]),
            ("esp:joint-null-xcbc", &[], &[Forger::Injector, Forger::CapturedNode]),
            ("esp:ctr", &[Listener, CapturedNode], &[]),
            ("llsec+ah", &[Listener], &[Forger::Injector, Forger::CapturedNode]),
            (
                "dtls-psk",
                &[Listener, CapturedNode, BorderRouter],
                &[Forger::Injector, Forger::CapturedNode, Forger::BorderRouter],
            ),
        ] {
            let protection = of(mode);
            assert_eq!(protection.secret_from, secret, "{mode}");
            assert_eq!(protection.unforgeable_by, unforgeable, "{mode}");
        }
    }

    #[test]
    fn keys_that_are_agreed_on_anew_keep_what_was_recorded_secret() {
        for (mode, forward) in [
            ("none", false),
            ("esp", false),
            ("dtls-psk", false),
            ("dtls-rpk", true),
            ("llsec+dtls-x509", true),
        ] {
            assert_eq!(of(mode).forward_secrecy, forward, "{mode}");
        }
    }
}

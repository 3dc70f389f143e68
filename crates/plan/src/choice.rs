//! The ways of protecting a network.

use core::fmt;

use sixlock_base::{AhSuite, Engines, EspSuite, LinkSuite, NetworkSuite, Security, TransportSuite};

use crate::demands::{Demands, FarEnd};
use crate::protection::Protection;

/// Which security modes are tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Modes {
    /// With the default suites, and IPsec or DTLS alone.
    Usual,
    /// Those with every suite that refuses forgeries, and every sum.
    Every,
    /// These, whatever they protect from.
    These(Vec<Security>),
}

impl Modes {
    /// Whether they are given: those are told, whatever is demanded.
    pub(crate) const fn are_given(&self) -> bool {
        matches!(self, Self::These(_))
    }
}

/// A way of protecting a network: a security mode, and when radios listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The security mode.
    pub security: Security,
    /// The value of `[mac] listen`, if not the file's.
    pub listen: Option<String>,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.security)?;
        self.listen.iter().try_for_each(|listen| write!(f, ", {listen}"))
    }
}

impl Choice {
    /// Each of `modes` with each way of listening.
    pub(crate) fn all(demands: &Demands, modes: &Modes) -> Vec<Self> {
        let listens: Vec<_> = match &demands.listen[..] {
            [] => vec![None],
            listens => listens.iter().cloned().map(Some).collect(),
        };
        let modes = match modes {
            Modes::Usual => all_modes(false),
            Modes::Every => all_modes(true),
            Modes::These(modes) => modes.clone(),
        };
        let with = |listen: &Option<String>| {
            let listen = listen.clone();
            modes.iter().map(move |&security| Self { security, listen: listen.clone() }).collect::<Vec<_>>()
        };
        listens.iter().flat_map(with).collect()
    }

    /// Why this does not come into question, in a sentence, if it does not.
    pub(crate) fn struck(&self, demands: &Demands) -> Option<String> {
        let Protection { secret_from, unforgeable_by, forward_secrecy } = Protection::of(self.security);
        let reads = demands.secret_from.iter().find(|reader| !secret_from.contains(reader));
        let forges = demands.unforgeable_by.iter().find(|forger| !unforgeable_by.contains(forger));
        let speaks = FarEnd::of(self.security.transport);
        if !demands.far_end.is_empty() && !demands.far_end.contains(&speaks) {
            return Some(match self.security.transport {
                None => "The far end takes nothing without DTLS.".into(),
                Some(transport) => format!("The far end does not speak {}.", transport.name()),
            });
        }
        reads
            .map(|reader| format!("It does not keep readings secret from {reader}."))
            .or_else(|| forges.map(|forger| format!("It lets {forger} forge readings.")))
            .or_else(|| {
                let lacks = demands.forward_secrecy && !forward_secrecy;
                lacks.then(|| "Who gets a node's keys can read what was recorded before.".into())
            })
    }
}

fn all_modes(every: bool) -> Vec<Security> {
    let links: Vec<_> = match every {
        true => LinkSuite::ALL.iter().copied().filter(|suite| suite.authenticates()).collect(),
        false => vec![LinkSuite::Ccm64],
    };
    let networks: Vec<_> = match every {
        true => {
            let headers = AhSuite::ALL.iter().copied().map(NetworkSuite::Ah);
            let payloads = EspSuite::ALL.iter().copied().map(NetworkSuite::Esp);
            headers.chain(payloads).filter(|suite| suite.authenticates()).collect()
        }
        false => vec![NetworkSuite::Ah(AhSuite::Xcbc), NetworkSuite::Esp(EspSuite::CtrXcbc)],
    };
    let transports = || TransportSuite::ALL.iter().copied().map(Some);
    let mut modes = Vec::new();
    for link in [None].into_iter().chain(links.into_iter().map(Some)) {
        for network in [None].into_iter().chain(networks.iter().copied().map(Some)) {
            for transport in [None].into_iter().chain(transports()) {
                if every || network.is_none() || transport.is_none() {
                    modes.push(Security { link, network, transport, engines: Engines::NONE });
                }
            }
        }
    }
    modes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protection::{Forger, Reader};

    fn left(demands: &Demands) -> Vec<String> {
        let all = Choice::all(demands, &Modes::Usual).into_iter();
        all.filter(|choice| choice.struck(demands).is_none()).map(|choice| choice.to_string()).collect()
    }

    #[test]
    fn what_does_not_protect_from_whom_it_must_is_struck() {
        let all = left(&Demands::default());
        assert_eq!(all.len(), 12, "{all:?}");
        let injected = Demands { unforgeable_by: vec![Forger::Injector], ..Demands::default() };
        assert_eq!(left(&injected).len(), 11, "all but none");
        let forwarded = Demands { secret_from: vec![Reader::CapturedNode], ..Demands::default() };
        let kept = left(&forwarded);
        assert_eq!(kept.len(), 8, "{kept:?}");
        assert!(kept.iter().all(|mode| mode.contains("esp") || mode.contains("dtls")), "{kept:?}");
        let end_to_end = Demands {
            unforgeable_by: vec![Forger::BorderRouter],
            forward_secrecy: true,
            far_end: vec![FarEnd::Coap, FarEnd::DtlsPsk, FarEnd::DtlsRpk],
            ..Demands::default()
        };
        assert_eq!(left(&end_to_end), ["dtls-rpk", "llsec:ccm-64+dtls-rpk"]);
    }

    #[test]
    fn the_reason_is_a_sentence() {
        let struck = |mode: &str, demands: &Demands| {
            Choice { security: Security::any(mode).unwrap(), listen: None }.struck(demands)
        };
        let demands = Demands { secret_from: vec![Reader::CapturedNode], ..Demands::default() };
        let reason = struck("ah", &demands).unwrap();
        assert_eq!(reason, "It does not keep readings secret from a captured node.");
        assert_eq!(struck("esp", &demands), None);
        let demands = Demands { far_end: vec![FarEnd::DtlsPsk], ..Demands::default() };
        assert_eq!(struck("dtls-rpk", &demands).unwrap(), "The far end does not speak dtls-rpk.");
        assert_eq!(struck("esp", &demands).unwrap(), "The far end takes nothing without DTLS.");
    }

    #[test]
    fn every_suite_that_refuses_forgeries_is_tried_if_all_are_wanted() {
        let demands = Demands { listen: vec!["always".into(), "contikimac".into()], ..Demands::default() };
        let all = Choice::all(&demands, &Modes::Every);
        let (links, networks) = (1 + 6, 1 + 4 + 18);
        assert_eq!(all.len(), 2 * links * networks * 4);
        assert!(all.iter().any(|choice| choice.to_string() == "llsec:ccm-32+esp:gcm+dtls-x509, contikimac"));
    }
}

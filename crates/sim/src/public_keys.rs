//! The public keys of nodes and of their cloud, as a seed makes them: raw, or in certificates of an authority of their own.

use sixlock_base::{Entropy, Eui64, TransportSuite};
use sixlock_crypto::Soft;
use sixlock_crypto::p256::{P_256_POINT, P_256_SECRET, P256};
use sixlock_dtls::Trusted;
use sixlock_node::KeyRing;
use sixlock_x509::{Clock, Purpose as Role, Template, Time, Trust};

use crate::random::{Purpose, Stream};
use crate::scenario::{Destination, Scenario, TrafficKind};

/// The names in certificates, where they are no node's.
const AUTHORITY: &str = "authority";
const CLOUD: &str = "cloud";
/// The number by which the cloud's private key is drawn, and the authority's: no node has them.
const CLOUD_NUMBER: u32 = u32::MAX;
const AUTHORITY_NUMBER: u32 = u32::MAX - 1;
/// The first and the last day of certificates, after 1 January 1970. Networks are simulated on the first.
const DAYS: (u32, u32) = (20_454, 24_106);
/// Room for a certificate.
const CERTIFICATE: usize = 512;

/// Who has which keys. They live as long as the program does, as they would in a device's flash.
pub struct KeyRings {
    /// Those of the nodes from 1 on.
    pub nodes: Vec<&'static KeyRing>,
    /// Those of the cloud.
    pub cloud: &'static KeyRing,
}

/// A private key, its public one, and a certificate of it.
struct KeyPair {
    secret: &'static [u8; P_256_SECRET],
    point: [u8; P_256_POINT],
}

impl KeyPair {
    fn new(seed: u64, number: u32) -> Self {
        let mut stream = Stream::new(seed, number, Purpose::PrivateKey);
        loop {
            let mut secret = [0; P_256_SECRET];
            stream.fill(&mut secret);
            if let Some(point) = Soft.p256_public_key(&secret) {
                return Self { secret: Box::leak(Box::new(secret)), point };
            }
        }
    }
}

/// The authority of one network.
struct Authority {
    keys: KeyPair,
    /// The suite says how its members show their keys.
    suite: TransportSuite,
}

impl Authority {
    /// The certificate of a key: none where there are raw ones.
    fn certify(&self, subject: &str, number: u32, point: &[u8; P_256_POINT]) -> Option<&'static [u8]> {
        let template = Template {
            serial: &(number % 0x7f00_0000 + 0x0100_0000).to_be_bytes(),
            issuer: AUTHORITY,
            subject,
            validity: (Time::new(DAYS.0, 0), Time::new(DAYS.1, 0)),
            public_key: point,
            authority: subject == AUTHORITY,
            purposes: &[],
        };
        let mut room = [0; CERTIFICATE];
        let issued = (self.suite == TransportSuite::DtlsX509)
            .then(|| template.issue(&mut Soft, self.keys.secret, &mut room))??;
        Some(issued.to_vec().leak())
    }

    /// What a member has, that knows these others and takes their certificates in this role.
    fn ring(
        &self,
        (name, number): (&str, u32),
        own: &KeyPair,
        others: Vec<[u8; P_256_POINT]>,
        (role, expected): (Role, Option<&[u8]>),
    ) -> &'static KeyRing {
        let certificate = self.certify(name, number, &own.point);
        let authority = self.certify(AUTHORITY, AUTHORITY_NUMBER, &self.keys.point);
        let today = Time::new(DAYS.0, 0);
        let trust = |authority| Trust {
            authorities: vec![authority].leak(),
            clock: if role == Role::Server { Clock::Since(today) } else { Clock::At(today) },
            purpose: role,
            name: expected.map(|name| &*name.to_vec().leak()),
        };
        let trusted = Trusted { raw_public_keys: others.leak(), certificates: authority.map(trust) };
        Box::leak(Box::new(KeyRing::new(own.secret, own.point, Vec::from_iter(certificate).leak(), trusted)))
    }
}

impl KeyRings {
    /// The keys of nodes 1 to `last` and of their cloud, each of which knows those that it talks to; none in a network without
    /// public keys.
    pub fn new(scenario: &Scenario, last: u32) -> Option<Self> {
        let seed = scenario.seed;
        let suite = scenario.security.transport.filter(|suite| suite.has_public_keys())?;
        let authority = Authority { keys: KeyPair::new(seed, AUTHORITY_NUMBER), suite };
        let cloud = KeyPair::new(seed, CLOUD_NUMBER);
        let pairs: Vec<_> = (1..=last).map(|id| (id, KeyPair::new(seed, id))).collect();
        let server = match scenario.traffic.to {
            Destination::Node(server) => pairs.iter().find(|(id, _)| *id == server),
            Destination::Cloud => None,
        };
        let nodes = pairs.iter().map(|(id, own)| {
            let (others, role, name) = match (scenario.traffic.kind, server) {
                (TrafficKind::Echo { .. }, _) => (vec![cloud.point], Role::Client, Some(CLOUD.into())),
                (_, None) => (vec![cloud.point], Role::Server, Some(CLOUD.into())),
                (_, Some((server, _))) if server == id => {
                    let posts = |other: &u32| scenario.traffic.from.is_none_or(|from| from == *other);
                    let others = pairs.iter().filter(|(other, _)| other != id && posts(other));
                    let others: Vec<_> = others.collect();
                    let name = if let [(other, _)] = others[..] { Some(name_of(*other)) } else { None };
                    (others.into_iter().map(|(_, other)| other.point).collect(), Role::Client, name)
                }
                (_, Some((server, keys))) => (vec![keys.point], Role::Server, Some(name_of(*server))),
            };
            let expected = name.as_ref().map(String::as_bytes);
            authority.ring((&name_of(*id), *id), own, others, (role, expected))
        });
        let nodes = nodes.collect();
        let points = pairs.iter().map(|(_, own)| own.point).collect();
        let role = match scenario.traffic.kind {
            TrafficKind::Echo { .. } => Role::Server,
            TrafficKind::Report => Role::Client,
        };
        Some(Self { nodes, cloud: authority.ring((CLOUD, CLOUD_NUMBER), &cloud, points, (role, None)) })
    }
}

/// The name in a node's certificate ([RFC 7925 section 4.4.2](https://www.rfc-editor.org/rfc/rfc7925#section-4.4.2)).
fn name_of(id: u32) -> String {
    Eui64::of_node(id).0.map(|byte| format!("{byte:02x}")).join("-")
}

#[cfg(test)]
mod tests {
    use sixlock_base::Security;

    use super::*;
    use crate::scenario::ScenarioBuilder;

    #[test]
    fn keys_are_those_of_their_seed_and_everybody_trusts_whom_it_talks_to() {
        let scenario = |seed, transport, traffic| {
            let security = Security { transport, ..Security::default() };
            let builder = ScenarioBuilder::parse("keys", traffic).unwrap();
            builder.seed(seed).security(security).build().unwrap()
        };
        let rings = |seed, suite| KeyRings::new(&scenario(seed, Some(suite), ""), 3).unwrap();
        assert!(KeyRings::new(&scenario(1, Some(TransportSuite::DtlsPsk), ""), 3).is_none());
        assert!(KeyRings::new(&scenario(1, None, ""), 3).is_none());
        let raw = rings(1, TransportSuite::DtlsRpk);
        let point = |ring: &KeyRing| ring.credentials.raw_public_key.unwrap();
        assert_eq!(raw.nodes[2].trusted.raw_public_keys, [point(raw.cloud)]);
        assert_eq!(raw.cloud.trusted.raw_public_keys, [0, 1, 2].map(|node| point(raw.nodes[node])));
        assert_eq!(point(rings(1, TransportSuite::DtlsRpk).nodes[1]), point(raw.nodes[1]));
        assert_ne!(point(rings(2, TransportSuite::DtlsRpk).nodes[1]), point(raw.nodes[1]));
        let certified = rings(1, TransportSuite::DtlsX509);
        for (node, of) in [(certified.nodes[0], certified.cloud), (certified.cloud, certified.nodes[2])] {
            let trust = node.trusted.certificates.unwrap();
            let chain = of.credentials.certificates.iter().copied();
            let key = *sixlock_x509::verify(&mut Soft, &trust, chain).unwrap().public_key();
            assert_eq!(Soft.p256_public_key(of.secret), Some(key));
        }
    }
}

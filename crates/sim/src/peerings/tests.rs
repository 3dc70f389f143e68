use sixlock_crypto::Soft;
use sixlock_gateway::{Internet, Tunnels};
use sixlock_ipv6::{Header, next_header};
use sixlock_node::ipsec::{AnyTransform, Automated};
use sixlock_testing::packets::packet;
use sixlock_testing::{Rig, ipsec::Host};

use super::*;
use crate::protection::Prefix;
use crate::security_gateway::{InternetHost, InternetSide};

const GATEWAY: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 2);
const NODE: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 7);

/// A host outside with keys that follow from a number.
fn host(id: u16, spi: u32, key: u8) -> InternetHost {
    let suite = "esp:ctr-xcbc".parse::<sixlock_base::Security>().unwrap().network.unwrap();
    let address = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 0x100 + id);
    let key = |direction: u8| vec![key ^ direction; suite.key_len()];
    let [from_gateway, from_host] = [key(0), key(0x80)];
    InternetHost { address, network: Prefix::one(address), suite, spi, from_gateway, from_host }
}

fn transform(suite: NetworkSuite, key: &[u8]) -> Option<AnyTransform<Soft>> {
    AnyTransform::new(&mut Soft, suite, key).ok()
}

/// A gateway with room for two hosts.
struct Gateway {
    tunnels: Tunnels<Soft, AnyTransform<Soft>, 2, Automated<2>>,
    peerings: Peerings,
    rig: Rig,
}

impl Gateway {
    fn new(hosts: &[&InternetHost]) -> Self {
        let mut gateway =
            Self { tunnels: Internet::<Soft>::NEW, peerings: Peerings::default(), rig: Rig::seeded(1) };
        gateway.apply(hosts).unwrap();
        gateway
    }

    fn apply(&mut self, hosts: &[&InternetHost]) -> Result<[u32; 4], String> {
        let hosts = hosts.iter().map(|&host| host.clone()).collect();
        let side = InternetSide { address: GATEWAY, hosts };
        let now = self.rig.now;
        let changed = side.apply(&mut self.tunnels, &mut self.peerings, now, transform);
        let changed = changed.map_err(|error| error.to_string())?;
        Ok([changed.added, changed.removed, changed.replaced, changed.unchanged])
    }

    /// What it sends to a host, protected.
    fn send(&mut self, to: &InternetHost) -> Option<Vec<u8>> {
        let packet = packet(NODE, to.address, 64, next_header::UDP, &[7; 16]);
        self.tunnels.outbound(&mut self.rig.cx(), &packet).map(<[u8]>::to_vec)
    }

    fn takes(&mut self, packet: &[u8]) -> bool {
        self.peerings.handle_timeout(self.tunnels.ipsec(), self.rig.now);
        let mut buffer = packet.to_vec();
        self.tunnels.inbound(&mut self.rig.cx(), &mut buffer, packet.len()).is_some()
    }
}

/// The other end of a tunnel.
struct Remote {
    host: InternetHost,
    ipsec: Host,
}

impl Remote {
    fn new(host: &InternetHost) -> Self {
        let mut ipsec = Host::new();
        let side = InternetSide { address: GATEWAY, hosts: vec![host.clone()] };
        for peering in side.peerings() {
            peering.share(&mut ipsec.ipsec, 1, false, transform).unwrap();
        }
        Self { host: host.clone(), ipsec }
    }

    fn send(&mut self) -> Vec<u8> {
        self.ipsec.send(&packet(self.host.address, NODE, 64, next_header::UDP, &[9; 16])).unwrap()
    }
}

/// The number that a packet of ESP carries.
fn number(packet: &[u8]) -> u32 {
    u32::from_be_bytes(packet[Header::LEN + 4..][..4].try_into().unwrap())
}

#[test]
fn a_new_key_is_used_at_once_and_packets_under_the_old_one_are_taken_for_a_minute() {
    let (old, new) = (host(1, 1000, 1), host(1, 1001, 2));
    let mut gateway = Gateway::new(&[&old]);
    let [mut before, mut after] = [&old, &new].map(Remote::new);
    let first = gateway.send(&old).unwrap();
    assert!(before.ipsec.receive(&first).is_ok() && gateway.takes(&before.send()));
    assert_eq!(gateway.apply(&[&new]), Ok([0, 0, 1, 0]));
    let second = gateway.send(&old).unwrap();
    assert!(before.ipsec.receive(&second).is_err() && after.ipsec.receive(&second).is_ok());
    assert!(number(&second) > number(&first), "no number is used again");
    let under_old_key = before.send();
    assert!(gateway.takes(&under_old_key) && gateway.takes(&after.send()));
    assert!(!gateway.takes(&under_old_key), "each key has a window of its own");
    gateway.rig.now = gateway.rig.now + OVERLAP;
    assert!(!gateway.takes(&before.send()));
    assert!(gateway.takes(&after.send()));
    // And back again: nothing that was sent under that key before is sent under it with the same number.
    assert_eq!(gateway.apply(&[&old]), Ok([0, 0, 1, 0]));
    assert!(number(&gateway.send(&old).unwrap()) > number(&second));
}

#[test]
fn tunnels_come_and_go_while_the_others_go_on_with_their_numbers_and_windows() {
    let [first, second, third] = [1, 2, 3].map(|id| host(id, 1000, id as u8));
    let mut gateway = Gateway::new(&[&first, &second]);
    let mut remote = Remote::new(&first);
    let (sent, heard) = (gateway.send(&first).unwrap(), remote.send());
    assert!(gateway.takes(&heard));
    // There is room for two, so that one has to go before the other comes.
    assert_eq!(gateway.apply(&[&third, &first]), Ok([1, 1, 0, 1]));
    let next = gateway.send(&first).unwrap();
    assert_eq!(number(&next), number(&sent) + 1);
    assert!(remote.ipsec.receive(&next).is_ok());
    assert!(!gateway.takes(&heard), "it was heard before");
    assert!(gateway.takes(&remote.send()));
    assert!(gateway.send(&second).is_none() && !gateway.takes(&Remote::new(&second).send()));
    let to_third = gateway.send(&third).unwrap();
    assert!(Remote::new(&third).ipsec.receive(&to_third).is_ok());
    assert_eq!(gateway.apply(&[&third, &first]), Ok([0, 0, 0, 2]));
}

#[test]
fn what_cannot_be_changes_nothing() {
    let [first, second, third] = [1, 2, 3].map(|id| host(id, 1000, id as u8));
    let mut gateway = Gateway::new(&[&first, &second]);
    let mut remote = Remote::new(&first);
    let short = InternetHost { from_host: vec![1; 3], ..host(1, 1001, 9) };
    for (wanted, why) in [
        (vec![&host(1, 1000, 9)], "index 1000 belongs to the keys that it has now"),
        (vec![&second, &third, &first], "more tunnels than there is room for"),
        (vec![&first, &host(1, 1000, 1)], "index 1000 belongs to the keys that it has now"),
        (vec![&third, &host(3, 1000, 4)], "two tunnels with one host have the same index"),
        (vec![&short, &second], "IPsec: NoAssociation"),
    ] {
        let error = gateway.apply(&wanted).unwrap_err();
        assert!(error.contains(why), "{error}");
        let packet = gateway.send(&first).unwrap();
        assert!(remote.ipsec.receive(&packet).is_ok(), "{why}");
        assert!(gateway.takes(&remote.send()) && gateway.send(&second).is_some(), "{why}");
    }
}

#[test]
fn keys_are_replaced_again_and_again_within_a_minute() {
    let mut gateway = Gateway::new(&[&host(1, 1000, 1)]);
    let mut last = 0;
    for (spi, key) in [(1001, 2), (1000, 3), (1001, 4), (1002, 5)] {
        let wanted = host(1, spi, key);
        assert_eq!(gateway.apply(&[&wanted]), Ok([0, 0, 1, 0]), "{spi}");
        let packet = gateway.send(&wanted).unwrap();
        assert!(number(&packet) > last);
        last = number(&packet);
        let mut remote = Remote::new(&wanted);
        assert!(remote.ipsec.receive(&packet).is_ok() && gateway.takes(&remote.send()));
    }
}

//! A receiver that was restarted finds its way back into extended sequence numbers.

use sixlock_crypto::{Metered, Operation, Soft};
use sixlock_ipsec::*;
use sixlock_testing::Rig;
use sixlock_testing::ipsec::*;

const AHEAD: u32 = 16;

/// A host that only receives what Alice sends in [`pair`], and counts what it computes.
struct Bob {
    ipsec: Ipsec<Metered<Soft>, Resynchronised<AnyTransform<Metered<Soft>>, 1280, AHEAD>, 1, 1, 8>,
    rig: Rig<Metered<Soft>, ()>,
}

impl Bob {
    fn new(suite: &str) -> Self {
        let mut rig = Rig::new(Metered::new(Soft), ());
        let mut ipsec = Ipsec::new();
        let suite = suite.parse::<sixlock_base::Security>().unwrap().network.unwrap();
        let name = suite.to_string();
        let mut association = |spi, seed| {
            let transform = AnyTransform::new(&mut rig.crypto, suite, &keys(&name, seed)).unwrap();
            let (lifetime, address) = ((), None);
            let transform = Resynchronised::new(transform);
            Association { spi, mode: Mode::Transport, extended: true, lifetime, address, transform }
        };
        let inbound = ipsec.add_inbound(association(0x2002, 2)).unwrap();
        let outbound = ipsec.add_outbound(association(0x1001, 1)).unwrap();
        let action = Action::Protect(Protection::by(outbound, inbound));
        ipsec.add_policy(Policy { selector: Selector::ANY, action }).unwrap();
        rig.crypto.take();
        Self { ipsec, rig }
    }

    fn receive(&mut self, packet: &[u8]) -> Result<(), InboundError> {
        self.ipsec.inbound(&mut self.rig.cx(), &mut packet.to_vec(), packet.len()).map(|_| ())
    }
}

/// Alice, whose next packet has the first number with this high half and a low one that is not zero.
fn alice_at(suite: &str, high: u32) -> Host {
    let (mut alice, _): (Host, Host) = pair(suite, ModeKind::Transport, true);
    alice.skip_to((high << 22) + 1);
    alice
}

fn send(alice: &mut Host) -> Vec<u8> {
    alice.send(&udp_packet(b"reading")).unwrap()
}

/// How many packets are refused before one is taken in; none after 100.
fn refused(bob: &mut Bob, alice: &mut Host) -> Option<usize> {
    (0..100).find(|_| bob.receive(&send(alice)).is_ok())
}

#[test]
fn a_restarted_receiver_joins_after_a_few_packets_with_every_suite() {
    for suite in suites() {
        for high in [1, 2, AHEAD] {
            let (mut alice, mut bob) = (alice_at(&suite, high), Bob::new(&suite));
            assert_eq!(refused(&mut bob, &mut alice), Some(usize::from(FAILURES) - 1), "{suite} {high}");
            for _ in 0..100 {
                assert_eq!(bob.receive(&send(&mut alice)), Ok(()), "{suite} {high}");
            }
        }
        let (mut alice, mut bob) = (alice_at(&suite, AHEAD + 1), Bob::new(&suite));
        assert_eq!(refused(&mut bob, &mut alice), None, "{suite}: only so far");
    }
}

#[test]
fn nothing_that_was_sent_before_is_taken_in_afterwards() {
    let (mut alice, mut bob) = (alice_at("esp:ctr-xcbc", 0), Bob::new("esp:ctr-xcbc"));
    let mut old: Vec<_> = (0..3).map(|_| send(&mut alice)).collect();
    assert!(old.iter().all(|packet| bob.receive(packet).is_ok()));
    alice = alice_at("esp:ctr-xcbc", 3);
    let missed: Vec<_> = (0..5).map(|_| send(&mut alice)).collect();
    alice = alice_at("esp:ctr-xcbc", 7);
    // The low halves of three have been seen.
    assert_eq!(refused(&mut bob, &mut alice), Some(3 + usize::from(FAILURES) - 1));
    old.extend(missed);
    for packet in old.iter().cycle().take(20 * usize::from(FAILURES)) {
        assert!(bob.receive(packet).is_err());
    }
    assert_eq!(bob.receive(&send(&mut alice)), Ok(()));
}

#[test]
fn forged_packets_keep_none_out_and_cost_a_bounded_effort() {
    let (mut alice, mut bob) = (alice_at("ah:xcbc", 0), Bob::new("ah:xcbc"));
    assert_eq!(bob.receive(&send(&mut alice)), Ok(()));
    let mut forged = send(&mut alice);
    *forged.last_mut().unwrap() ^= 1;
    bob.rig.crypto.take();
    for _ in 0..3 * FAILURES {
        assert_eq!(bob.receive(&forged), Err(InboundError::BadIcv));
    }
    let codes = bob.rig.crypto.take().get(Operation::AesMac);
    assert_eq!(codes, 3 * (u32::from(FAILURES) + AHEAD));
    for count in 0..40 {
        for _ in 0..count % 20 {
            assert_eq!(bob.receive(&forged), Err(InboundError::BadIcv));
        }
        assert_eq!(bob.receive(&send(&mut alice)), Ok(()));
    }
}

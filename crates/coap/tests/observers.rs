//! Who observes a device's resource: notifications message by message, and over a network that loses them.

use sixlock_base::{Counter, Entropy};
use sixlock_coap::{Observers, Responder};
use sixlock_coap_msg::{Builder, Code, Message, OptionNumber, Type, empty};
use sixlock_testing::{Random, Rig};

/// A device with a resource that is observed by at most two.
struct Device {
    observers: Observers<u8, 2>,
    responder: Responder,
    state: u8,
}

/// What a notification says.
#[derive(Debug, PartialEq)]
struct Said {
    to: u8,
    kind: Type,
    id: u16,
    token: Vec<u8>,
    number: u32,
    state: u8,
}

impl Device {
    fn new() -> Self {
        Self { observers: Observers::new(), responder: Responder::new(), state: 0 }
    }

    /// What a GET with this Observe option is answered with: the number in its own, if there is one.
    fn get(&mut self, rig: &mut Rig, peer: u8, token: &[u8], observe: Option<u32>) -> Option<u32> {
        let mut bytes = [0; 64];
        let mut builder = Builder::new(&mut bytes, Type::Confirmable, Code::GET, 7, token).unwrap();
        if let Some(observe) = observe {
            builder.option_uint(OptionNumber::OBSERVE, observe).unwrap();
        }
        let length = builder.finish();
        let request = Message::parse(&bytes[..length]).unwrap();
        self.observers.request(rig.now, peer, &request)
    }

    fn change(&mut self) {
        self.state += 1;
        self.observers.changed();
    }

    fn said(&mut self, rig: &mut Rig) -> Option<Said> {
        let Self { observers, responder, state } = self;
        let mut out = [0; 64];
        let (to, length) =
            observers.poll_transmit(&mut rig.cx(), responder, &mut out, |response, number| {
                let mut content = response.with_code(Code::CONTENT)?;
                content.option_uint(OptionNumber::OBSERVE, number)?;
                content.finish_with(&[*state])
            })?;
        let message = Message::parse(&out[..length]).unwrap();
        assert_eq!(message.code(), Code::CONTENT);
        Some(Said {
            to,
            kind: message.message_type(),
            id: message.id(),
            token: message.token().to_vec(),
            number: message.value(OptionNumber::OBSERVE).unwrap().uint().unwrap(),
            state: message.payload()[0],
        })
    }

    fn reply(&mut self, peer: u8, kind: Type, id: u16) -> bool {
        self.observers.handle(peer, &empty(kind, id))
    }

    /// Lets time pass until something is due, and does that; false if nothing will be.
    fn wait(&mut self, rig: &mut Rig) -> bool {
        let Some(due) = self.observers.poll_timeout() else { return false };
        rig.now = due;
        self.observers.handle_timeout(&mut rig.cx());
        true
    }
}

#[test]
fn every_eighth_notification_is_confirmable_and_their_numbers_rise() {
    let (mut rig, mut device) = (Rig::near_wrap(1), Device::new());
    assert_eq!(device.get(&mut rig, 1, b"t", Some(0)), Some(0));
    assert_eq!(device.said(&mut rig), None);
    for number in 1..=17 {
        device.change();
        let said = device.said(&mut rig).unwrap();
        assert_eq!((said.to, &said.token[..], said.number), (1, &b"t"[..], number));
        assert_eq!(u32::from(said.state), number);
        assert_eq!(said.kind == Type::Confirmable, number % 8 == 1, "{number}");
        if said.kind == Type::Confirmable {
            assert!(device.reply(1, Type::Acknowledgement, said.id));
        }
        assert_eq!(device.said(&mut rig), None);
        rig.pass(60_000);
    }
}

#[test]
fn no_two_come_within_three_seconds_and_the_last_state_is_told() {
    let (mut rig, mut device) = (Rig::near_wrap(2), Device::new());
    device.get(&mut rig, 1, b"t", Some(0));
    device.change();
    let first = device.said(&mut rig).unwrap();
    device.reply(1, Type::Acknowledgement, first.id);
    for _ in 0..5 {
        device.change();
        assert_eq!(device.said(&mut rig), None);
    }
    let before = rig.now;
    assert!(device.wait(&mut rig));
    assert_eq!(rig.now.since(before).millis(), 3000);
    assert_eq!(device.said(&mut rig).unwrap().state, 6);
    assert_eq!(device.observers.poll_timeout(), None);
}

#[test]
fn what_is_not_acknowledged_is_sent_again_the_same_and_then_its_observer_is_none() {
    let (mut rig, mut device) = (Rig::near_wrap(3), Device::new());
    device.get(&mut rig, 1, b"t", Some(0));
    device.change();
    let first = device.said(&mut rig).unwrap();
    for _ in 0..4 {
        assert_eq!(device.said(&mut rig), None);
        assert!(device.wait(&mut rig));
        assert_eq!(device.said(&mut rig).as_ref(), Some(&first));
    }
    assert!(device.wait(&mut rig));
    assert!(device.observers.is_empty() && !device.wait(&mut rig));
    assert_eq!((rig.count(Counter::CoapRetransmissions), rig.count(Counter::CoapTimeouts)), (4, 1));
}

#[test]
fn what_is_sent_again_tells_the_new_state_and_has_the_attempts_that_were_left() {
    let (mut rig, mut device) = (Rig::near_wrap(4), Device::new());
    device.get(&mut rig, 1, b"t", Some(0));
    device.change();
    let first = device.said(&mut rig).unwrap();
    let mut last = first.id;
    for number in 2..6 {
        device.change();
        assert_eq!(device.said(&mut rig), None, "one is under way");
        assert!(device.wait(&mut rig));
        let next = device.said(&mut rig).unwrap();
        assert_eq!((next.kind, next.number, next.state), (Type::Confirmable, number, number as u8));
        assert_ne!(next.id, last);
        last = next.id;
    }
    assert!(device.wait(&mut rig));
    assert!(device.observers.is_empty());
}

#[test]
fn a_reset_ends_an_observation_of_its_peer_and_no_other() {
    for kind in [Type::Confirmable, Type::NonConfirmable] {
        let (mut rig, mut device) = (Rig::near_wrap(5), Device::new());
        device.get(&mut rig, 1, b"t", Some(0));
        device.change();
        let mut said = device.said(&mut rig).unwrap();
        if kind == Type::NonConfirmable {
            assert!(device.reply(1, Type::Acknowledgement, said.id));
            rig.pass(60_000);
            device.change();
            said = device.said(&mut rig).unwrap();
        }
        assert_eq!(said.kind, kind);
        assert!(!device.reply(2, Type::Reset, said.id));
        assert!(!device.reply(1, Type::Reset, said.id.wrapping_add(1)));
        assert!(!device.observers.is_empty());
        assert!(device.reply(1, Type::Reset, said.id));
        assert!(device.observers.is_empty());
    }
}

#[test]
fn who_says_so_observes_no_more() {
    let (mut rig, mut device) = (Rig::near_wrap(6), Device::new());
    device.get(&mut rig, 1, b"t", Some(0));
    device.get(&mut rig, 1, b"u", Some(0));
    // Another's, another token, and a GET that says nothing of it change nothing.
    assert_eq!(device.get(&mut rig, 2, b"t", Some(1)), None);
    assert_eq!(device.get(&mut rig, 1, b"v", Some(1)), None);
    assert_eq!(device.get(&mut rig, 1, b"t", None), None);
    assert_eq!(device.get(&mut rig, 1, b"t", Some(1)), None);
    device.change();
    assert_eq!(device.said(&mut rig).unwrap().token, b"u");
    assert_eq!(device.said(&mut rig), None);
}

#[test]
fn when_there_are_as_many_as_there_may_be_another_is_answered_without_observing() {
    let (mut rig, mut device) = (Rig::near_wrap(7), Device::new());
    for (peer, number) in [(1, Some(0)), (2, Some(0)), (3, None)] {
        assert_eq!(device.get(&mut rig, peer, b"t", Some(0)), number);
    }
    device.change();
    assert_eq!([(); 3].map(|()| device.said(&mut rig).map(|said| said.to)), [Some(1), Some(2), None]);
    // There is room when one has gone.
    device.get(&mut rig, 1, b"t", Some(1));
    assert_eq!(device.get(&mut rig, 3, b"t", Some(0)), Some(0));
}

#[test]
fn who_asks_again_by_the_same_token_takes_no_second_place_and_the_order_goes_on() {
    let (mut rig, mut device) = (Rig::near_wrap(8), Device::new());
    device.get(&mut rig, 1, b"t", Some(0));
    device.change();
    let said = device.said(&mut rig).unwrap();
    assert_eq!(said.number, 1);
    // Its acknowledgement was lost, and so was the answer to this the first time.
    assert_eq!(device.get(&mut rig, 1, b"t", Some(0)), Some(2));
    assert_eq!(device.get(&mut rig, 1, b"t", Some(0)), Some(3));
    assert_eq!(device.get(&mut rig, 2, b"t", Some(0)), Some(0), "there is a place");
    assert!(device.reply(1, Type::Acknowledgement, said.id));
    device.change();
    assert_eq!(device.said(&mut rig).map(|said| (said.to, said.number)), Some((1, 4)));
}

#[test]
fn a_notification_that_does_not_fit_ends_its_observation() {
    let (mut rig, mut device) = (Rig::near_wrap(9), Device::new());
    device.get(&mut rig, 1, b"t", Some(0));
    device.change();
    let told =
        device.observers.poll_transmit(&mut rig.cx(), &mut device.responder, &mut [], |response, _| {
            response.with_code(Code::CONTENT).map(Builder::finish)
        });
    assert!(told.is_none() && device.observers.is_empty());
}

/// A network that loses a fifth of what goes either way, for a hundred changes: who observes all along knows the last state in
/// the end, never takes an old one for new, and is dropped only if five in a row were lost.
#[test]
fn an_observer_knows_the_last_state_over_a_network_that_loses_a_fifth() {
    let mut dropped = 0;
    for seed in 1..200 {
        let (mut rig, mut device) = (Rig::near_wrap(seed), Device::new());
        let mut network = Random::new(seed * 7919);
        let mut arrives = || !network.next_u32().is_multiple_of(5);
        let (mut known, mut newest) = (0, 0);
        device.get(&mut rig, 1, b"t", Some(0));
        for change in 0..100 {
            device.change();
            let until = change < 99;
            loop {
                while let Some(said) = device.said(&mut rig) {
                    if !arrives() {
                        continue;
                    }
                    assert!(said.number >= newest && said.state >= known, "seed {seed}");
                    (known, newest) = (said.state, said.number);
                    if said.kind == Type::Confirmable && arrives() {
                        device.reply(1, Type::Acknowledgement, said.id);
                    }
                }
                let next = rig.now + sixlock_base::Duration::from_millis(10_000);
                if device.observers.poll_timeout().is_none_or(|due| until && due.has_reached(next)) {
                    break;
                }
                device.wait(&mut rig);
            }
            rig.pass(10_000);
        }
        if device.observers.is_empty() {
            dropped += 1;
        } else {
            // What was lost of those that nobody acknowledges is made good by the next.
            assert!(known >= 92, "seed {seed}: {known}");
        }
    }
    assert!(dropped < 40, "{dropped}");
}

//! Which messages notify a client of what it observes, and in which order.

use sixlock_base::{Duration, Instant};
use sixlock_coap::{Client, Notifications, TOKEN};
use sixlock_coap_msg::{Builder, Code, Message, OptionNumber, Type, empty};
use sixlock_testing::Rig;

const OWN: [u8; TOKEN] = *b"mine";

/// A message of this type, code and token, with this Observe option.
fn message(kind: Type, code: Code, token: &[u8], observe: Option<u32>) -> Vec<u8> {
    let mut bytes = [0; 64];
    let mut builder = Builder::new(&mut bytes, kind, code, 7, token).unwrap();
    if let Some(observe) = observe {
        builder.option_uint(OptionNumber::OBSERVE, observe).unwrap();
    }
    let length = builder.finish();
    bytes[..length].to_vec()
}

/// Notifications that begin with this number.
fn observed(number: u32) -> Notifications {
    let response = message(Type::Acknowledgement, Code::CONTENT, &OWN, Some(number));
    Notifications::after(&Message::parse(&response).unwrap(), OWN, Instant::from_millis(0)).unwrap()
}

#[test]
fn a_response_without_a_number_is_followed_by_none() {
    let response = message(Type::Acknowledgement, Code::CONTENT, &OWN, None);
    let response = Message::parse(&response).unwrap();
    assert!(Notifications::after(&response, OWN, Instant::from_millis(0)).is_none());
}

#[test]
fn responses_with_its_token_are_notifications_and_confirmable_ones_are_acknowledged() {
    let notifications = observed(1);
    for (kind, code, token, is_one) in [
        (Type::Confirmable, Code::CONTENT, &OWN[..], true),
        (Type::NonConfirmable, Code::NOT_FOUND, &OWN, true),
        (Type::Confirmable, Code::CONTENT, b"else", false),
        (Type::Confirmable, Code::CONTENT, b"min", false),
        (Type::Acknowledgement, Code::CONTENT, &OWN, false),
        (Type::Confirmable, Code::GET, &OWN, false),
    ] {
        let bytes = message(kind, code, token, Some(2));
        let message = Message::parse(&bytes).unwrap();
        assert_eq!(notifications.include(&message), is_one, "{message:?}");
        let acknowledgement = (kind == Type::Confirmable).then(|| empty(Type::Acknowledgement, 7));
        assert_eq!(Notifications::acknowledgement(&message), acknowledgement);
    }
}

/// RFC 7641 section 3.4, with what wraps around, and what comes so late that numbers say nothing.
#[test]
fn later_ones_are_newer_by_their_numbers_or_after_128_seconds() {
    let half = 1 << 23;
    for (before, after, seconds, is_newer) in [
        (5, 6, 0, true),
        (5, 5, 0, false),
        (5, 4, 0, false),
        (5, 4, 128, false),
        (5, 4, 129, true),
        (5, 5 + half - 1, 0, true),
        (5, 5 + half, 0, false),
        ((1 << 24) - 1, 0, 0, true),
        (0, (1 << 24) - 1, 0, false),
    ] {
        let mut notifications = observed(before);
        let bytes = message(Type::NonConfirmable, Code::CONTENT, &OWN, Some(after));
        let now = Instant::from_millis(0) + Duration::from_secs(seconds);
        let said = notifications.is_newer(&Message::parse(&bytes).unwrap(), now);
        assert_eq!(said, is_newer, "{before} {after} {seconds}");
    }
    // What is older moves nothing.
    let mut notifications = observed(5);
    for (number, is_newer) in [(3, false), (4, false), (7, true), (6, false), (8, true)] {
        let bytes = message(Type::NonConfirmable, Code::CONTENT, &OWN, Some(number));
        let said = notifications.is_newer(&Message::parse(&bytes).unwrap(), Instant::from_millis(0));
        assert_eq!(said, is_newer, "{number}");
    }
}

#[test]
fn an_observation_is_asked_for_again_under_its_token() {
    let (mut client, mut rig) = (Client::<64>::new(), Rig::seeded(1));
    let mut cx = rig.cx();
    client.request(&mut cx, true, Code::GET, |builder| Ok(builder.finish())).unwrap();
    let first = client.token();
    client.cancel();
    client.request(&mut cx, true, Code::GET, |builder| Ok(builder.finish())).unwrap();
    assert_ne!(client.token(), first);
    client.cancel();
    client.request_again(&mut cx, first, Code::GET, |builder| Ok(builder.finish())).unwrap();
    assert_eq!(client.token(), first);
    let mut out = [0; 64];
    let length = client.poll_transmit(&mut cx, &mut out).unwrap();
    let asked = Message::parse(&out[..length]).unwrap();
    assert_eq!((asked.message_type(), asked.token()), (Type::Confirmable, &first[..]));
}

//! The server without a memory, message by message.

use proptest::collection::vec;
use proptest::prelude::*;
use sixlock_base::Counter;
use sixlock_coap::{Responder, Response};
use sixlock_coap_msg::{BuildError, Builder, Code, Message, OptionNumber, Type, empty};
use sixlock_testing::Rig;

const KNOWN: &[OptionNumber] = &[OptionNumber::URI_PATH];

fn answer(message: &Message<'_>, response: Response<'_>) -> Result<usize, BuildError> {
    match message.path_is(&["here"]) {
        true => response.with_code(Code::CONTENT)?.finish_with(b"it"),
        false => response.with_code(Code::NOT_FOUND).map(Builder::finish),
    }
}

/// What goes back for a datagram.
fn sent(rig: &mut Rig, responder: &mut Responder, datagram: &[u8]) -> Option<Vec<u8>> {
    let mut out = [0; 64];
    let length = responder.handle(&mut rig.cx(), KNOWN, datagram, &mut out, answer)?;
    Some(out[..length].to_vec())
}

fn request(kind: Type, id: u16, options: &[(OptionNumber, &[u8])]) -> Vec<u8> {
    let mut bytes = [0; 64];
    let mut builder = Builder::new(&mut bytes, kind, Code::GET, id, &[7, 8, 9]).unwrap();
    for (number, value) in options {
        builder.option(*number, value).unwrap();
    }
    let length = builder.finish();
    bytes[..length].to_vec()
}

#[test]
fn the_response_travels_with_the_acknowledgement_as_often_as_it_is_asked_for() {
    let (mut rig, mut responder) = (Rig::near_wrap(1), Responder::new());
    for (path, code, payload) in [("here", Code::CONTENT, &b"it"[..]), ("there", Code::NOT_FOUND, b"")] {
        let asked = request(Type::Confirmable, 0x1234, &[(OptionNumber::URI_PATH, path.as_bytes())]);
        let first = sent(&mut rig, &mut responder, &asked).unwrap();
        rig.pass(2_000);
        assert_eq!(sent(&mut rig, &mut responder, &asked).as_ref(), Some(&first));
        let response = Message::parse(&first).unwrap();
        assert_eq!((response.message_type(), response.id()), (Type::Acknowledgement, 0x1234));
        assert_eq!((response.code(), response.token(), response.payload()), (code, &[7, 8, 9][..], payload));
    }
}

#[test]
fn what_is_asked_non_confirmably_is_answered_so_under_an_id_of_its_own() {
    let (mut rig, mut responder) = (Rig::near_wrap(2), Responder::new());
    let asked = request(Type::NonConfirmable, 5, &[(OptionNumber::URI_PATH, b"here")]);
    let responses = [(); 2].map(|()| sent(&mut rig, &mut responder, &asked).unwrap());
    let [first, second] = responses.each_ref().map(|bytes| Message::parse(bytes).unwrap());
    assert_eq!((first.message_type(), first.payload()), (Type::NonConfirmable, &b"it"[..]));
    assert_ne!(first.id(), second.id());
}

#[test]
fn unknown_critical_options_are_refused_or_ignored() {
    let (mut rig, mut responder) = (Rig::near_wrap(3), Responder::new());
    for (option, code) in [
        (OptionNumber::IF_MATCH, Code::BAD_OPTION),
        (OptionNumber::PROXY_SCHEME, Code::PROXYING_NOT_SUPPORTED),
    ] {
        let refused = sent(&mut rig, &mut responder, &request(Type::Confirmable, 1, &[(option, b"x")]));
        assert_eq!(Message::parse(&refused.unwrap()).unwrap().code(), code);
        let ignored = request(Type::NonConfirmable, 1, &[(option, b"x")]);
        assert_eq!(sent(&mut rig, &mut responder, &ignored), None);
    }
    assert_eq!(rig.count(Counter::CoapMalformed), 2);
}

#[test]
fn pings_and_what_cannot_be_read_are_reset() {
    let (mut rig, mut responder) = (Rig::near_wrap(4), Responder::new());
    let reset = Some(empty(Type::Reset, 9).to_vec());
    assert_eq!(sent(&mut rig, &mut responder, &empty(Type::Confirmable, 9)), reset);
    let mut broken = request(Type::Confirmable, 9, &[]);
    broken.push(0xf0);
    assert_eq!(sent(&mut rig, &mut responder, &broken), reset);
    assert_eq!(rig.count(Counter::CoapMalformed), 1);
    for kind in [Type::Acknowledgement, Type::Reset] {
        assert_eq!(sent(&mut rig, &mut responder, &empty(kind, 9)), None);
    }
}

#[test]
fn a_response_without_room_is_not_sent() {
    let (mut rig, mut responder) = (Rig::near_wrap(5), Responder::new());
    let asked = request(Type::Confirmable, 1, &[(OptionNumber::URI_PATH, b"here")]);
    for room in 0..10 {
        let mut out = vec![0; room];
        assert_eq!(responder.handle(&mut rig.cx(), KNOWN, &asked, &mut out, answer), None);
    }
}

proptest! {
    #[test]
    fn any_datagram_is_answered_by_a_message_or_by_nothing(datagram in vec(any::<u8>(), 0..40)) {
        let (mut rig, mut responder) = (Rig::near_wrap(6), Responder::new());
        if let Some(response) = sent(&mut rig, &mut responder, &datagram) {
            prop_assert!(Message::parse(&response).is_ok());
        }
    }
}

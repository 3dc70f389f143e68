//! The client, message by message.

use sixlock_base::{Counter, Duration, Instant};
use sixlock_coap::{Client, Event, RequestError};
use sixlock_coap_msg::{Builder, Code, Message, OptionNumber, Type, empty};
use sixlock_testing::Rig;

type TestClient = Client<64>;

fn sent(client: &mut TestClient, rig: &mut Rig) -> Option<Vec<u8>> {
    let mut out = [0; 64];
    let len = client.poll_transmit(&mut rig.cx(), &mut out)?;
    Some(out[..len].to_vec())
}

/// A client that has sent a request, and the request.
fn asking(rig: &mut Rig, confirmable: bool) -> (TestClient, Vec<u8>) {
    let mut client = TestClient::new();
    let build = |mut request: Builder<'_>| {
        request.path(&["temperature"])?;
        Ok(request.finish())
    };
    client.request(&mut rig.cx(), confirmable, Code::GET, build).unwrap();
    assert!(client.is_busy());
    assert_eq!(client.request(&mut rig.cx(), true, Code::GET, build), Err(RequestError::Busy));
    let request = sent(&mut client, rig).unwrap();
    assert_eq!(sent(&mut client, rig), None);
    (client, request)
}

fn response(kind: Type, id: u16, token: &[u8]) -> Vec<u8> {
    let mut bytes = [0; 64];
    let len =
        Builder::new(&mut bytes, kind, Code::CONTENT, id, token).unwrap().finish_with(b"22.3 C").unwrap();
    bytes[..len].to_vec()
}

fn takes(client: &mut TestClient, rig: &mut Rig, datagram: &[u8]) -> bool {
    client.handle(&mut rig.cx(), datagram).is_some_and(|response| response.payload() == b"22.3 C")
}

#[test]
fn a_piggy_backed_response_ends_the_request() {
    let mut rig = Rig::near_wrap(1);
    let (mut client, request) = asking(&mut rig, true);
    let request = Message::parse(&request).unwrap();
    assert_eq!((request.message_type(), request.code()), (Type::Confirmable, Code::GET));
    assert!(request.path_is(&["temperature"]));

    // Neither another message id nor another token will do.
    let wrong_id = response(Type::Acknowledgement, request.id() ^ 1, request.token());
    let wrong_token = response(Type::Acknowledgement, request.id(), b"else");
    assert!(!takes(&mut client, &mut rig, &wrong_id));
    assert!(!takes(&mut client, &mut rig, &wrong_token));
    let right = response(Type::Acknowledgement, request.id(), request.token());
    assert!(takes(&mut client, &mut rig, &right));
    assert!(!client.is_busy());
    assert_eq!(client.poll_timeout(), None);
    assert!(!takes(&mut client, &mut rig, &right), "a response is taken once");
    assert_eq!((sent(&mut client, &mut rig), client.poll_event()), (None, None));
}

#[test]
fn requests_have_message_ids_in_sequence_and_tokens_of_their_own() {
    let mut rig = Rig::near_wrap(2);
    let mut client = TestClient::new();
    let mut previous: Option<(u16, Vec<u8>)> = None;
    for _ in 0..3 {
        client.request(&mut rig.cx(), true, Code::GET, |request| Ok(request.finish())).unwrap();
        let bytes = sent(&mut client, &mut rig).unwrap();
        let request = Message::parse(&bytes).unwrap();
        if let Some((id, token)) = previous.replace((request.id(), request.token().to_vec())) {
            assert_eq!(request.id(), id.wrapping_add(1));
            assert_ne!(request.token(), token);
        }
        client.cancel();
    }
}

/// [RFC 7252 section 4.2](https://www.rfc-editor.org/rfc/rfc7252#section-4.2): the time doubles with each of four
/// retransmissions, from two to three seconds on.
#[test]
fn an_unanswered_request_is_sent_five_times_and_given_up() {
    for seed in 1..50 {
        let mut rig = Rig::near_wrap(seed);
        let (mut client, request) = asking(&mut rig, true);
        let start = rig.now;
        let mut times = Vec::new();
        while let Some(deadline) = client.poll_timeout() {
            rig.now = Instant::from_millis(deadline.millis().wrapping_sub(1));
            client.handle_timeout(&mut rig.cx());
            assert_eq!(sent(&mut client, &mut rig), None, "not before the time");
            rig.now = deadline;
            client.handle_timeout(&mut rig.cx());
            times.push(deadline.since(start).millis());
            assert_eq!(sent(&mut client, &mut rig), client.is_busy().then(|| request.clone()));
        }
        let first = times[0];
        assert!((2_000..3_000).contains(&first), "{first}");
        assert_eq!(times, [first, 3 * first, 7 * first, 15 * first, 31 * first]);
        assert_eq!(client.poll_event(), Some(Event::TimedOut));
        assert_eq!((rig.count(Counter::CoapRetransmissions), rig.count(Counter::CoapTimeouts)), (4, 1));
    }
}

#[test]
fn an_acknowledgement_stops_retransmissions_and_a_separate_response_is_acknowledged() {
    let mut rig = Rig::near_wrap(3);
    let (mut client, request) = asking(&mut rig, true);
    let request = Message::parse(&request).unwrap();
    assert!(!takes(&mut client, &mut rig, &empty(Type::Acknowledgement, request.id())));
    rig.pass(30_000);
    client.handle_timeout(&mut rig.cx());
    assert_eq!(sent(&mut client, &mut rig), None);

    let separate = response(Type::Confirmable, 0xbeef, request.token());
    assert!(takes(&mut client, &mut rig, &separate));
    assert_eq!(sent(&mut client, &mut rig), Some(empty(Type::Acknowledgement, 0xbeef).to_vec()));
    // The acknowledgement was lost: the response comes again.
    assert!(!takes(&mut client, &mut rig, &separate));
    assert_eq!(sent(&mut client, &mut rig), Some(empty(Type::Acknowledgement, 0xbeef).to_vec()));
}

#[test]
fn a_separate_response_acknowledges_by_itself() {
    let mut rig = Rig::near_wrap(4);
    let (mut client, request) = asking(&mut rig, true);
    let token = Message::parse(&request).unwrap().token().to_vec();
    assert!(takes(&mut client, &mut rig, &response(Type::NonConfirmable, 7, &token)));
    assert!(!client.is_busy());
}

#[test]
fn the_response_to_an_acknowledged_request_is_not_awaited_forever() {
    let mut rig = Rig::near_wrap(5);
    let (mut client, request) = asking(&mut rig, true);
    let id = Message::parse(&request).unwrap().id();
    client.handle(&mut rig.cx(), &empty(Type::Acknowledgement, id));
    assert_eq!(client.poll_timeout(), Some(rig.now + Duration::from_secs(93)));
    rig.pass(93_000);
    client.handle_timeout(&mut rig.cx());
    assert_eq!(client.poll_event(), Some(Event::TimedOut));
}

#[test]
fn a_non_confirmable_request_is_sent_once() {
    let mut rig = Rig::near_wrap(6);
    let (mut client, request) = asking(&mut rig, false);
    let request = Message::parse(&request).unwrap();
    assert_eq!(request.message_type(), Type::NonConfirmable);
    rig.pass(50_000);
    client.handle_timeout(&mut rig.cx());
    assert_eq!(sent(&mut client, &mut rig), None);
    assert!(takes(&mut client, &mut rig, &response(Type::NonConfirmable, 9, request.token())));
}

#[test]
fn a_reset_or_an_unknown_critical_option_ends_the_request_without_a_response() {
    let mut rig = Rig::near_wrap(7);
    let (mut client, request) = asking(&mut rig, true);
    client.handle(&mut rig.cx(), &empty(Type::Reset, Message::parse(&request).unwrap().id()));
    assert_eq!((client.is_busy(), client.poll_event()), (false, Some(Event::Reset)));

    let (mut client, request) = asking(&mut rig, true);
    let mut bytes = [0; 64];
    let token = Message::parse(&request).unwrap().token();
    let mut builder = Builder::new(&mut bytes, Type::Confirmable, Code::CONTENT, 8, token).unwrap();
    builder.option(OptionNumber::BLOCK2, &[0x0e]).unwrap();
    let len = builder.finish();
    assert!(client.handle(&mut rig.cx(), &bytes[..len]).is_none());
    assert_eq!((client.is_busy(), client.poll_event()), (false, Some(Event::Unacceptable)));
    assert_eq!(sent(&mut client, &mut rig), Some(empty(Type::Reset, 8).to_vec()));
}

#[test]
fn pings_requests_and_unexpected_or_malformed_messages_are_reset_if_confirmable() {
    let mut rig = Rig::near_wrap(8);
    let (mut client, _) = asking(&mut rig, true);
    let reset = empty(Type::Reset, 0x1234).to_vec();
    for (first, code) in [(0x40, 0x00), (0x40, 0x01), (0x40, 0x45), (0x4f, 0x01)] {
        assert!(client.handle(&mut rig.cx(), &[first, code, 0x12, 0x34]).is_none());
        assert_eq!(sent(&mut client, &mut rig), Some(reset.clone()));
        // The same, non-confirmable.
        assert!(client.handle(&mut rig.cx(), &[first | 0x10, code, 0x12, 0x34]).is_none());
        assert_eq!(sent(&mut client, &mut rig), None);
    }
    assert_eq!(rig.count(Counter::CoapMalformed), 2, "the long token, confirmable and not");
    assert!(client.is_busy());
}

#[test]
fn a_request_restarts_as_another_message_of_the_same_token() {
    let mut rig = Rig::near_wrap(9);
    let (mut client, first) = asking(&mut rig, true);
    rig.pass(20_000);
    client.handle_timeout(&mut rig.cx());
    // What was to be said to the old association is not said to the new one.
    client.handle(&mut rig.cx(), &empty(Type::Confirmable, 0x1234));
    client.restart(&mut rig.cx());
    let second = sent(&mut client, &mut rig).unwrap();
    assert_eq!(sent(&mut client, &mut rig), None);
    let (first, second) = (Message::parse(&first).unwrap(), Message::parse(&second).unwrap());
    assert_eq!(second.id(), first.id().wrapping_add(1));
    assert_eq!((second.token(), second.payload()), (first.token(), first.payload()));
    let deadline = client.poll_timeout().unwrap();
    assert!((2_000..3_000).contains(&deadline.since(rig.now).millis()), "its schedule begins anew");
    assert!(takes(&mut client, &mut rig, &response(Type::Acknowledgement, second.id(), second.token())));
}

//! The client, message by message.

mod common;

use common::World;
use sixlock_base::{Counter, Duration, Instant};
use sixlock_coap::{Client, Event, RequestError};
use sixlock_coap_msg::{Builder, Code, Message, OptionNumber, Type, empty};

type TestClient = Client<64>;

fn sent(client: &mut TestClient, world: &mut World) -> Option<Vec<u8>> {
    let mut out = [0; 64];
    let len = client.poll_transmit(&mut world.cx(), &mut out)?;
    Some(out[..len].to_vec())
}

/// A client that has sent a request, and the request.
fn asking(world: &mut World, confirmable: bool) -> (TestClient, Vec<u8>) {
    let mut client = TestClient::new();
    let build = |mut request: Builder<'_>| {
        request.path(&["temperature"])?;
        Ok(request.finish())
    };
    client.request(&mut world.cx(), confirmable, Code::GET, build).unwrap();
    assert!(client.is_busy());
    assert_eq!(client.request(&mut world.cx(), true, Code::GET, build), Err(RequestError::Busy));
    let request = sent(&mut client, world).unwrap();
    assert_eq!(sent(&mut client, world), None);
    (client, request)
}

fn response(kind: Type, id: u16, token: &[u8]) -> Vec<u8> {
    let mut bytes = [0; 64];
    let len =
        Builder::new(&mut bytes, kind, Code::CONTENT, id, token).unwrap().finish_with(b"22.3 C").unwrap();
    bytes[..len].to_vec()
}

fn takes(client: &mut TestClient, world: &mut World, datagram: &[u8]) -> bool {
    client.handle(&mut world.cx(), datagram).is_some_and(|response| response.payload() == b"22.3 C")
}

#[test]
fn a_piggy_backed_response_ends_the_request() {
    let mut world = World::new(1);
    let (mut client, request) = asking(&mut world, true);
    let request = Message::parse(&request).unwrap();
    assert_eq!((request.message_type(), request.code()), (Type::Confirmable, Code::GET));
    assert!(request.path_is(&["temperature"]));

    // Neither another message id nor another token will do.
    let wrong_id = response(Type::Acknowledgement, request.id() ^ 1, request.token());
    let wrong_token = response(Type::Acknowledgement, request.id(), b"else");
    assert!(!takes(&mut client, &mut world, &wrong_id));
    assert!(!takes(&mut client, &mut world, &wrong_token));
    let right = response(Type::Acknowledgement, request.id(), request.token());
    assert!(takes(&mut client, &mut world, &right));
    assert!(!client.is_busy());
    assert_eq!(client.poll_timeout(), None);
    assert!(!takes(&mut client, &mut world, &right), "a response is taken once");
    assert_eq!((sent(&mut client, &mut world), client.poll_event()), (None, None));
}

#[test]
fn requests_have_message_ids_in_sequence_and_tokens_of_their_own() {
    let mut world = World::new(2);
    let mut client = TestClient::new();
    let mut previous: Option<(u16, Vec<u8>)> = None;
    for _ in 0..3 {
        client.request(&mut world.cx(), true, Code::GET, |request| Ok(request.finish())).unwrap();
        let bytes = sent(&mut client, &mut world).unwrap();
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
        let mut world = World::new(seed);
        let (mut client, request) = asking(&mut world, true);
        let start = world.now;
        let mut times = Vec::new();
        while let Some(deadline) = client.poll_timeout() {
            world.now = Instant::from_millis(deadline.millis().wrapping_sub(1));
            client.handle_timeout(&mut world.cx());
            assert_eq!(sent(&mut client, &mut world), None, "not before the time");
            world.now = deadline;
            client.handle_timeout(&mut world.cx());
            times.push(deadline.since(start).millis());
            assert_eq!(sent(&mut client, &mut world), client.is_busy().then(|| request.clone()));
        }
        let first = times[0];
        assert!((2_000..3_000).contains(&first), "{first}");
        assert_eq!(times, [first, 3 * first, 7 * first, 15 * first, 31 * first]);
        assert_eq!(client.poll_event(), Some(Event::TimedOut));
        assert_eq!((world.count(Counter::CoapRetransmissions), world.count(Counter::CoapTimeouts)), (4, 1));
    }
}

#[test]
fn an_acknowledgement_stops_retransmissions_and_a_separate_response_is_acknowledged() {
    let mut world = World::new(3);
    let (mut client, request) = asking(&mut world, true);
    let request = Message::parse(&request).unwrap();
    assert!(!takes(&mut client, &mut world, &empty(Type::Acknowledgement, request.id())));
    world.pass(30_000);
    client.handle_timeout(&mut world.cx());
    assert_eq!(sent(&mut client, &mut world), None);

    let separate = response(Type::Confirmable, 0xbeef, request.token());
    assert!(takes(&mut client, &mut world, &separate));
    assert_eq!(sent(&mut client, &mut world), Some(empty(Type::Acknowledgement, 0xbeef).to_vec()));
    // The acknowledgement was lost: the response comes again.
    assert!(!takes(&mut client, &mut world, &separate));
    assert_eq!(sent(&mut client, &mut world), Some(empty(Type::Acknowledgement, 0xbeef).to_vec()));
}

#[test]
fn a_separate_response_acknowledges_by_itself() {
    let mut world = World::new(4);
    let (mut client, request) = asking(&mut world, true);
    let token = Message::parse(&request).unwrap().token().to_vec();
    assert!(takes(&mut client, &mut world, &response(Type::NonConfirmable, 7, &token)));
    assert!(!client.is_busy());
}

#[test]
fn the_response_to_an_acknowledged_request_is_not_awaited_forever() {
    let mut world = World::new(5);
    let (mut client, request) = asking(&mut world, true);
    let id = Message::parse(&request).unwrap().id();
    client.handle(&mut world.cx(), &empty(Type::Acknowledgement, id));
    assert_eq!(client.poll_timeout(), Some(world.now + Duration::from_secs(93)));
    world.pass(93_000);
    client.handle_timeout(&mut world.cx());
    assert_eq!(client.poll_event(), Some(Event::TimedOut));
}

#[test]
fn a_non_confirmable_request_is_sent_once() {
    let mut world = World::new(6);
    let (mut client, request) = asking(&mut world, false);
    let request = Message::parse(&request).unwrap();
    assert_eq!(request.message_type(), Type::NonConfirmable);
    world.pass(50_000);
    client.handle_timeout(&mut world.cx());
    assert_eq!(sent(&mut client, &mut world), None);
    assert!(takes(&mut client, &mut world, &response(Type::NonConfirmable, 9, request.token())));
}

#[test]
fn a_reset_or_an_unknown_critical_option_ends_the_request_without_a_response() {
    let mut world = World::new(7);
    let (mut client, request) = asking(&mut world, true);
    client.handle(&mut world.cx(), &empty(Type::Reset, Message::parse(&request).unwrap().id()));
    assert_eq!((client.is_busy(), client.poll_event()), (false, Some(Event::Reset)));

    let (mut client, request) = asking(&mut world, true);
    let mut bytes = [0; 64];
    let token = Message::parse(&request).unwrap().token();
    let mut builder = Builder::new(&mut bytes, Type::Confirmable, Code::CONTENT, 8, token).unwrap();
    builder.option(OptionNumber::BLOCK2, &[0x0e]).unwrap();
    let len = builder.finish();
    assert!(client.handle(&mut world.cx(), &bytes[..len]).is_none());
    assert_eq!((client.is_busy(), client.poll_event()), (false, Some(Event::Unacceptable)));
    assert_eq!(sent(&mut client, &mut world), Some(empty(Type::Reset, 8).to_vec()));
}

#[test]
fn pings_requests_and_unexpected_or_malformed_messages_are_reset_if_confirmable() {
    let mut world = World::new(8);
    let (mut client, _) = asking(&mut world, true);
    let reset = empty(Type::Reset, 0x1234).to_vec();
    for (first, code) in [(0x40, 0x00), (0x40, 0x01), (0x40, 0x45), (0x4f, 0x01)] {
        assert!(client.handle(&mut world.cx(), &[first, code, 0x12, 0x34]).is_none());
        assert_eq!(sent(&mut client, &mut world), Some(reset.clone()));
        // The same, non-confirmable.
        assert!(client.handle(&mut world.cx(), &[first | 0x10, code, 0x12, 0x34]).is_none());
        assert_eq!(sent(&mut client, &mut world), None);
    }
    assert_eq!(world.count(Counter::CoapMalformed), 2, "the long token, confirmable and not");
    assert!(client.is_busy());
}

#[test]
fn a_request_restarts_as_another_message_of_the_same_token() {
    let mut world = World::new(9);
    let (mut client, first) = asking(&mut world, true);
    world.pass(20_000);
    client.handle_timeout(&mut world.cx());
    // What was to be said to the old association is not said to the new one.
    client.handle(&mut world.cx(), &empty(Type::Confirmable, 0x1234));
    client.restart(&mut world.cx());
    let second = sent(&mut client, &mut world).unwrap();
    assert_eq!(sent(&mut client, &mut world), None);
    let (first, second) = (Message::parse(&first).unwrap(), Message::parse(&second).unwrap());
    assert_eq!(second.id(), first.id().wrapping_add(1));
    assert_eq!((second.token(), second.payload()), (first.token(), first.payload()));
    let deadline = client.poll_timeout().unwrap();
    assert!((2_000..3_000).contains(&deadline.since(world.now).millis()), "its schedule begins anew");
    assert!(takes(&mut client, &mut world, &response(Type::Acknowledgement, second.id(), second.token())));
}

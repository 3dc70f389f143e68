//! The server, message by message.

use sixlock_base::{Counter, Instant};
use sixlock_coap::{Answer, ExchangeId, Exchanges, Inline, RespondError, ServerConfig};
use sixlock_coap_msg::{Builder, Code, ContentFormat, Message, OptionNumber, Type, empty};
use sixlock_testing::Rig;

type TestExchanges = Exchanges<Inline<32>, 3>;

struct Server {
    rig: Rig,
    config: ServerConfig,
    exchanges: TestExchanges,
}

impl Server {
    fn new(seed: u32) -> Self {
        let config = ServerConfig::default();
        Self { rig: Rig::near_wrap(seed), config, exchanges: TestExchanges::new() }
    }

    /// The request that the server is lent.
    fn handle(&mut self, datagram: &[u8]) -> Option<ExchangeId> {
        self.exchanges.handle(&mut self.rig.cx(), &self.config, datagram).map(|request| request.id)
    }

    fn respond(&mut self, id: ExchangeId, payload: &[u8]) -> Result<(), RespondError> {
        self.exchanges.respond(
            &mut self.rig.cx(),
            id,
            Answer::content(Code::CONTENT, ContentFormat::TEXT, payload),
        )
    }

    fn sent(&mut self) -> Option<Vec<u8>> {
        let mut out = [0; 64];
        let len = self.exchanges.poll_transmit(&mut self.rig.cx(), &self.config, &mut out)?;
        Some(out[..len].to_vec())
    }

    /// Lets the time pass to the next deadline.
    fn wait(&mut self) -> u32 {
        let deadline = self.exchanges.poll_timeout().unwrap();
        let span = deadline.since(self.rig.now).millis();
        self.rig.now = Instant::from_millis(deadline.millis().wrapping_sub(1));
        self.exchanges.handle_timeout(&mut self.rig.cx());
        assert_eq!(self.sent(), None, "not before the time");
        self.rig.now = deadline;
        self.exchanges.handle_timeout(&mut self.rig.cx());
        span
    }
}

fn request(kind: Type, id: u16) -> Vec<u8> {
    let mut bytes = [0; 64];
    let mut builder = Builder::new(&mut bytes, kind, Code::POST, id, &[0x20, 1]).unwrap();
    builder.path(&["data"]).unwrap();
    let len = builder.finish();
    bytes[..len].to_vec()
}

fn acknowledgement(id: u16) -> Option<Vec<u8>> {
    Some(empty(Type::Acknowledgement, id).to_vec())
}

#[test]
fn a_request_is_done_once_however_often_it_comes() {
    let mut server = Server::new(1);
    let datagram = request(Type::Confirmable, 7);
    let id = server.handle(&datagram).unwrap();
    for _ in 0..3 {
        assert_eq!(server.handle(&datagram), None);
    }
    assert_eq!(server.sent(), None);
    server.respond(id, b"22.3 C").unwrap();
    let response = server.sent().unwrap();
    let message = Message::parse(&response).unwrap();
    assert_eq!((message.message_type(), message.code()), (Type::Acknowledgement, Code::CONTENT));
    assert_eq!((message.id(), message.token(), message.payload()), (7, &[0x20, 1][..], &b"22.3 C"[..]));
    assert_eq!(message.content_format(), Some(ContentFormat::TEXT));
    for _ in 0..3 {
        assert_eq!(server.sent(), None);
        assert_eq!(server.handle(&datagram), None);
        assert_eq!(server.sent(), Some(response.clone()), "the same answer, from memory");
    }
    assert_eq!(server.rig.count(Counter::CoapDuplicates), 6);
    assert!(server.exchanges.is_idle());
    // Beyond its lifetime, the message id stands for another request.
    server.rig.pass(247_000);
    assert!(server.handle(&datagram).is_some());
}

#[test]
fn a_message_id_with_another_token_is_another_request() {
    let mut server = Server::new(2);
    let mut datagram = request(Type::Confirmable, 7);
    assert!(server.handle(&datagram).is_some());
    datagram[4] ^= 1;
    assert!(server.handle(&datagram).is_some());
}

#[test]
fn a_slow_answer_is_a_message_of_its_own_sent_until_it_is_acknowledged() {
    let mut server = Server::new(3);
    let datagram = request(Type::Confirmable, 7);
    let id = server.handle(&datagram).unwrap();
    assert_eq!(server.wait(), 1_000);
    assert_eq!(server.sent(), acknowledgement(7));
    assert_eq!(server.handle(&datagram), None);
    assert_eq!(server.sent(), acknowledgement(7), "the acknowledgement was lost");

    server.respond(id, b"22.3 C").unwrap();
    let response = server.sent().unwrap();
    let message = Message::parse(&response).unwrap();
    assert_eq!((message.message_type(), message.token()), (Type::Confirmable, &[0x20, 1][..]));
    let first = server.wait();
    assert!((2_000..3_000).contains(&first));
    assert_eq!(server.sent(), Some(response.clone()));
    assert_eq!(server.wait(), 2 * first);
    assert_eq!(server.sent(), Some(response.clone()));
    assert!(!server.exchanges.is_idle());
    server.handle(&empty(Type::Acknowledgement, message.id()));
    assert_eq!(server.exchanges.poll_timeout(), None);
    assert!(server.exchanges.is_idle());
    assert_eq!(server.handle(&datagram), None);
    assert_eq!(server.sent(), acknowledgement(7), "a late repetition is acknowledged, not done");
    assert_eq!(server.rig.count(Counter::CoapRetransmissions), 2);
}

#[test]
fn a_separate_response_is_given_up_after_four_retransmissions_or_at_a_reset() {
    let mut server = Server::new(4);
    let id = server.handle(&request(Type::Confirmable, 7)).unwrap();
    server.wait();
    server.sent();
    server.respond(id, b"x").unwrap();
    let mut times = 0;
    while server.sent().is_some() {
        times += 1;
        server.wait();
    }
    assert_eq!((times, server.rig.count(Counter::CoapTimeouts)), (5, 1));
    assert!(server.exchanges.is_idle());

    let id = server.handle(&request(Type::Confirmable, 8)).unwrap();
    server.wait();
    server.sent();
    server.respond(id, b"x").unwrap();
    let response = server.sent().unwrap();
    server.handle(&empty(Type::Reset, Message::parse(&response).unwrap().id()));
    assert!(server.exchanges.is_idle());
}

#[test]
fn one_separate_response_at_a_time_is_under_way() {
    let mut server = Server::new(5);
    let ids = [1, 2].map(|id| server.handle(&request(Type::Confirmable, id)).unwrap());
    server.wait();
    assert_eq!([server.sent(), server.sent()], [acknowledgement(1), acknowledgement(2)]);
    for id in ids {
        server.respond(id, b"x").unwrap();
    }
    let first = server.sent().unwrap();
    assert_eq!(server.sent(), None);
    server.handle(&empty(Type::Acknowledgement, Message::parse(&first).unwrap().id()));
    let second = server.sent().unwrap();
    assert_ne!(Message::parse(&first).unwrap().id(), Message::parse(&second).unwrap().id());
}

#[test]
fn a_non_confirmable_request_gets_one_non_confirmable_response() {
    let mut server = Server::new(6);
    let datagram = request(Type::NonConfirmable, 7);
    let id = server.handle(&datagram).unwrap();
    assert_eq!(server.exchanges.poll_timeout(), None);
    server.rig.pass(5_000);
    server.respond(id, b"x").unwrap();
    let response = server.sent().unwrap();
    assert_eq!(Message::parse(&response).unwrap().message_type(), Type::NonConfirmable);
    assert_eq!(server.handle(&datagram), None);
    assert_eq!(server.sent(), None, "a repetition is ignored");
}

#[test]
fn pings_and_malformed_messages_are_reset() {
    let mut server = Server::new(7);
    for datagram in [b"\x40\x00\x12\x34", b"\x40\x45\x12\x34", b"\x4f\x02\x12\x34"] {
        assert_eq!(server.handle(datagram), None);
        assert_eq!(server.sent(), Some(empty(Type::Reset, 0x1234).to_vec()));
    }
    for datagram in [b"\x60\x01\x12\x34", b"\x70\x00\x12\x34", b"\x50\x45\x12\x34"] {
        assert_eq!((server.handle(datagram), server.sent()), (None, None));
    }
    assert_eq!(server.rig.count(Counter::CoapMalformed), 1);
}

#[test]
fn unknown_critical_options_are_refused() {
    let mut server = Server::new(8);
    for (id, option, code) in [
        (1, OptionNumber(9999), Code::BAD_OPTION),
        (2, OptionNumber::BLOCK1, Code::BAD_OPTION),
        (3, OptionNumber::PROXY_URI, Code::PROXYING_NOT_SUPPORTED),
    ] {
        let mut bytes = [0; 64];
        for kind in [Type::NonConfirmable, Type::Confirmable] {
            let mut builder = Builder::new(&mut bytes, kind, Code::POST, id, &[1]).unwrap();
            builder.option(option, b"x").unwrap();
            let len = builder.finish();
            assert_eq!(server.handle(&bytes[..len]), None);
            let refused = server.sent().map(|bytes| Message::parse(&bytes).unwrap().code());
            assert_eq!(refused, (kind == Type::Confirmable).then_some(code));
        }
    }
}

#[test]
fn a_new_request_takes_the_oldest_answered_place_or_is_dropped() {
    let mut server = Server::new(9);
    let ids = [1, 2, 3].map(|id| server.handle(&request(Type::Confirmable, id)).unwrap());
    assert_eq!(server.handle(&request(Type::Confirmable, 4)), None);
    assert_eq!(server.rig.count(Counter::CoapExchangesFull), 1);
    server.respond(ids[1], b"x").unwrap();
    assert_eq!(server.handle(&request(Type::Confirmable, 4)), None, "the response has not been sent");
    server.sent().unwrap();
    assert!(server.handle(&request(Type::Confirmable, 4)).is_some());
    assert_eq!(server.respond(ids[1], b"x"), Err(RespondError::NotWaiting), "the place is another's");
    // What waits longer than a lifetime is forgotten.
    server.rig.pass(247_000);
    assert!(server.handle(&request(Type::Confirmable, 5)).is_some());
    assert_eq!(server.respond(ids[2], b"x"), Err(RespondError::NotWaiting));
}

#[test]
fn a_request_is_answered_once_and_with_what_fits() {
    let mut server = Server::new(10);
    let id = server.handle(&request(Type::Confirmable, 1)).unwrap();
    assert_eq!(server.respond(id, &[0; 64]), Err(RespondError::TooLarge));
    server.respond(id, b"x").unwrap();
    assert_eq!(server.respond(id, b"y"), Err(RespondError::NotWaiting));
}

#[cfg(feature = "alloc")]
#[test]
fn a_response_on_the_heap_takes_what_it_needs_up_to_its_limit() {
    use sixlock_coap::{ByteStore, Heap};
    let mut store = Heap::<100>::default();
    for (max, room) in [(40, 40), (200, 100)] {
        let write = |bytes: &mut [u8]| {
            assert_eq!(bytes.len(), room);
            bytes[..3].copy_from_slice(b"abc");
            Ok::<_, ()>(3)
        };
        store.write(max, write).unwrap();
        assert_eq!(store.bytes(), b"abc");
    }
    store.store(b"def");
    assert_eq!(store.bytes(), b"def");
    store.store(&[1; 101]);
    assert_eq!(store.bytes(), [1; 100]);
}

//! What a server asks of its clients, message by message.

use sixlock_base::{Duration, Instant};
use sixlock_coap::{
    Answer, Answered, Ended, Exchanges, Inline, OutgoingRequest, RespondError, Responder, ServerConfig,
    Token, Unanswered,
};
use sixlock_coap_msg::{Builder, Code, ContentFormat, Message, OptionNumber, Type, empty};
use sixlock_testing::Rig;

const RING: usize = 3;
const TOKEN: [u8; 8] = *b"commands";

struct Server {
    rig: Rig,
    config: ServerConfig,
    exchanges: Exchanges<Inline<80>, RING>,
}

impl Server {
    /// One that has sent a request: with that.
    fn asking() -> (Self, Vec<u8>) {
        let config = ServerConfig::default();
        let mut server = Self { rig: Rig::near_wrap(7), config, exchanges: Exchanges::new() };
        server.ask(b"[{\"n\":\"led\",\"vb\":true}]").unwrap();
        let sent = server.sent().unwrap();
        (server, sent)
    }

    fn ask(&mut self, payload: &[u8]) -> Result<(), RespondError> {
        let request = OutgoingRequest {
            code: Code::PUT,
            path: &["actuators", "led"],
            format: ContentFormat::SENML_JSON,
            payload,
        };
        self.exchanges.request(&mut self.rig.cx(), &self.config, Token::new(TOKEN), request)
    }

    fn sent(&mut self) -> Option<Vec<u8>> {
        let mut out = [0; 128];
        let len = self.exchanges.poll_transmit(&mut self.rig.cx(), &self.config, &mut out)?;
        Some(out[..len].to_vec())
    }

    fn receive(&mut self, datagram: &[u8]) -> bool {
        self.exchanges.handle(&mut self.rig.cx(), &self.config, datagram).is_some()
    }

    fn result(&mut self) -> Option<Result<Code, Unanswered>> {
        match self.exchanges.poll_ended()? {
            Ended::Request(Answered { token, result }) => {
                assert_eq!(token, Token::new(TOKEN));
                Some(result)
            }
            Ended::Notification(_) => panic!("nobody observes"),
        }
    }
}

fn response(kind: Type, code: Code, id: u16, token: &[u8]) -> Vec<u8> {
    let mut bytes = [0; 32];
    let len = Builder::new(&mut bytes, kind, code, id, token).unwrap().finish();
    bytes[..len].to_vec()
}

fn id_of(message: &[u8]) -> u16 {
    Message::parse(message).unwrap().id()
}

#[test]
fn a_device_answers_with_the_acknowledgement() {
    let (mut server, sent) = Server::asking();
    let message = Message::parse(&sent).unwrap();
    assert_eq!((message.message_type(), message.code()), (Type::Confirmable, Code::PUT));
    assert!(message.path_is(&["actuators", "led"]));
    assert_eq!(message.content_format(), Some(ContentFormat::SENML_JSON));
    assert_eq!(message.payload(), b"[{\"n\":\"led\",\"vb\":true}]");
    let (mut device, mut out) = (Rig::near_wrap(8), [0; 64]);
    let known = [OptionNumber::URI_PATH];
    let answered = Responder::new().handle(&mut device.cx(), &known, &sent, &mut out, |_, response| {
        response.with_code(Code::CHANGED).map(Builder::finish)
    });
    assert_eq!(server.result(), None);
    server.receive(&out[..answered.unwrap()]);
    assert_eq!(server.result(), Some(Ok(Code::CHANGED)));
    server.receive(&out[..answered.unwrap()]);
    assert_eq!((server.result(), server.sent()), (None, None), "it is told once");
    assert!(server.exchanges.is_idle());
}

#[test]
fn a_separate_answer_is_acknowledged_each_time_it_comes_and_told_once() {
    for kind in [Type::Confirmable, Type::NonConfirmable] {
        let (mut server, sent) = Server::asking();
        server.receive(&empty(Type::Acknowledgement, id_of(&sent)));
        assert_eq!((server.result(), server.sent()), (None, None));
        assert!(!server.exchanges.is_idle());
        for is_first in [true, false] {
            server.receive(&response(kind, Code::BAD_REQUEST, 77, &TOKEN));
            let acknowledgement = Some(empty(Type::Acknowledgement, 77).to_vec());
            assert_eq!(server.sent(), acknowledgement.filter(|_| kind == Type::Confirmable));
            assert_eq!(server.result(), is_first.then_some(Ok(Code::BAD_REQUEST)));
        }
    }
}

#[test]
fn an_answer_that_comes_before_the_acknowledgement_ends_the_repetitions() {
    let (mut server, sent) = Server::asking();
    server.receive(&response(Type::Confirmable, Code::CHANGED, 77, &TOKEN));
    assert_eq!(server.result(), Some(Ok(Code::CHANGED)));
    server.receive(&empty(Type::Acknowledgement, id_of(&sent)));
    assert_eq!((server.result(), server.exchanges.poll_timeout()), (None, None));
}

#[test]
fn what_answers_another_request_is_rejected_and_ends_nothing() {
    let (mut server, sent) = Server::asking();
    let id = id_of(&sent);
    server.receive(&response(Type::Acknowledgement, Code::CHANGED, id, b"another"));
    server.receive(&response(Type::Acknowledgement, Code::CHANGED, id.wrapping_add(1), &TOKEN));
    server.receive(&response(Type::NonConfirmable, Code::CHANGED, 78, b"another"));
    assert_eq!((server.result(), server.sent()), (None, None));
    server.receive(&response(Type::Confirmable, Code::CHANGED, 79, b"another"));
    assert_eq!((server.result(), server.sent()), (None, Some(empty(Type::Reset, 79).to_vec())));
    server.receive(&response(Type::Acknowledgement, Code::CHANGED, id, &TOKEN));
    assert_eq!(server.result(), Some(Ok(Code::CHANGED)));
}

#[test]
fn one_that_is_not_answered_is_sent_again_and_given_up() {
    let (mut server, sent) = Server::asking();
    for _ in 0..4 {
        server.rig.now = server.exchanges.poll_timeout().unwrap();
        server.exchanges.handle_timeout(&mut server.rig.cx());
        assert_eq!(server.sent().as_ref(), Some(&sent));
    }
    server.rig.now = server.exchanges.poll_timeout().unwrap();
    server.exchanges.handle_timeout(&mut server.rig.cx());
    assert_eq!((server.sent(), server.result()), (None, Some(Err(Unanswered::TimedOut))));
    // An answer that is late ends no other.
    server.receive(&response(Type::Acknowledgement, Code::CHANGED, id_of(&sent), &TOKEN));
    assert_eq!(server.result(), None);
}

#[test]
fn one_that_is_acknowledged_and_not_answered_is_given_up() {
    let (mut server, sent) = Server::asking();
    let begun: Instant = server.rig.now;
    server.receive(&empty(Type::Acknowledgement, id_of(&sent)));
    assert_eq!(server.exchanges.poll_timeout(), Some(begun + Duration::from_secs(93)));
    server.rig.now = begun + Duration::from_secs(93);
    server.exchanges.handle_timeout(&mut server.rig.cx());
    assert_eq!(server.result(), Some(Err(Unanswered::TimedOut)));
    assert!(server.exchanges.is_idle());
}

#[test]
fn a_device_that_takes_no_requests_rejects_it() {
    let (mut server, sent) = Server::asking();
    server.receive(&empty(Type::Reset, id_of(&sent)));
    assert_eq!(server.result(), Some(Err(Unanswered::Rejected)));
    assert_eq!(server.exchanges.poll_timeout(), None);
}

#[test]
fn an_answer_with_a_critical_option_that_is_not_known_is_none() {
    let (mut server, sent) = Server::asking();
    let mut bytes = [0; 32];
    let mut builder =
        Builder::new(&mut bytes, Type::Acknowledgement, Code::CHANGED, id_of(&sent), &TOKEN).unwrap();
    builder.option(OptionNumber(65_001), b"").unwrap();
    let len = builder.finish();
    server.receive(&bytes[..len]);
    assert_eq!(server.result(), Some(Err(Unanswered::Rejected)));
}

#[test]
fn one_waits_for_what_is_under_way_and_requests_of_the_peer_go_on() {
    let (mut server, sent) = Server::asking();
    server.ask(b"2").unwrap();
    assert_eq!(server.sent(), None, "one at a time");
    assert!(server.receive(&response(Type::Confirmable, Code::GET, id_of(&sent), &TOKEN)), "its own");
    server.receive(&response(Type::Acknowledgement, Code::CHANGED, id_of(&sent), &TOKEN));
    assert_eq!(server.result(), Some(Ok(Code::CHANGED)));
    assert!(server.sent().is_some_and(|sent| sent.ends_with(b"2")));
    assert_eq!(server.ask(b"3"), Ok(()));
    assert_eq!(server.ask(b"4"), Err(RespondError::Full));
    let answer = Answer { payload: &[7; 81], ..Code::CONTENT.into() };
    let refused =
        server.exchanges.notify(&mut server.rig.cx(), &server.config, Token::new(TOKEN), true, answer);
    assert_eq!(refused, Err(RespondError::Full));
}

#[test]
fn one_that_does_not_fit_is_refused() {
    let (mut server, sent) = Server::asking();
    server.receive(&empty(Type::Reset, id_of(&sent)));
    assert_eq!(server.ask(&[b'1'; 80]), Err(RespondError::TooLarge));
    assert_eq!(server.sent(), None);
}

#[test]
fn two_that_end_at_the_same_time_are_told_one_after_the_other() {
    let (mut server, sent) = Server::asking();
    server.receive(&empty(Type::Acknowledgement, id_of(&sent)));
    let request = OutgoingRequest {
        code: Code::PUT,
        path: &["actuators", "valve"],
        format: ContentFormat::SENML_JSON,
        payload: b"2",
    };
    let another = Token::new(*b"another1");
    server.exchanges.request(&mut server.rig.cx(), &server.config, another, request).unwrap();
    let sent = server.sent().unwrap();
    server.receive(&empty(Type::Acknowledgement, id_of(&sent)));
    server.rig.now = server.rig.now + Duration::from_secs(93);
    let mut ends = Vec::new();
    for _ in 0..2 {
        server.exchanges.handle_timeout(&mut server.rig.cx());
        ends.push(server.exchanges.poll_ended());
    }
    let end = |token| Some(Ended::Request(Answered { token, result: Err(Unanswered::TimedOut) }));
    assert_eq!(ends, [end(Token::new(TOKEN)), end(another)]);
}

//! What observers are told, message by message.

mod common;

use common::World;
use sixlock_base::{Counter, Duration, Instant};
use sixlock_coap::{
    Answer, Exchanges, Inline, Notice, Notified, Observation, Outcome, RespondError, ServerConfig, Token,
};
use sixlock_coap_msg::{Builder, Code, Message, OptionNumber, Type, empty};

const RING: usize = 3;

struct Server {
    world: World,
    config: ServerConfig,
    exchanges: Exchanges<Inline<48>, RING>,
}

impl Server {
    fn new() -> Self {
        let config = ServerConfig::default();
        Self { world: World::new(7), config, exchanges: Exchanges::new() }
    }

    fn notify(&mut self, confirmable: bool, number: u32) -> Result<(), RespondError> {
        let answer = Answer { observe: Some(number), payload: b"22.3 C", ..Code::CONTENT.into() };
        self.exchanges.notify(&mut self.world.cx(), &self.config, token(), confirmable, answer)
    }

    fn sent(&mut self) -> Option<Vec<u8>> {
        let mut out = [0; 64];
        let len = self.exchanges.poll_transmit(&mut self.world.cx(), &self.config, &mut out)?;
        Some(out[..len].to_vec())
    }

    fn receive(&mut self, datagram: &[u8]) -> bool {
        self.exchanges.handle(&mut self.world.cx(), &self.config, datagram).is_some()
    }

    fn became(&mut self, outcome: Outcome) -> bool {
        self.exchanges.poll_notified() == Some(Notified { token: token(), outcome })
    }
}

fn request(id: u16) -> Vec<u8> {
    let mut bytes = [0; 32];
    let builder = Builder::new(&mut bytes, Type::Confirmable, Code::GET, id, b"watch").unwrap();
    let len = builder.finish();
    bytes[..len].to_vec()
}

fn token() -> Token {
    Token::of(&Message::parse(&request(1)).unwrap())
}

#[test]
fn a_notification_has_the_token_and_a_number_and_is_sent_once_if_not_confirmable() {
    let mut server = Server::new();
    server.notify(false, 5).unwrap();
    let sent = server.sent().unwrap();
    let message = Message::parse(&sent).unwrap();
    assert_eq!((message.message_type(), message.code()), (Type::NonConfirmable, Code::CONTENT));
    assert_eq!((message.token(), message.payload()), (&b"watch"[..], &b"22.3 C"[..]));
    assert_eq!(message.value(OptionNumber::OBSERVE).and_then(|number| number.uint()), Some(5));
    assert_eq!((server.sent(), server.exchanges.poll_timeout()), (None, None));
    server.receive(&empty(Type::Acknowledgement, message.id()));
    assert_eq!(server.exchanges.poll_notified(), None, "nobody was asked to acknowledge it");
    server.receive(&empty(Type::Reset, message.id()));
    assert!(server.became(Outcome::Rejected));
    server.receive(&empty(Type::Reset, message.id()));
    assert_eq!(server.exchanges.poll_notified(), None, "it is told once");
}

#[test]
fn a_confirmable_notification_is_sent_until_it_is_acknowledged_rejected_or_given_up() {
    for kind in [Some(Type::Acknowledgement), Some(Type::Reset), None] {
        let mut server = Server::new();
        server.notify(true, 1).unwrap();
        let first = server.sent().unwrap();
        let id = Message::parse(&first).unwrap().id();
        let mut sent = 1;
        while let Some(deadline) = server.exchanges.poll_timeout() {
            server.world.now = deadline;
            server.exchanges.handle_timeout(&mut server.world.cx());
            if let Some(again) = server.sent() {
                assert_eq!(again, first);
                sent += 1;
            }
            if let (Some(kind), 3) = (kind, sent) {
                server.receive(&empty(kind, id));
            }
        }
        let (times, outcome) = match kind {
            Some(Type::Acknowledgement) => (3, Outcome::Acknowledged),
            Some(_) => (3, Outcome::Rejected),
            None => (5, Outcome::TimedOut),
        };
        assert_eq!(sent, times);
        assert_eq!(server.world.count(Counter::CoapRetransmissions), times - 1);
        assert!(server.became(outcome));
    }
}

#[test]
fn one_confirmable_notification_is_under_way_at_a_time_and_no_more_than_there_is_room_for() {
    let mut server = Server::new();
    for number in 0..RING as u32 {
        server.notify(true, number).unwrap();
    }
    assert_eq!(server.notify(true, 9), Err(RespondError::Full));
    let first = server.sent().unwrap();
    assert_eq!(server.sent(), None);
    assert!(!server.receive(&request(1)), "there is no room for requests, either");
    server.world.pass(100);
    server.receive(&empty(Type::Acknowledgement, Message::parse(&first).unwrap().id()));
    assert!(server.sent().is_some(), "the next one's turn");
    assert!(server.receive(&request(1)));
}

#[test]
fn a_request_is_not_taken_for_one_received_before_for_a_notifications_sake() {
    let mut server = Server::new();
    server.notify(false, 1).unwrap();
    let id = Message::parse(&server.sent().unwrap()).unwrap().id();
    assert!(server.receive(&request(id)), "ids of either side have nothing to do with each other");
}

#[test]
fn a_notification_that_does_not_fit_takes_no_place() {
    let mut server = Server::new();
    for _ in 0..2 * RING {
        let long = Answer { payload: &[0; 64], ..Code::CONTENT.into() };
        let told = server.exchanges.notify(&mut server.world.cx(), &server.config, token(), true, long);
        assert_eq!(told, Err(RespondError::TooLarge));
    }
    assert_eq!(server.sent(), None);
    server.notify(true, 1).unwrap();
}

#[test]
fn the_first_and_every_eighth_notification_is_confirmable_and_so_is_one_after_a_day() {
    let mut now = Instant::from_millis(u32::MAX - 5);
    let mut observation = Observation::new(now);
    assert_eq!(observation.wait(now), Duration::from_secs(0));
    let mut notices = Vec::new();
    for _ in 0..17 {
        notices.push(observation.notify(now));
        assert_eq!(observation.wait(now), Duration::from_secs(3), "no faster than that");
        now = now + Duration::from_millis(2_999);
        assert_eq!(observation.wait(now), Duration::from_millis(1));
        now = now + Duration::from_millis(1);
        assert_eq!(observation.wait(now), Duration::from_secs(0));
    }
    let confirmable: Vec<_> = notices.iter().filter(|notice| notice.confirmable).collect();
    assert_eq!(confirmable.iter().map(|notice| notice.number).collect::<Vec<_>>(), [1, 9, 17]);
    assert!(notices.is_sorted_by(|a, b| a.number < b.number));
    assert_eq!(observation.notify(now), Notice { number: 18, confirmable: false });
    now = now + Duration::from_secs(24 * 3600);
    assert_eq!(observation.notify(now), Notice { number: 19, confirmable: true });
}

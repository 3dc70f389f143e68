//! What observers are told, message by message.

use sixlock_base::{Counter, Duration, Instant};
use sixlock_coap::{
    Answer, Ended, Exchanges, Inline, Notice, Notified, Observation, Outcome, RespondError, ServerConfig,
    Token,
};
use sixlock_coap_msg::{Builder, Code, Message, OptionNumber, Type, empty};
use sixlock_testing::Rig;

const RING: usize = 3;

struct Server {
    rig: Rig,
    config: ServerConfig,
    exchanges: Exchanges<Inline<48>, RING>,
}

impl Server {
    fn new() -> Self {
        let config = ServerConfig::default();
        Self { rig: Rig::near_wrap(7), config, exchanges: Exchanges::new() }
    }

    fn notify(&mut self, confirmable: bool, number: u32) -> Result<(), RespondError> {
        let answer = Answer { observe: Some(number), payload: b"22.3 C", ..Code::CONTENT.into() };
        self.exchanges.notify(&mut self.rig.cx(), &self.config, token(), confirmable, answer)
    }

    fn sent(&mut self) -> Option<Vec<u8>> {
        let mut out = [0; 64];
        let len = self.exchanges.poll_transmit(&mut self.rig.cx(), &self.config, &mut out)?;
        Some(out[..len].to_vec())
    }

    fn receive(&mut self, datagram: &[u8]) -> bool {
        self.exchanges.handle(&mut self.rig.cx(), &self.config, datagram).is_some()
    }

    fn became(&mut self, outcome: Outcome) -> bool {
        self.exchanges.poll_ended() == Some(Ended::Notification(Notified { token: token(), outcome }))
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
    assert_eq!(server.exchanges.poll_ended(), None, "nobody was asked to acknowledge it");
    server.receive(&empty(Type::Reset, message.id()));
    assert!(server.became(Outcome::Rejected));
    server.receive(&empty(Type::Reset, message.id()));
    assert_eq!(server.exchanges.poll_ended(), None, "it is told once");
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
            server.rig.now = deadline;
            server.exchanges.handle_timeout(&mut server.rig.cx());
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
        assert_eq!(server.rig.count(Counter::CoapRetransmissions), times - 1);
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
    server.rig.pass(100);
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
        let told = server.exchanges.notify(&mut server.rig.cx(), &server.config, token(), true, long);
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

/// What a server sends that may send this many bytes at a time.
fn sent_within(server: &mut Server, room: usize) -> Option<Vec<u8>> {
    let mut out = vec![0; room];
    let len = server.exchanges.poll_transmit(&mut server.rig.cx(), &server.config, &mut out)?;
    Some(out[..len].to_vec())
}

fn id_of(message: &[u8]) -> u16 {
    Message::parse(message).unwrap().id()
}

#[test]
fn what_is_longer_than_may_be_sent_to_a_peer_that_has_moved_waits_for_its_answer_to_a_ping() {
    let mut server = Server::new();
    assert!(server.exchanges.is_reached());
    server.exchanges.moved(&mut server.rig.cx(), 0);
    server.notify(false, 1).unwrap();
    server.notify(true, 2).unwrap();
    assert_eq!(sent_within(&mut server, 3), None, "there is no room for a ping");
    let ping = sent_within(&mut server, 4).unwrap();
    assert_eq!(ping, empty(Type::Confirmable, id_of(&ping)));
    assert_eq!(sent_within(&mut server, 4), None, "one is enough");
    // It is sent again, as any confirmable message.
    server.rig.now = server.exchanges.poll_timeout().unwrap();
    server.exchanges.handle_timeout(&mut server.rig.cx());
    assert_eq!(sent_within(&mut server, 4), Some(ping.clone()));
    assert!(!server.exchanges.is_reached());
    server.receive(&empty(Type::Reset, id_of(&ping)));
    assert!(server.exchanges.is_reached() && !server.exchanges.is_held_back());
    for kind in [Type::NonConfirmable, Type::Confirmable] {
        let sent = server.sent().unwrap();
        assert_eq!(Message::parse(&sent).unwrap().message_type(), kind);
    }
    assert_eq!(server.sent(), None);
}

#[test]
fn only_an_answer_to_what_was_sent_since_shows_that_a_peer_which_has_moved_is_reached() {
    let mut server = Server::new();
    server.notify(true, 1).unwrap();
    let before = server.sent().unwrap();
    server.exchanges.moved(&mut server.rig.cx(), 0);
    // What it answers it was sent where it was before; others it makes up.
    for id in [id_of(&before), id_of(&before).wrapping_sub(1), id_of(&before).wrapping_add(2)] {
        for kind in [Type::Acknowledgement, Type::Reset] {
            server.receive(&empty(kind, id));
            assert!(!server.exchanges.is_reached());
        }
    }
    server.receive(&request(9));
    assert!(!server.exchanges.is_reached(), "anyone may let it come from anywhere");
    server.notify(true, 2).unwrap();
    let after = server.sent().unwrap();
    server.exchanges.moved(&mut server.rig.cx(), 0);
    server.receive(&empty(Type::Acknowledgement, id_of(&after)));
    assert!(!server.exchanges.is_reached(), "it has moved again since");
    server.notify(true, 3).unwrap();
    let after = server.sent().unwrap();
    server.receive(&empty(Type::Acknowledgement, id_of(&after)));
    assert!(server.exchanges.is_reached());
}

#[test]
fn what_waits_for_a_peer_that_never_answers_is_given_up() {
    let mut server = Server::new();
    server.exchanges.moved(&mut server.rig.cx(), 0);
    server.notify(true, 1).unwrap();
    let mut pings = 0;
    sent_within(&mut server, 0);
    while let Some(deadline) = server.exchanges.poll_timeout() {
        server.rig.now = deadline;
        server.exchanges.handle_timeout(&mut server.rig.cx());
        pings += u32::from(sent_within(&mut server, 4).is_some());
    }
    assert_eq!(pings, server.config.transmission.max_retransmit.into(), "the first had no room");
    assert!(server.became(Outcome::TimedOut));
    assert_eq!(server.rig.count(Counter::CoapTimeouts), 1);
    assert_eq!(server.sent(), None);
}

#[test]
fn an_answer_says_how_long_it_holds_if_that_is_not_a_minute() {
    for max_age in [None, Some(0), Some(5), Some(86_400)] {
        let mut server = Server::new();
        let answer = Answer { max_age, payload: b"wait", ..Code::SERVICE_UNAVAILABLE.into() };
        server.exchanges.notify(&mut server.rig.cx(), &server.config, token(), false, answer).unwrap();
        let sent = server.sent().unwrap();
        let message = Message::parse(&sent).unwrap();
        assert_eq!(message.value(OptionNumber::MAX_AGE).map(|value| value.uint().unwrap()), max_age);
        assert_eq!(message.payload(), b"wait");
        assert!(sent.len() <= answer.max_len());
    }
}

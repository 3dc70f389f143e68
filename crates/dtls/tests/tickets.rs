//! Session tickets, between our own client and server.

mod pair;

use pair::{DELAY, EarlierSessions, Ends, LIFETIME, Seen, Side};
use sixlock_base::{Counter, Duration};
use sixlock_dtls::{
    Config, Failure, Features, Full, MAX_TICKET, NewSessionTicket, Profile, Refusal, SESSION_ID,
    SessionTickets, Suite, Ticketed, message_buffer,
};
use sixlock_dtls_msg::HandshakeType;
use sixlock_testing::Random;

type Pair = Ends<Ticketed, Ticketed>;

const CONFIG: Config = Config { resumable: true, ..Config::HOST };
const NOTHING: EarlierSessions = ([Vec::new(), Vec::new()], Vec::new());
/// Where a handshake message begins in the datagram it is alone in or the first of.
const MESSAGE: usize = 13;
const TICKET: usize = 100;

/// What both sides keep of a session by whose ticket it can be resumed.
fn kept(seed: u32) -> EarlierSessions {
    let mut pair = Pair::by_ticket(seed, CONFIG, Some(TICKET), NOTHING);
    pair.run(1000);
    assert!(pair.connected());
    let kept = (pair.kept, pair.tickets);
    assert_eq!((kept.0[0].len(), kept.0[1].len(), kept.1.len()), (1, 1, 1));
    kept
}

fn resumptions<C: Profile, S: Profile>(pair: &Ends<C, S>) -> [u32; 2] {
    [&pair.here, &pair.there].map(|rig| rig.count(Counter::DtlsResumptions))
}

fn lengths(pair: &Pair) -> Vec<(Side, usize)> {
    pair.sent.iter().map(|(_, side, datagram)| (*side, datagram.len())).collect()
}

#[test]
fn a_new_session_s_client_is_given_a_ticket_in_place_of_an_id() {
    let mut with = Pair::by_ticket(1, CONFIG, Some(TICKET), NOTHING);
    with.run(1000);
    let mut without = Pair::new(1, CONFIG);
    without.run(1000);
    assert_eq!((with.seen.len(), with.sent.len(), without.sent.len()), (2, 6, 6));
    let extension = 4;
    let message = 13 + 12 + NewSessionTicket::HEADER + TICKET;
    let expected: Vec<_> = lengths(&without)
        .into_iter()
        .zip([extension, 0, extension, extension - SESSION_ID.cast_signed(), 0, message.cast_signed()])
        .map(|((side, length), more)| (side, length.checked_add_signed(more).unwrap()))
        .collect();
    // The extensions of a hello that had none stand behind their length, too.
    assert_eq!(lengths(&with), expected);
    assert_eq!(with.tickets[0].0, LIFETIME);
    assert_eq!(with.kept[0][0].session_id(), b"");
    // As RFC 5077 section 3.3 has it: its type, its length, its number, a fragment of all, the lifetime, and the ticket.
    let last = &with.sent[5].2;
    let front = [4, 0, 0, 106, 0, 3, 0, 0, 0, 0, 0, 106, 0, 1, 0x51, 0x80, 0, 100];
    assert_eq!(last[MESSAGE..][..18], front);
    assert_eq!(last[MESSAGE + 18..][..TICKET], with.tickets[0].1);
    with.carries_data();
}

#[test]
fn a_session_is_resumed_by_its_ticket_as_often_as_it_is_presented() {
    let mut kept = kept(2);
    for seed in 3..6 {
        let mut pair = Pair::by_ticket(seed, CONFIG, Some(TICKET), kept);
        pair.keys.clear();
        pair.run(1000);
        assert_eq!((pair.seen.len(), pair.sent.len(), resumptions(&pair)), (2, 5, [1, 1]));
        assert_eq!((pair.kept[0].len(), pair.kept[1].len(), pair.tickets.len()), (1, 1, 1), "nothing is new");
        pair.carries_data();
        kept = (pair.kept, pair.tickets);
    }
}

#[test]
fn a_resumption_may_bring_another_ticket() {
    let mut pair = Pair::by_ticket(7, CONFIG, Some(TICKET), kept(7));
    pair.renews = true;
    pair.run(1000);
    assert_eq!((pair.seen.len(), pair.sent.len(), resumptions(&pair)), (2, 5, [1, 1]));
    assert_eq!((pair.kept[0].len(), pair.tickets.len()), (2, 2));
    pair.carries_data();
    let mut again = Pair::by_ticket(8, CONFIG, Some(TICKET), (pair.kept, pair.tickets));
    again.run(1000);
    assert_eq!((again.seen.len(), resumptions(&again)), (2, [1, 1]));
}

#[test]
fn a_ticket_that_the_server_does_not_take_is_followed_by_a_new_session_with_another() {
    let ([of_client, _], tickets) = kept(9);
    let mut pair = Pair::by_ticket(9, CONFIG, Some(TICKET), ([of_client, Vec::new()], tickets));
    pair.run(1000);
    assert_eq!((pair.seen.len(), pair.sent.len(), resumptions(&pair)), (2, 6, [0, 0]));
    assert_eq!((pair.kept[0].len(), pair.tickets.len()), (2, 2));
    // A server that gives none gives an id.
    let ([of_client, _], tickets) = kept(10);
    let mut pair = Pair::by_ticket(10, CONFIG, None, ([of_client, Vec::new()], tickets));
    pair.run(1000);
    assert_eq!((pair.seen.len(), resumptions(&pair), pair.tickets.len()), (2, [0, 0], 1));
    assert_eq!(pair.kept[0].last().unwrap().session_id().len(), SESSION_ID);
    // By that the session is resumed, though a ticket is asked for.
    let mut again = Pair::by_ticket(11, CONFIG, Some(TICKET), (pair.kept, Vec::new()));
    again.run(1000);
    assert_eq!((again.seen.len(), resumptions(&again), again.tickets.len()), (2, [1, 1], 0));
}

#[test]
fn a_client_that_has_no_tickets_begins_a_new_session_when_it_has_no_id_to_resume_one_by() {
    let ([of_client, _], _) = kept(30);
    assert_eq!(of_client[0].session_id(), b"");
    // Neither hello names a session, which does not mean that both name the same.
    let mut pair = Ends::<Full, Full>::resuming(30, Config::HOST, [of_client, Vec::new()]);
    pair.run(1000);
    assert_eq!((pair.seen.len(), resumptions(&pair)), (2, [0, 0]));
    assert!(pair.connected());
    pair.carries_data();
}

/// As Mbed TLS makes one anew.
#[test]
fn the_id_of_who_presents_a_ticket_may_be_another_in_the_second_hello() {
    for (by_ticket, resumed) in [(true, [1, 1]), (false, [0, 0])] {
        let mut pair = if by_ticket {
            Pair::by_ticket(12, CONFIG, Some(TICKET), kept(12))
        } else {
            let mut full = Pair::new(12, CONFIG);
            full.run(1000);
            Pair::resuming(12, CONFIG, full.kept)
        };
        pair.fate = Box::new(|index, _, mut datagram| {
            // Behind the version and the random value, in the first hello only.
            if index == 0 {
                datagram[MESSAGE + 12 + 2 + 32 + 1] ^= 1;
            }
            vec![(DELAY, datagram)]
        });
        pair.run(1000);
        assert_eq!(resumptions(&pair), resumed);
    }
}

#[test]
fn an_empty_ticket_is_none() {
    let mut pair = Pair::by_ticket(12, CONFIG, Some(0), NOTHING);
    pair.run(1000);
    assert_eq!((pair.seen.len(), pair.tickets.len(), pair.kept[0].len()), (2, 0, 0));
    pair.carries_data();
}

/// With public keys and tickets of at most 40 bytes.
struct Small;

impl Profile for Small {
    const SUITE: Option<Suite> = None;
    const CONNECTION_IDS: bool = false;
    const RECORD_LIMITS: bool = false;
    const RESUMPTION: bool = true;
    type RoundTrip = ();
    type Features = Features<(), SessionTickets<40, { message_buffer(NewSessionTicket::HEADER + 40) }>>;
}

#[test]
fn a_ticket_that_a_client_has_no_room_for_is_part_of_what_is_proved_and_not_kept() {
    for (length, kept) in [(40, 1), (41, 0), (MAX_TICKET, 0)] {
        let mut pair = Ends::<Small, Ticketed>::by_ticket(13, CONFIG, Some(length), NOTHING);
        pair.run(1000);
        assert_eq!((pair.seen.len(), pair.tickets.len(), pair.kept[0].len()), (2, kept, kept));
        pair.carries_data();
    }
    // A server with so little room does not look at a longer one.
    let mut pair = Ends::<Ticketed, Small>::by_ticket(14, CONFIG, Some(40), kept(14));
    pair.run(1000);
    assert_eq!((pair.seen.len(), resumptions(&pair)), (2, [0, 0]));
}

/// A client that has room for short tickets only.
type Short = Ends<Small, Ticketed>;

#[test]
fn a_ticket_that_a_client_has_no_room_for_is_passed_over_in_whatever_pieces_it_comes() {
    for (max_datagram, length) in [(64, 41), (64, 300), (128, MAX_TICKET), (600, MAX_TICKET)] {
        let config = Config { max_datagram, ..CONFIG };
        let mut full = Short::by_ticket(26, config, Some(length), NOTHING);
        full.run(1000);
        assert_eq!((full.seen.len(), full.tickets.len()), (2, 0), "{max_datagram} {length}: {:?}", full.seen);
        full.carries_data();
        // A resumption by a short one, which brings a long one.
        let mut first = Short::by_ticket(27, CONFIG, Some(30), NOTHING);
        first.run(1000);
        let mut resumed = Short::by_ticket(28, config, Some(length), (first.kept, first.tickets));
        resumed.renews = true;
        resumed.run(1000);
        assert_eq!((resumed.seen.len(), resumptions(&resumed), resumed.tickets.len()), (2, [1, 1], 1));
        resumed.carries_data();
    }
}

/// A fragment of a NewSessionTicket whose body has so many bytes, as anyone may send it.
fn fragment(message_seq: u8, length: u32, offset: usize, bytes: &[u8]) -> Vec<u8> {
    let record = [22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 99];
    let [_, length @ ..] = length.to_be_bytes();
    let [[_, offset @ ..], [_, size @ ..]] = [offset, bytes.len()].map(|n| (n as u32).to_be_bytes());
    let message = [&[4][..], &length, &[0, message_seq], &offset, &size, bytes].concat();
    [&record[..], &(message.len() as u16).to_be_bytes(), &message].concat()
}

/// Cuts the ticket in a server's last flight into these pieces, behind which comes all that is behind it.
fn cut(datagram: &[u8], pieces: &[std::ops::Range<usize>]) -> Vec<Vec<u8>> {
    let (message, rest) =
        datagram[MESSAGE..].split_at(u16::from_be_bytes([datagram[11], datagram[12]]).into());
    let body = &message[12..];
    let cut = |range: &std::ops::Range<usize>| {
        fragment(message[5], body.len() as u32, range.start, &body[range.clone()])
    };
    pieces.iter().map(cut).chain([rest.to_vec()]).collect()
}

#[test]
fn pieces_of_a_ticket_that_is_passed_over_come_again_overlap_and_in_another_order() {
    let body = NewSessionTicket::HEADER + TICKET;
    for (pieces, again) in [
        (vec![0..50, 50..body], 0),
        (vec![0..50, 0..50, 20..80, 79..80, 10..body, 0..body], 0),
        (vec![0..50, 50..50, 50..body], 0),
        // One that comes too early has to come again.
        (vec![50..body, 0..50], 1),
        (vec![70..body, 30..70, 0..30], 2),
    ] {
        let mut pair = Short::by_ticket(29, CONFIG, Some(TICKET), NOTHING);
        let those = pieces.clone();
        pair.fate = Box::new(move |index, from, datagram| {
            if index < 5 || from == Side::Client {
                return vec![(DELAY, datagram)];
            }
            cut(&datagram, &those)
                .into_iter()
                .enumerate()
                .map(|(n, piece)| (DELAY + n as u32, piece))
                .collect()
        });
        pair.run(200_000);
        assert_eq!((pair.seen.len(), pair.tickets.len()), (2, 0), "{pieces:?}: {:?}", pair.seen);
        assert_eq!(pair.sent.len(), 6 + 2 * again, "{pieces:?}");
        assert_eq!(pair.here.count(Counter::DtlsReassemblyFull) > 0, again > 0, "{pieces:?}");
        pair.carries_data();
    }
}

#[test]
fn forged_pieces_of_a_ticket_cost_a_retransmission_at_most() {
    let body = (NewSessionTicket::HEADER + TICKET) as u32;
    let junk = [0xee; 40];
    for (length, forged, again) in [
        // Of the true one, whose rest is then the rest of this.
        (TICKET, fragment(3, body, 0, &junk), true),
        // Of another, in whose place the true one comes.
        (TICKET, fragment(3, body + 1, 0, &junk), false),
        (30, fragment(3, body, 0, &junk), false),
        (TICKET, fragment(3, (1 << 24) - 1, 0, &junk), false),
        (TICKET, fragment(3, body, 10, &junk), false),
        (TICKET, fragment(4, body, 0, &junk), false),
        // A whole one.
        (30, fragment(3, 100, 0, &[0xee; 100]), true),
    ] {
        for at in [5 * DELAY + 1, 6 * DELAY - 1] {
            let mut pair = Short::by_ticket(30, CONFIG, Some(length), NOTHING);
            pair.inject(Side::Client, at, forged.clone());
            pair.run(200_000);
            assert_eq!((pair.seen.len(), pair.tickets.len()), (2, usize::from(length == 30)), "{forged:?}");
            assert_eq!(pair.sent.len(), if again { 8 } else { 6 }, "{forged:?}");
            pair.carries_data();
        }
    }
}

/// Each datagram has its chance of loss and takes its own time.
fn rough(seed: u32) -> pair::Fate {
    let mut random = Random::new(seed);
    let loss = 20 + seed % 21;
    Box::new(move |_, _, datagram| {
        let copies = if random.below(10) == 0 { 2 } else { 1 };
        let kept = (0..copies).filter(|_| random.below(100) >= loss).collect::<Vec<_>>();
        kept.into_iter().map(|_| (DELAY + random.below(1500), datagram.clone())).collect()
    })
}

#[test]
fn tickets_survive_loss_reordering_repetition_and_cuts() {
    let patient = Config { retransmissions: 30, linger: Duration::from_secs(3600), ..CONFIG };
    for seed in 0..200 {
        let max_datagram = [64, 80, 128, 1200][seed as usize % 4];
        let length = [1, 60, 245, 500, MAX_TICKET][seed as usize % 5];
        let config = Config { max_datagram, ..patient };
        let mut full = Pair::by_ticket(seed, config, Some(length), NOTHING);
        full.fate = rough(seed);
        full.run(1_500_000);
        assert!(full.connected(), "seed {seed}: {:?}", full.seen);
        assert_eq!((full.tickets.len(), full.tickets[0].1.len()), (1, length), "seed {seed}");
        full.carries_data();
        let mut pair = Pair::by_ticket(seed, config, Some(length), (full.kept, full.tickets));
        pair.renews = seed % 2 == 0;
        pair.lookup = (seed % 3) * 400;
        pair.fate = rough(seed + 1000);
        pair.run(1_500_000);
        assert!(pair.connected(), "seed {seed}: {:?}", pair.seen);
        assert_eq!(resumptions(&pair), [1, 1], "seed {seed}");
        assert_eq!(pair.tickets.len(), if pair.renews { 2 } else { 1 }, "seed {seed}");
        pair.carries_data();
    }
}

#[test]
fn tickets_that_are_passed_over_survive_loss_reordering_repetition_and_cuts() {
    let patient = Config { retransmissions: 60, linger: Duration::from_secs(7200), ..CONFIG };
    for seed in 0..60 {
        let max_datagram = [64, 80, 128, 1200][seed as usize % 4];
        let length = [41, 100, 245][seed as usize % 3];
        let mut pair = Short::by_ticket(seed, Config { max_datagram, ..patient }, Some(length), NOTHING);
        pair.fate = rough(seed);
        pair.run(5_000_000);
        assert!(pair.connected(), "seed {seed}: {:?}", pair.seen);
        assert_eq!(pair.tickets.len(), 0, "seed {seed}");
        pair.carries_data();
    }
}

#[test]
fn a_ticket_that_comes_behind_the_proof_costs_no_timeout() {
    // The ticket is in the sixth datagram, the proof in the seventh.
    let mut pair = Pair::by_ticket(15, Config { max_datagram: 128, ..CONFIG }, Some(TICKET), NOTHING);
    pair.fate = Box::new(|index, _, datagram| vec![(if index == 5 { 5 * DELAY } else { DELAY }, datagram)]);
    pair.run(20 * DELAY);
    assert_eq!((pair.seen.len(), pair.sent.len(), pair.tickets.len()), (2, 7, 1));
}

/// A NewSessionTicket as anyone may send it.
fn forged(message_seq: u8, length: u8) -> Vec<u8> {
    let body = [&[0, 0, 0, 9, 0, length][..], &vec![0xee; length.into()]].concat();
    fragment(message_seq, body.len() as u32, 0, &body)
}

#[test]
fn a_forged_ticket_costs_a_retransmission_at_most() {
    for length in [40, 60] {
        // To a client that keeps it, and to one that has no room for it.
        let mut full = Ends::<Small, Ticketed>::by_ticket(16, CONFIG, Some(30), NOTHING);
        full.inject(Side::Client, 5 * DELAY + 1, forged(3, length));
        full.run(10_000);
        assert_eq!((full.seen.len(), full.tickets.len(), full.tickets[0].1.len()), (2, 1, 30), "{length}");
        assert_eq!(full.sent.len(), 6 + 2, "it was taken");
        full.carries_data();
        let kept = (full.kept.clone(), full.tickets.clone());
        let mut resumed = Ends::<Small, Ticketed>::by_ticket(17, CONFIG, Some(30), kept);
        resumed.renews = true;
        // The server's hello goes first.
        resumed.config.max_datagram = 110;
        resumed.fate = Box::new(|index, _, datagram| vec![(DELAY * (1 + index as u32 / 4), datagram)]);
        resumed.inject(Side::Client, 4 * DELAY + 1, forged(2, length));
        resumed.run(10_000);
        assert_eq!((resumed.seen.len(), resumptions(&resumed), resumed.tickets.len()), (2, [1, 1], 2));
        assert!(resumed.here.count(Counter::DtlsRetransmissions) > 0, "it was taken");
        resumed.carries_data();
    }
}

#[test]
fn an_unwanted_ticket_is_not_taken() {
    let mut pair = Pair::new(18, CONFIG);
    pair.inject(Side::Client, 5 * DELAY + 1, forged(3, 40));
    pair.run(1000);
    assert_eq!((pair.seen.len(), pair.tickets.len()), (2, 0));
    pair.carries_data();
}

/// A datagram whose first message, a hello, loses the extended master secret.
fn without_extended_master_secret(mut datagram: Vec<u8>) -> Vec<u8> {
    let at = datagram.windows(4).position(|window| window == [0, 0x17, 0, 0]).unwrap();
    datagram.drain(at..at + 4);
    // The lengths of the record, the message, its fragment and the extensions, each of two bytes.
    for length in [11, 15, 23, at - 2] {
        let shorter = u16::from_be_bytes([datagram[length], datagram[length + 1]]) - 4;
        datagram[length..length + 2].copy_from_slice(&shorter.to_be_bytes());
    }
    datagram
}

/// [RFC 7627 section 5.3](https://www.rfc-editor.org/rfc/rfc7627#section-5.3)
#[test]
fn a_ticket_is_neither_given_nor_taken_without_the_extended_master_secret() {
    for (kept, side, hello) in [
        (kept(19), Side::Client, HandshakeType::CLIENT_HELLO),
        (kept(20), Side::Server, HandshakeType::SERVER_HELLO),
    ] {
        let mut pair = Pair::by_ticket(19, CONFIG, Some(TICKET), kept);
        pair.fate = Box::new(move |_, from, datagram| {
            let altered = (from, datagram[MESSAGE]) == (side, hello.0);
            vec![(DELAY, if altered { without_extended_master_secret(datagram) } else { datagram })]
        });
        pair.run(200_000);
        assert!(pair.seen.iter().all(|(_, seen)| *seen != Seen::Connected), "{:?}", pair.seen);
    }
    // A client that leaves it out is promised none.
    let mut pair = Pair::by_ticket(21, CONFIG, Some(TICKET), NOTHING);
    pair.fate = Box::new(|_, from, datagram| {
        let altered = (from, datagram[MESSAGE]) == (Side::Client, HandshakeType::CLIENT_HELLO.0);
        vec![(DELAY, if altered { without_extended_master_secret(datagram) } else { datagram })]
    });
    pair.run(2000);
    let answer = &pair.sent[3].2;
    assert_eq!((pair.sent[3].1, answer[MESSAGE]), (Side::Server, HandshakeType::SERVER_HELLO.0));
    assert!(!answer.windows(4).any(|window| window == [0, 0x23, 0, 0]));
}

#[test]
fn who_has_a_ticket_but_not_the_secret_is_refused() {
    let ([_, of_server], tickets) = kept(22);
    let ([another, _], _) = kept(23);
    let mut pair = Pair::by_ticket(24, CONFIG, Some(TICKET), ([another, of_server], tickets));
    pair.run(200_000);
    assert!(
        pair.seen.contains(&(Side::Client, Seen::Failed(Failure::Authentication(Refusal::WrongKey)))),
        "{:?}",
        pair.seen
    );
    assert!(pair.seen.iter().all(|(_, seen)| *seen != Seen::Connected), "{:?}", pair.seen);
    assert_eq!(resumptions(&pair), [0, 0]);
}

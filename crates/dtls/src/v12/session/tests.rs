//! What an authentic peer may say: records made with the session's own keys.

extern crate std;
use std::vec;
use std::vec::Vec;

use sixlock_base::Counter;
use sixlock_crypto::Soft;
use sixlock_dtls_msg::{ContentType, HandshakeHeader, HandshakeType, RECORD_HEADER, RecordHeader};
use sixlock_testing::Rig;

use super::*;
use crate::Completion;
use crate::engine::epochs::Epoch;
use crate::engine::record::RecordCodec;
use crate::limit::MAX_CONTENT;
use crate::{CookieSecrets, Error, Event, Listen, RECORD_FRONT, RECORD_OVERHEAD, Work, listen};

type Inline<R> = Session<Soft, R, Handshake<Soft>>;

fn transmitted<R: Role<Profile = Full, Features = Features>>(
    rig: &mut Rig,
    session: &mut Inline<R>,
) -> Vec<u8> {
    let mut out = vec![0; 512];
    let length = session.poll_transmit(&mut rig.cx(), &mut out).unwrap_or(0);
    out.truncate(length);
    out
}

/// A client and a server that are connected.
fn connected() -> (Rig, Inline<Client>, Inline<Server>) {
    let mut rig = Rig::seeded(0);
    let secrets = CookieSecrets::new(&mut rig.entropy);
    let mut client: Inline<Client> = Session::client(&mut rig.cx(), Config::HOST, None, Handshake::new());
    let hello = transmitted(&mut rig, &mut client);
    let mut out = [0; 64];
    let Listen::Reply(length) = listen(&mut rig.cx(), &secrets, b"peer", &hello, &mut out) else {
        panic!("a cookie comes first")
    };
    client.handle_all(&mut rig.cx(), &mut out[..length], |_| ());
    let hello = transmitted(&mut rig, &mut client);
    let Listen::Accept(hello) = listen(&mut rig.cx(), &secrets, b"peer", &hello, &mut out) else {
        panic!("the cookie is good")
    };
    let mut server: Inline<Server> = Session::server(&mut rig.cx(), &hello, Config::HOST, Handshake::new());
    let mut flight = transmitted(&mut rig, &mut server);
    client.handle_all(&mut rig.cx(), &mut flight, |_| ());
    client.complete(&mut rig.cx(), Completion::Psk { identity: b"identity", key: b"key" }).unwrap();
    let mut flight = transmitted(&mut rig, &mut client);
    server.handle_all(&mut rig.cx(), &mut flight, |_| ());
    assert_eq!(server.poll_event(), Some(Event::Work(Work::Psk { identity: b"identity" })));
    server.complete(&mut rig.cx(), Completion::Psk { identity: b"", key: b"key" }).unwrap();
    let mut flight = transmitted(&mut rig, &mut server);
    client.handle_all(&mut rig.cx(), &mut flight, |_| ());
    assert_eq!(server.poll_event(), Some(Event::Connected));
    assert_eq!(client.poll_event(), Some(Event::Connected));
    (rig, client, server)
}

/// Whether there are keys.
fn has_keys<R: Role>(session: &Session<Soft, R, Handshake<Soft>>) -> bool {
    session.epochs.0.codec.is_full()
}

/// A record that `from` sends.
fn sealed<R: Role<Profile = Full, Features = Features>>(
    from: &mut Inline<R>,
    content_type: ContentType,
    content: &[u8],
) -> Vec<u8> {
    let mut record = vec![0; content.len() + RECORD_OVERHEAD];
    record[RECORD_FRONT..RECORD_FRONT + content.len()].copy_from_slice(content);
    let Epoch { codec, write_sequence, .. } = &mut from.epochs.0;
    let number = write_sequence.unwrap();
    *write_sequence = number.next();
    let protection = codec.get().unwrap();
    protection.seal(&mut Soft, content_type, number, &mut record, content.len()).unwrap();
    record
}

/// What `to` reads in a record.
fn opened<R: Role<Profile = Full, Features = Features>>(
    to: &Inline<R>,
    mut record: Vec<u8>,
) -> (ContentType, Vec<u8>) {
    let header = RecordHeader::parse(&record).unwrap();
    let protection = to.epochs.0.codec.get().unwrap();
    let (content_type, content) =
        protection.open(&mut Soft, &header, to.own_id(), &mut record[RECORD_HEADER..]).unwrap();
    (content_type, content.to_vec())
}

#[test]
fn a_renegotiation_is_refused_by_a_warning() {
    let (mut rig, mut client, mut server) = connected();
    let request = HandshakeHeader::whole(HandshakeType::HELLO_REQUEST, 9, 0).to_bytes();
    let mut record = sealed(&mut server, ContentType::Handshake, &request);
    client.handle_all(&mut rig.cx(), &mut record, |_| ());
    let answer = transmitted(&mut rig, &mut client);
    assert_eq!(opened(&server, answer), (ContentType::Alert, vec![1, 100]));

    let hello = HandshakeHeader::whole(HandshakeType::CLIENT_HELLO, 9, 0).to_bytes();
    let mut record = sealed(&mut client, ContentType::Handshake, &hello);
    server.handle_all(&mut rig.cx(), &mut record, |_| ());
    let answer = transmitted(&mut rig, &mut server);
    assert_eq!(opened(&client, answer), (ContentType::Alert, vec![1, 100]));
    assert!(client.is_connected() && server.is_connected());
}

#[test]
fn an_authentic_fatal_alert_ends_the_session_and_a_warning_does_not() {
    let (mut rig, mut client, mut server) = connected();
    let mut warning = sealed(&mut server, ContentType::Alert, &[1, 90]);
    client.handle_all(&mut rig.cx(), &mut warning, |_| ());
    assert!(client.is_connected());
    let mut fatal = sealed(&mut server, ContentType::Alert, &[2, 80]);
    client.handle_all(&mut rig.cx(), &mut fatal, |_| ());
    assert_eq!(client.poll_event(), Some(Event::Failed(Failure::Alert(AlertDescription(80)))));
    assert!(client.is_over() && !has_keys(&client));
}

#[test]
fn a_handshake_that_is_given_up_fails_by_what_it_has_a_clue_of_and_a_session_stays() {
    for (alert, failure) in [(None, Failure::TimedOut), (Some(80), Failure::Refused(AlertDescription(80)))] {
        let mut rig = Rig::seeded(0);
        let mut client: Inline<Client> = Session::client(&mut rig.cx(), Config::HOST, None, Handshake::new());
        if let Some(alert) = alert {
            let mut record = [21, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, alert];
            client.handle_all(&mut rig.cx(), &mut record, |_| ());
        }
        assert!(client.awaits_hello() && client.poll_event().is_none());
        client.give_up(&mut rig.cx());
        assert_eq!(client.poll_event(), Some(Event::Failed(failure)));
        assert!(client.is_over() && !client.awaits_hello());
    }
    let (mut rig, mut client, _) = connected();
    client.give_up(&mut rig.cx());
    assert!(client.is_connected() && !client.awaits_hello());
}

#[test]
fn a_close_is_answered_by_a_close() {
    let (mut rig, mut client, mut server) = connected();
    client.close();
    let mut close = transmitted(&mut rig, &mut client);
    server.handle_all(&mut rig.cx(), &mut close, |_| ());
    assert_eq!(server.poll_event(), Some(Event::Closed));
    let answer = transmitted(&mut rig, &mut server);
    assert_eq!(answer.len(), RECORD_OVERHEAD + 2);
    assert!(client.is_over() && server.is_over() && !has_keys(&server));
}

#[test]
fn the_last_sequence_number_is_used_once_and_none_after_it() {
    let (mut rig, mut client, mut server) = connected();
    client.epochs.0.write_sequence = Some(SequenceNumber::MAX);
    let mut buffer = [0; 64];
    let length = client.seal(&mut rig.cx(), &mut buffer, 4).unwrap();
    assert!(server.handle(&mut rig.cx(), &mut buffer[..length]).data.is_some());
    assert_eq!(client.seal(&mut rig.cx(), &mut buffer, 4), Err(Error::SequenceExhausted));
}

#[test]
fn the_handshake_is_dropped_when_data_or_time_shows_that_it_is_done() {
    let (mut rig, mut client, mut server) = connected();
    assert!(server.handshake.get().is_some() && server.key_log().is_some());
    let mut buffer = [0; 64];
    let length = client.seal(&mut rig.cx(), &mut buffer, 4).unwrap();
    server.handle_all(&mut rig.cx(), &mut buffer[..length], |_| ());
    assert!(server.handshake.get().is_none() && server.poll_timeout().is_none());

    client.handle_timeout(&mut rig.cx());
    assert!(client.handshake.get().is_none());

    let (mut rig, _, mut server) = connected();
    rig.pass(Config::HOST.linger.millis());
    server.handle_timeout(&mut rig.cx());
    assert!(server.handshake.get().is_none() && server.is_connected());
}

#[test]
fn several_records_come_out_of_one_datagram() {
    let (mut rig, mut client, mut server) = connected();
    let mut datagram = sealed(&mut client, ContentType::ApplicationData, b"one");
    datagram.extend(sealed(&mut client, ContentType::ApplicationData, b""));
    datagram.extend(sealed(&mut client, ContentType::ApplicationData, b"two"));
    datagram.extend([0; 5]);
    let mut found = Vec::new();
    let mut rest = &mut datagram[..];
    while !rest.is_empty() {
        let received = server.handle(&mut rig.cx(), rest);
        found.extend(received.data.map(|data| data.to_vec()));
        rest = received.rest;
    }
    assert_eq!(found, [b"one", b"two"]);
    assert_eq!(rig.count(Counter::DtlsMalformed), 1);
}

#[test]
fn keys_and_identities_beyond_their_bounds_are_refused_and_work_stays() {
    let mut rig = Rig::seeded(0);
    let mut client: Inline<Client> = Session::client(&mut rig.cx(), Config::HOST, None, Handshake::new());
    assert_eq!(
        client.complete(&mut rig.cx(), Completion::Psk { identity: b"i", key: b"k" }),
        Err(Error::NoWork)
    );
    let (mut rig, mut client, _) = connected();
    assert_eq!(
        client.complete(&mut rig.cx(), Completion::Psk { identity: b"i", key: b"k" }),
        Err(Error::NoWork)
    );
    let mut buffer = [0; 40];
    assert_eq!(client.seal(&mut rig.cx(), &mut buffer, 12), Err(Error::TooLong));
    assert!(client.seal(&mut rig.cx(), &mut buffer, 11).is_ok());
}

#[test]
fn a_record_takes_no_more_than_it_may() {
    let (mut rig, mut client, mut server) = connected();
    let most = usize::from(MAX_CONTENT);
    let longest = vec![7; most + 1];
    for (length, taken) in [(most, true), (most + 1, false)] {
        let mut buffer = vec![0; length + RECORD_OVERHEAD];
        assert_eq!(client.seal(&mut rig.cx(), &mut buffer, length).is_ok(), taken);
        let mut record = sealed(&mut client, ContentType::ApplicationData, &longest[..length]);
        assert_eq!(server.handle(&mut rig.cx(), &mut record).data.is_some(), taken);
    }
    assert_eq!(rig.count(Counter::DtlsBadRecord), 1);
}

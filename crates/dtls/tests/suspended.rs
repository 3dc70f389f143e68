//! Server's sessions that are suspended and gone on with, as a cloud does it that ends in order.

use proptest::prelude::*;
use sixlock_base::Counter;
use sixlock_crypto::{SmallKeys, Soft};
use sixlock_dtls::{
    ClientSession, Completion, Config, ConnectionId, CookieSecrets, Event, Full, Handshake, Listen,
    MAX_RECORD_OVERHEAD, RECORD_FRONT, SUSPENDED, ServerSession, Suite, Suites, Suspended, Work, listen,
};
use sixlock_testing::{Random, Rig};

type HandshakeBox<C> = Option<Box<Handshake<C>>>;
type Client = ClientSession<Soft, HandshakeBox<Soft>>;
type Server = ServerSession<SmallKeys, HandshakeBox<SmallKeys>, Full>;

struct Pair {
    here: Rig<Soft>,
    there: Rig<SmallKeys>,
    client: Client,
    server: Server,
    /// The numbers of the records that the server sent.
    numbers: Vec<u64>,
}

/// What [`RECORD_FRONT`] leaves before the data, and room behind it.
fn room(data: &[u8]) -> Vec<u8> {
    let mut buffer = vec![0; data.len() + MAX_RECORD_OVERHEAD];
    buffer[RECORD_FRONT..RECORD_FRONT + data.len()].copy_from_slice(data);
    buffer
}

macro_rules! transmitted {
    ($rig:expr, $session:expr) => {{
        let mut out = vec![0; 512];
        let length = $session.poll_transmit(&mut $rig.cx(), &mut out).unwrap_or(0);
        out.truncate(length);
        out
    }};
}

impl Pair {
    /// A client and a server that are connected, by a handshake of which the server's last flight may not have arrived yet.
    fn connected(suites: Suites, ids: [Option<ConnectionId>; 2]) -> Self {
        let (mut here, mut there) = (Rig::seeded(1), Rig::new(SmallKeys::default(), Random::new(2)));
        let secrets = CookieSecrets::new(&mut there.entropy);
        let [client, server] =
            ids.map(|connection_id| Config { suites, connection_id, max_datagram: 512, ..Config::HOST });
        let mut client: Client =
            Client::client(&mut here.cx(), client, None, Some(Box::new(Handshake::new())));
        let hello = transmitted!(here, client);
        let mut out = [0; 128];
        let Listen::Reply(length) = listen(&mut there.cx(), &secrets, b"peer", &hello, &mut out) else {
            panic!("a cookie comes first")
        };
        client.handle_all(&mut here.cx(), &mut out[..length], |_| ());
        let hello = transmitted!(here, client);
        let Listen::Accept(hello) = listen(&mut there.cx(), &secrets, b"peer", &hello, &mut out) else {
            panic!("the cookie is good")
        };
        let mut server: Server =
            Server::server(&mut there.cx(), &hello, server, Some(Box::new(Handshake::new())));
        let mut flight = transmitted!(there, server);
        client.handle_all(&mut here.cx(), &mut flight, |_| ());
        client.complete(&mut here.cx(), Completion::Psk { identity: b"identity", key: b"key" }).unwrap();
        let mut flight = transmitted!(here, client);
        server.handle_all(&mut there.cx(), &mut flight, |_| ());
        assert_eq!(server.poll_event(), Some(Event::Work(Work::Psk { identity: b"identity" })));
        server.complete(&mut there.cx(), Completion::Psk { identity: b"", key: b"key" }).unwrap();
        let mut flight = transmitted!(there, server);
        client.handle_all(&mut here.cx(), &mut flight, |_| ());
        assert!(client.is_connected() && server.is_connected());
        Self { here, there, client, server, numbers: Vec::new() }
    }

    fn said(&mut self, data: &[u8]) -> Vec<u8> {
        let mut record = room(data);
        let length = self.client.seal(&mut self.here.cx(), &mut record, data.len()).unwrap();
        record.truncate(length);
        record
    }

    fn answered(&mut self, data: &[u8]) -> Vec<u8> {
        let mut record = room(data);
        let length = self.server.seal(&mut self.there.cx(), &mut record, data.len()).unwrap();
        record.truncate(length);
        // It stands behind the type, the version and the epoch.
        self.numbers.push(record[5..11].iter().fold(0, |number, byte| number << 8 | u64::from(*byte)));
        record
    }

    /// What the server hears in a record.
    fn hears(&mut self, record: &[u8]) -> Option<Vec<u8>> {
        let mut record = record.to_vec();
        self.server.handle(&mut self.there.cx(), &mut record).data.map(|data| data.to_vec())
    }

    /// Data goes both ways.
    fn carries(&mut self, data: &[u8]) {
        let record = self.said(data);
        assert_eq!(self.hears(&record).as_deref(), Some(data));
        let mut record = self.answered(data);
        let received = self.client.handle(&mut self.here.cx(), &mut record);
        assert_eq!(received.data.as_deref(), Some(data));
    }

    /// The program ends and another begins.
    fn restart(&mut self, skipped: u64) {
        let server = std::mem::replace(&mut self.server, Server::new(None));
        let suspended = server.suspend().unwrap();
        let suspended = Suspended::from_bytes(suspended.bytes()).unwrap();
        self.server = Server::wake(&suspended, skipped, None).unwrap();
    }
}

fn id(bytes: &[u8]) -> Option<ConnectionId> {
    ConnectionId::new(bytes)
}

#[test]
fn a_session_goes_on_both_ways_with_each_suite_and_with_connection_ids_or_without() {
    const SUITES: [Suites; 3] = [
        Suites::new(&[Suite::PskAes128Ccm8]),
        Suites::new(&[Suite::PskAes128Ccm]),
        Suites::new(&[Suite::PskAes128Gcm]),
    ];
    for suites in SUITES {
        for ids in [[None, None], [id(&[]), id(&[1, 2, 3])], [id(&[9; 8]), id(&[7; 8])]] {
            let mut pair = Pair::connected(suites, ids);
            pair.restart(0);
            for n in 0..4 {
                pair.carries(&[n; 5]);
                assert_eq!(pair.server.connection_id(), ids[1].as_ref().map_or(&[][..], |id| id.bytes()));
                pair.restart(u64::from(n) * 1000);
                assert!(pair.server.is_connected() && pair.server.poll_event().is_none());
            }
            assert!(pair.numbers.is_sorted_by(|before, after| before < after), "{:?}", pair.numbers);
            assert_eq!(pair.there.count(Counter::DtlsHandshakes), 1);
            pair.server.close();
            let mut goodbye = transmitted!(pair.there, pair.server);
            pair.client.handle_all(&mut pair.here.cx(), &mut goodbye, |_| ());
            assert!(!pair.client.is_connected());
        }
    }
}

#[test]
fn what_was_received_before_is_not_received_again_and_what_was_under_way_is() {
    let mut pair = Pair::connected(Suites::CCM_8, [None, None]);
    let records: Vec<_> = (0..10).map(|n| pair.said(&[n])).collect();
    for n in [0, 2, 9] {
        assert!(pair.hears(&records[n]).is_some());
    }
    pair.restart(0);
    for (n, record) in records.iter().enumerate() {
        assert_eq!(pair.hears(record).is_some(), ![0, 2, 9].contains(&n), "record {n}");
        assert_eq!(pair.hears(record), None);
    }
}

#[test]
fn a_session_is_put_away_only_while_it_is_connected_and_woken_only_while_numbers_are_left() {
    let mut pair = Pair::connected(Suites::CCM_8, [None, None]);
    pair.carries(b"data");
    let suspended = std::mem::replace(&mut pair.server, Server::new(None)).suspend().unwrap();
    assert!(Server::new(None).suspend().is_none(), "it has not begun");
    let next = pair.numbers[0] + 1;
    assert!(Server::wake(&suspended, (1 << 48) - next, None).is_none());
    assert!(Server::wake(&suspended, u64::MAX, None).is_none());
    pair.server = Server::wake(&suspended, (1 << 48) - next - 1, None).unwrap();
    pair.carries(b"the last number");
    assert!(pair.server.seal(&mut pair.there.cx(), &mut room(b"more"), 4).is_err());
    assert!(std::mem::replace(&mut pair.server, Server::new(None)).suspend().is_none(), "no number is left");
    let mut pair = Pair::connected(Suites::CCM_8, [None, None]);
    pair.server.close();
    assert!(pair.server.suspend().is_none(), "it is over");
}

proptest! {
    #[test]
    fn any_bytes_are_a_session_or_refused(mut bytes in prop::collection::vec(any::<u8>(), SUSPENDED), form in 0u8..3, id in 0u8..12) {
        bytes[0] = form;
        bytes[1..3].copy_from_slice(&[0xc0, 0xa8]);
        bytes[63] = id;
        bytes[72] = 0;
        let woken = Suspended::from_bytes(&bytes).and_then(|suspended| Server::wake(&suspended, 0, None));
        prop_assert_eq!(woken.is_some(), form == 1 && id <= 8);
        if let Some(woken) = woken {
            let (mut before, after) = (bytes, woken.suspend().unwrap());
            // What stands behind an id is nothing.
            before[64 + usize::from(id)..72].fill(0);
            before[73..81].fill(0);
            prop_assert_eq!(&before[..], &after.bytes()[..]);
        }
        prop_assert!(Suspended::from_bytes(&[1; SUSPENDED - 1]).is_none());
    }
}

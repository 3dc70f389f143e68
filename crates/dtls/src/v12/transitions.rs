//! What each state of both roles does with everything that can come, as tables: `tests/transitions/`. Each line is a session that was
//! brought to its state by a real peer.

extern crate std;
use std::boxed::Box;
use std::collections::VecDeque;
use std::format;
use std::fs;
use std::path::Path;
use std::string::String;
use std::vec;
use std::vec::Vec;

use sixlock_base::Cx;
use sixlock_crypto::Soft;
use sixlock_crypto::p256::P256 as _;
use sixlock_dtls_msg::{
    AlertDescription, CertificateType, ContentType, HandshakeHeader, HandshakeType, RECORD_HEADER,
    RecordHeader, SequenceNumber, Version,
};
use sixlock_testing::{Random, Ranges, Rig};

use super::client::Client;
use super::schedule;
use super::server::Server;
use super::session::Handshake;
use super::version::Version12;
use crate::engine::epochs::Epochs;
use crate::engine::handshake::HandshakeSlot;
use crate::engine::record::{PLAIN, RecordCodec};
use crate::engine::role::{HandshakeRole, Side};
use crate::session::{Phase, Session};
use crate::{
    Answer, Certificates, Completion, Config, CookieSecrets, Credentials, Event, Failure, Features, Listen,
    RECORD_FRONT, RECORD_OVERHEAD, SessionState, SessionTickets, Suite, Suites, TicketOffer, Ticketed,
    Trusted, Work, is_client_hello, listen, perform,
};

type Memory = Features<Certificates, SessionTickets>;
type Of<R> = Session<Soft, R, Handshake<Soft, Memory>>;
type Lent<'a> = Cx<'a, Soft, Random, Ranges>;

/// What the ends have, and how they meet.
struct Scenario {
    name: &'static str,
    suites: Suites,
    has_keys: bool,
    resumes: bool,
    gives_ticket: bool,
}

const PRE_SHARED: Scenario = Scenario {
    name: "psk",
    suites: Suites::new(&[Suite::PskAes128Ccm8]),
    has_keys: false,
    resumes: false,
    gives_ticket: false,
};

const SCENARIOS: [Scenario; 5] = [
    PRE_SHARED,
    Scenario { name: "ecdhe-psk", suites: Suites::new(&[Suite::EcdhePskAes128Ccm8]), ..PRE_SHARED },
    Scenario {
        name: "public-keys",
        suites: Suites::new(&[Suite::EcdheEcdsaAes128Ccm8]),
        has_keys: true,
        ..PRE_SHARED
    },
    Scenario { name: "resumption", resumes: true, ..PRE_SHARED },
    Scenario { name: "ticket", gives_ticket: true, ..PRE_SHARED },
];

/// A role whose state has a name.
trait StateName: HandshakeRole<Version = Version12<Memory>> {
    /// The other side.
    const PEER: Side;

    fn state(&self) -> String;
}

impl StateName for Client<Ticketed> {
    const PEER: Side = Side::Server;

    fn state(&self) -> String {
        format!("{:?}", self.debug_state())
    }
}

impl StateName for Server<Ticketed> {
    const PEER: Side = Side::Client;

    fn state(&self) -> String {
        format!("{:?}", self.debug_state())
    }
}

/// What comes.
#[derive(Clone, Copy)]
enum Stimulus {
    Message(&'static str, HandshakeType),
    AnotherFinished,
    Record(&'static str, ContentType, u16, &'static [u8]),
    BadRecord,
    Timeout,
    Timeouts,
    Completion(&'static str),
}

const MESSAGES: [(&str, HandshakeType); 12] = [
    ("HelloRequest", HandshakeType::HELLO_REQUEST),
    ("ClientHello", HandshakeType::CLIENT_HELLO),
    ("ServerHello", HandshakeType::SERVER_HELLO),
    ("HelloVerifyRequest", HandshakeType::HELLO_VERIFY_REQUEST),
    ("NewSessionTicket", HandshakeType::NEW_SESSION_TICKET),
    ("Certificate", HandshakeType::CERTIFICATE),
    ("ServerKeyExchange", HandshakeType::SERVER_KEY_EXCHANGE),
    ("CertificateRequest", HandshakeType::CERTIFICATE_REQUEST),
    ("ServerHelloDone", HandshakeType::SERVER_HELLO_DONE),
    ("CertificateVerify", HandshakeType::CERTIFICATE_VERIFY),
    ("ClientKeyExchange", HandshakeType::CLIENT_KEY_EXCHANGE),
    ("Finished", HandshakeType::FINISHED),
];

fn stimuli() -> Vec<Stimulus> {
    let messages = MESSAGES.map(|(name, kind)| Stimulus::Message(name, kind));
    let others = [
        Stimulus::AnotherFinished,
        Stimulus::Record("ChangeCipherSpec", ContentType::ChangeCipherSpec, PLAIN, &[1]),
        Stimulus::Record("unprotected alert", ContentType::Alert, PLAIN, &[2, 40]),
        Stimulus::Record("unprotected data", ContentType::ApplicationData, PLAIN, &[7; 8]),
        Stimulus::Record("fatal alert", ContentType::Alert, 1, &[2, 40]),
        Stimulus::Record("warning alert", ContentType::Alert, 1, &[1, 90]),
        Stimulus::Record("close_notify", ContentType::Alert, 1, &[1, 0]),
        Stimulus::Record("data", ContentType::ApplicationData, 1, &[7; 8]),
        Stimulus::BadRecord,
        Stimulus::Timeout,
        Stimulus::Timeouts,
    ];
    let completions =
        ["key", "no key", "result", "refusal", "no session", "session", "ticket"].map(Stimulus::Completion);
    [&messages[..], &others, &completions].concat()
}

impl Stimulus {
    fn name(self) -> String {
        match self {
            Self::Message(name, _) | Self::Record(name, ..) => name.into(),
            Self::AnotherFinished => "another Finished".into(),
            Self::BadRecord => "record that does not decrypt".into(),
            Self::Timeout => "timeout".into(),
            Self::Timeouts => "last timeout".into(),
            Self::Completion(what) => format!("complete: {what}"),
        }
    }
}

const PSK: Completion<'static> = Completion::Psk { identity: b"node", key: b"key" };

/// The state of a session, as its line says it.
fn state<R: StateName>(session: &Of<R>) -> String {
    let to_come = session.handshake.get().is_some_and(|parts| parts.state.parameters.awaits_ticket());
    match session.phase {
        Phase::Over => "over".into(),
        Phase::Connected => "connected".into(),
        Phase::Handshake if to_come => format!("{} (ticket to come)", session.role.state()),
        Phase::Handshake => session.role.state(),
    }
}

/// The records of a datagram.
fn records(mut datagram: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while let Ok(header) = RecordHeader::parse(datagram) {
        let (record, rest) = datagram.split_at(RECORD_HEADER + usize::from(header.length));
        all.push(record.to_vec());
        datagram = rest;
    }
    all
}

fn transmitted<R: StateName>(cx: &mut Lent<'_>, session: &mut Of<R>) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let mut out = [0; 2048];
    while let Some(length) = session.poll_transmit(cx, &mut out) {
        all.extend(records(&out[..length]));
    }
    all
}

/// What a record that was sent is.
fn kind_of(record: &[u8]) -> String {
    let name = |number| MESSAGES.iter().find(|(_, kind)| kind.0 == number).map_or("?", |(name, _)| name);
    match (record[0], record[4]) {
        (22, 0) => name(record[RECORD_HEADER]).into(),
        (22, _) => "Finished".into(),
        (20, _) => "ChangeCipherSpec".into(),
        (21, 0) => format!("alert {}", record[RECORD_HEADER + 1]),
        _ => "protected alert".into(),
    }
}

struct Keys {
    secrets: [[u8; 32]; 2],
    points: [[u8; 65]; 2],
}

impl Keys {
    fn new() -> Self {
        let secrets = [[1; 32], [2; 32]];
        Self { secrets, points: secrets.map(|secret| Soft.p256_public_key(&secret).unwrap()) }
    }

    fn credentials(&self, own: usize) -> &'static Credentials {
        Box::leak(Box::new(Credentials {
            raw_public_key: Some(self.points[own]),
            certificates: &[],
            accepts: &[CertificateType::RawPublicKey],
            mutual: true,
            authorities: &[],
        }))
    }

    fn answer<R: StateName>(&self, session: &Of<R>) -> Answer {
        let own = if matches!(R::SIDE, Side::Client) { 0 } else { 1 };
        let trusted = Trusted { raw_public_keys: &self.points, certificates: None };
        let mut entropy = Random::new(9);
        session.task().map_or(Answer::Verified, |task| {
            perform(&mut Soft, &mut entropy, &self.secrets[own], &trusted, task)
        })
    }
}

/// A client, a server, and what is on its way between them.
struct Ends {
    scenario: &'static Scenario,
    keys: Keys,
    kept: [Option<SessionState>; 2],
    here: Rig,
    there: Rig,
    secrets: CookieSecrets,
    config: Config,
    client: Of<Client<Ticketed>>,
    server: Option<Of<Server<Ticketed>>>,
    to_client: VecDeque<Vec<u8>>,
    to_server: VecDeque<Vec<u8>>,
}

impl Ends {
    fn new(scenario: &'static Scenario, kept: &[Option<SessionState>; 2]) -> Self {
        let (mut here, mut there) = (Rig::seeded(1), Rig::seeded(2));
        let keys = Keys::new();
        let config = Config { suites: scenario.suites, resumable: true, retransmissions: 2, ..Config::HOST };
        let mut client = Session::new(Handshake::new());
        if scenario.has_keys {
            client.set_credentials(keys.credentials(0));
        }
        match scenario.gives_ticket {
            true => client.connect_by_ticket(&mut here.cx(), &config, None, &[]),
            false => client.connect(&mut here.cx(), &config, kept[0].as_ref().filter(|_| scenario.resumes)),
        }
        Self {
            scenario,
            keys,
            kept: kept.clone(),
            secrets: CookieSecrets::new(&mut there.entropy),
            here,
            there,
            config,
            client,
            server: None,
            to_client: VecDeque::new(),
            to_server: VecDeque::new(),
        }
    }

    fn deliver_to_server(&mut self, mut record: Vec<u8>) {
        let Self { server, there, .. } = self;
        if let Some(server) = server {
            server.handle_all(&mut there.cx(), &mut record, |_| ());
            return;
        }
        assert!(is_client_hello(&record));
        let mut out = [0; 128];
        match listen(&mut there.cx(), &self.secrets, b"peer", &record, &mut out) {
            Listen::Reply(length) => self.to_client.extend(records(&out[..length])),
            Listen::Accept(hello) => {
                let mut room = Handshake::new();
                if self.scenario.has_keys {
                    room.set_credentials(self.keys.credentials(1));
                }
                *server = Some(Session::server(&mut there.cx(), &hello, self.config, room));
            }
            Listen::Refuse(..) | Listen::Drop(_) => panic!("the hello is good"),
        }
    }

    fn work_of_client(&mut self) -> bool {
        let answer = self.keys.answer(&self.client);
        let completion = match self.client.work() {
            None => return false,
            Some(Work::Task(_)) => Completion::Task(&answer),
            Some(_) => PSK,
        };
        self.client.complete(&mut self.here.cx(), completion).unwrap();
        true
    }

    fn work_of_server(&mut self) -> bool {
        let Some(server) = &mut self.server else { return false };
        let answer = self.keys.answer(server);
        let completion = match server.work() {
            None => return false,
            Some(Work::Task(_)) => Completion::Task(&answer),
            Some(Work::Session { .. }) => Completion::Session {
                state: self.kept[1].as_ref().filter(|_| self.scenario.resumes),
                id: None,
                ticket: if self.scenario.gives_ticket { TicketOffer::Promise } else { TicketOffer::None },
            },
            Some(Work::Ticket) => TICKET,
            Some(Work::Psk { .. }) => PSK,
        };
        server.complete(&mut self.there.cx(), completion).unwrap();
        true
    }

    fn transmit(&mut self) -> bool {
        let sent = transmitted(&mut self.here.cx(), &mut self.client);
        self.to_server.extend(sent);
        if let Some(server) = &mut self.server {
            let sent = transmitted(&mut self.there.cx(), server);
            self.to_client.extend(sent);
        }
        !self.to_client.is_empty() || !self.to_server.is_empty()
    }

    /// Does one thing; false if there is nothing to be done.
    fn step(&mut self) -> bool {
        if self.work_of_client() || self.work_of_server() {
            return true;
        }
        if let Some(mut record) = self.to_client.pop_front() {
            self.client.handle_all(&mut self.here.cx(), &mut record, |_| ());
        } else if let Some(record) = self.to_server.pop_front() {
            self.deliver_to_server(record);
        } else {
            return self.transmit();
        }
        true
    }

    /// Those after so many steps, with all on its way that the peer of `side` has to say.
    fn after(
        scenario: &'static Scenario,
        kept: &[Option<SessionState>; 2],
        steps: usize,
        side: Side,
    ) -> Self {
        let mut ends = Self::new(scenario, kept);
        for _ in 0..steps {
            ends.step();
        }
        loop {
            ends.transmit();
            let goes_on = match side {
                Side::Client => match ends.to_server.pop_front() {
                    Some(record) => {
                        ends.deliver_to_server(record);
                        true
                    }
                    None => ends.work_of_server(),
                },
                Side::Server => match ends.to_client.pop_front() {
                    Some(mut record) => {
                        ends.client.handle_all(&mut ends.here.cx(), &mut record, |_| ());
                        true
                    }
                    None => ends.work_of_client(),
                },
            };
            if !goes_on {
                return ends;
            }
        }
    }
}

const TICKET: Completion<'static> = Completion::Ticket { lifetime: 60, ticket: b"ticket" };

/// A record of this session's peer.
fn of_peer<R: StateName>(
    session: &Of<R>,
    content_type: ContentType,
    epoch: u16,
    content: &[u8],
) -> Option<Vec<u8>> {
    if epoch == PLAIN {
        let sequence_number = SequenceNumber::new(0, 1000);
        let length = content.len() as u16;
        let header =
            RecordHeader { content_type, version: Version::DTLS_1_2, epoch, sequence_number, length };
        return Some([&header.to_bytes()[..], content].concat());
    }
    let parameters = &session.handshake.get()?.state.parameters;
    session.epochs.get(epoch)?.codec.get()?;
    let protection = schedule::protect::<Soft, Ticketed>(&mut Soft, R::PEER, parameters);
    let mut record = vec![0; content.len() + RECORD_OVERHEAD];
    record[RECORD_FRONT..][..content.len()].copy_from_slice(content);
    let number = SequenceNumber::new(0, 1000);
    protection.seal(&mut Soft, content_type, number, &mut record, content.len())?;
    Some(record)
}

/// A message of this session's peer, which comes next and where it must.
fn message_of_peer<R: StateName>(session: &Of<R>, kind: HandshakeType, body: &[u8]) -> Option<Vec<u8>> {
    let (next, expected) = session.handshake.get().map_or((0, None), |parts| {
        (parts.state.next_receive, session.role.expected_epoch(&parts.state.parameters))
    });
    let epoch = match session.phase {
        Phase::Connected => session.epochs.sending(),
        _ => expected.unwrap_or(PLAIN),
    };
    let header = HandshakeHeader::whole(kind, next, body.len() as u16);
    of_peer(session, ContentType::Handshake, epoch, &[&header.to_bytes()[..], body].concat())
}

/// Lets something come to a session, whose peer's true records are `genuine`, and tells what becomes of it.
fn transition<R: StateName>(
    session: &mut Of<R>,
    rig: &mut Rig,
    keys: &Keys,
    kept: Option<&SessionState>,
    genuine: &VecDeque<Vec<u8>>,
    stimulus: Stimulus,
) -> Option<String> {
    while session.poll_event().is_some() {}
    session.poll_refusal();
    let before = state(session);
    let mut error = None;
    match stimulus {
        Stimulus::Message(_, kind) => {
            let next = genuine.iter().find(|record| record[0] == 22);
            let name = MESSAGES.iter().find(|(_, known)| *known == kind).map_or("", |(name, _)| name);
            let true_one = next.filter(|record| kind_of(record) == name).cloned();
            let mut record = true_one.or_else(|| message_of_peer(session, kind, &[]))?;
            session.handle_all(&mut rig.cx(), &mut record, |_| ());
        }
        Stimulus::AnotherFinished => {
            let mut record = message_of_peer(session, HandshakeType::FINISHED, &[7; 12])?;
            session.handle_all(&mut rig.cx(), &mut record, |_| ());
        }
        Stimulus::Record(_, content_type, epoch, content) => {
            let mut record = of_peer(session, content_type, epoch, content)?;
            session.handle_all(&mut rig.cx(), &mut record, |_| ());
        }
        Stimulus::BadRecord => {
            let header = RecordHeader {
                content_type: ContentType::Handshake,
                version: Version::DTLS_1_2,
                epoch: 1,
                sequence_number: SequenceNumber::new(0, 1001),
                length: 40,
            };
            session.handle_all(&mut rig.cx(), &mut [&header.to_bytes()[..], &[7; 40]].concat(), |_| ());
        }
        Stimulus::Timeout => {
            rig.now = session.poll_timeout()?;
            session.handle_timeout(&mut rig.cx());
        }
        Stimulus::Timeouts => {
            while session.phase == Phase::Handshake {
                rig.now = session.poll_timeout()?;
                session.handle_timeout(&mut rig.cx());
                if session.phase == Phase::Handshake {
                    transmitted(&mut rig.cx(), session);
                }
            }
        }
        Stimulus::Completion(what) => {
            let refused = Answer::Refused(AlertDescription::BAD_CERTIFICATE);
            let answer = keys.answer(session);
            let of_session = |state| Completion::Session { state, id: None, ticket: TicketOffer::None };
            let completion = match what {
                "key" => PSK,
                "no key" => Completion::NoPsk,
                "result" => Completion::Task(&answer),
                "refusal" => Completion::Task(&refused),
                "no session" => of_session(None),
                "session" => of_session(kept),
                _ => TICKET,
            };
            error = session.complete(&mut rig.cx(), completion).err();
        }
    }
    if let Some(error) = error {
        return Some(format!("error: {error:?}"));
    }
    let refusal = session.poll_refusal();
    let mut told = Vec::new();
    let after = state(session);
    if after != before {
        told.push(after);
    }
    told.extend(refusal.map(|refusal| format!("dropped: {}", refusal.name())));
    while let Some(event) = session.poll_event() {
        match event {
            Event::Work(_) | Event::Connected | Event::Closed => {}
            Event::Failed(Failure::Negotiation(refusal) | Failure::Authentication(refusal)) => {
                told.push(format!("failed: {}", refusal.name()));
            }
            Event::Failed(failure) => told.push(format!("failed: {failure:?}")),
        }
    }
    let sent: Vec<_> = transmitted(&mut rig.cx(), session).iter().map(|record| kind_of(record)).collect();
    if !sent.is_empty() {
        told.push(format!("sends {}", sent.join(" ")));
    }
    if told.is_empty() {
        told.push("nothing".into());
    }
    Some(told.join(", "))
}

/// What is left of a session at both ends.
fn kept() -> [Option<SessionState>; 2] {
    let mut ends = Ends::new(&PRE_SHARED, &[None, None]);
    while ends.step() {}
    [ends.client.session_state(), ends.server.and_then(|server| server.session_state())]
}

/// The table of a side.
fn table(side: Side) -> String {
    let kept = kept();
    assert!(kept.iter().all(Option::is_some), "sessions can be resumed");
    let mut table = String::new();
    for scenario in &SCENARIOS {
        let name = |ends: &Ends| match side {
            Side::Client => Some(state(&ends.client)),
            Side::Server => ends.server.as_ref().map(state),
        };
        let mut ends = Ends::new(scenario, &kept);
        let mut states: Vec<(String, usize)> = name(&ends).map(|name| (name, 0)).into_iter().collect();
        let mut steps = 0;
        while ends.step() {
            steps += 1;
            let state = name(&ends).filter(|name| states.iter().all(|(known, _)| known != name));
            states.extend(state.map(|state| (state, steps)));
        }
        assert_eq!(states.last().map(|(state, _)| &state[..]), Some("connected"), "{}", scenario.name);
        for (state, steps) in states {
            for stimulus in stimuli() {
                let mut ends = Ends::after(scenario, &kept, steps, side);
                let Ends { client, server, here, there, to_client, to_server, keys, .. } = &mut ends;
                let became = match (side, server) {
                    (Side::Client, _) => transition(client, here, keys, None, to_client, stimulus),
                    (Side::Server, Some(server)) => {
                        transition(server, there, keys, kept[1].as_ref(), to_server, stimulus)
                    }
                    (Side::Server, None) => None,
                };
                if let Some(became) = became {
                    let line = format!("{:<12}{state:<32}{:<30}{became}", scenario.name, stimulus.name());
                    table.push_str(line.trim_end());
                    table.push('\n');
                }
            }
        }
    }
    table
}

/// Compares a table with the one that is kept; writes it anew if the environment has `SIXLOCK_ACCEPT`.
fn compare(name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transitions").join(name);
    if std::env::var_os("SIXLOCK_ACCEPT").is_some() {
        fs::write(&path, table).unwrap();
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    let differs = known.lines().zip(table.lines()).find(|(known, now)| known != now);
    assert!(
        known == table,
        "{} is another: {differs:?}, {} lines now; if that is right, SIXLOCK_ACCEPT=1 cargo test -p sixlock-dtls transitions writes it anew",
        path.display(),
        table.lines().count()
    );
}

#[test]
fn transitions_of_the_client_are_those_of_its_table() {
    compare("client.txt", &table(Side::Client));
}

#[test]
fn transitions_of_the_server_are_those_of_its_table() {
    compare("server.txt", &table(Side::Server));
}

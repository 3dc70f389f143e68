//! One handshake between two OpenMotes, each of which takes a time for each message.

use sixlock_base::{Counters, Cx, Engines, Entropy, Instant};
use sixlock_crypto::Hashes;
use sixlock_crypto::p256::P256;
use sixlock_dtls::{
    Answer, ClientSession, Completion, Config, CookieSecrets, Event, Features, Handshake, KeyFeature, Listen,
    Plain, ServerSession, Task, Work, is_client_hello, listen, perform,
};
use sixlock_sim::{CryptoTime, KeyRing, Platform, Span, Step, TimedCrypto};

use crate::error::Error;
use crate::experiments::counting::Counting;

/// Room for a datagram: whole messages fit, each in a record of its own.
const DATAGRAM: usize = 2048;
/// The header of a record, and what of it says how long the rest is.
const RECORD: usize = 13;
const LENGTH: core::ops::Range<usize> = 11..RECORD;
/// What the handshake proves where there is a pre-shared key.
const IDENTITY: &[u8] = b"node-1";
const KEY: &[u8] = b"a key of sixteen";

/// What a side takes for a message, at first order of appearance.
pub(super) type Messages = Vec<(String, CryptoTime)>;

/// The two ends.
pub(super) struct Ends {
    pub(super) client: Messages,
    pub(super) server: Messages,
}

/// All that is done with a message.
pub(super) fn whole(messages: &Messages, part: fn(&CryptoTime) -> Span) -> f64 {
    messages.iter().map(|(_, lasted)| milliseconds(part(lasted))).sum()
}

pub(super) fn milliseconds(span: Span) -> f64 {
    span.micros() as f64 / 1e3
}

/// One end: what it computes with, and what that took for each message.
struct End {
    timed: TimedCrypto,
    messages: Messages,
    /// What was computed for several messages at a time, which have not been sent yet.
    shared: Vec<(&'static [&'static str], Span)>,
}

impl End {
    fn new() -> Result<Self, Error> {
        // As the paper has it, the chip does AES, SHA-256 and P-256.
        let engines = Engines { transport: true, ..Engines::NONE };
        let timed = TimedCrypto::new(Platform::openmote(), engines)?;
        Ok(Self { timed, messages: Messages::new(), shared: Vec::new() })
    }

    fn add(&mut self, message: &str, lasted: CryptoTime) {
        match self.messages.iter_mut().find(|(known, _)| known == message) {
            Some((_, before)) => {
                *before =
                    CryptoTime { curves: before.curves + lasted.curves, rest: before.rest + lasted.rest };
            }
            None => self.messages.push((message.into(), lasted)),
        }
    }

    /// What was computed since this was last called was for this message, and so were these steps of the stack.
    fn note(&mut self, message: &str, steps: &[Step]) {
        let lasted = self.timed.take(steps);
        self.add(message, lasted);
    }

    /// It was to hash these messages, which are to be sent: in proportion to their lengths.
    fn note_several(&mut self, messages: &'static [&'static str]) {
        let rest = self.timed.take(&[]).rest;
        self.shared.push((messages, rest));
    }

    /// The records of a datagram that is sent. What was computed for several messages is divided among them.
    fn send(&mut self, datagram: &[u8]) -> Vec<Vec<u8>> {
        let flight = records(datagram);
        // Of what is sent, the Finished alone takes something then: it is encrypted.
        if flight.iter().any(|record| name(record) == "Finished") {
            self.note("Finished, sent", &[]);
        }
        for (messages, rest) in core::mem::take(&mut self.shared) {
            let among: Vec<_> = flight.iter().filter(|record| messages.contains(&name(record))).collect();
            let all: usize = among.iter().map(|record| record.len()).sum();
            for record in among {
                let part = Span::from_micros(rest.micros() * record.len() as u64 / all as u64);
                self.add(&format!("{}, sent", name(record)), CryptoTime { curves: Span::ZERO, rest: part });
            }
        }
        flight
    }

    /// What was computed since was for the message of this record, which has come in a datagram of its own.
    fn received(&mut self, record: &[u8]) {
        match name(record) {
            // It says of the Finished how it is read.
            CHANGE => self.note("Finished, received", &[]),
            "Finished" => self.note("Finished, received", &[Step::Handshake, Step::RecordOpened]),
            name => self.note(&format!("{name}, received"), &[Step::Handshake]),
        }
    }
}

/// The name of the message that a record carries.
fn name(record: &[u8]) -> &'static str {
    match (record.first(), record.get(3..5), record.get(RECORD)) {
        (Some(22), Some([0, 1]), _) => "Finished",
        (Some(22), _, Some(kind)) => match kind {
            1 => "Client Hello",
            2 => "Server Hello",
            3 => "Hello Verify Request",
            11 => "Certificate",
            12 => "Server Key Exchange",
            13 => "Certificate Request",
            14 => "Server Hello Done",
            15 => "Certificate Verify",
            16 => "Client Key Exchange",
            _ => "another",
        },
        _ => CHANGE,
    }
}

const CHANGE: &str = "Change Cipher Spec";

/// The records of a datagram.
fn records(mut datagram: &[u8]) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    while let Some(length) = datagram.get(LENGTH).and_then(|length| length.first_chunk()) {
        let end = (RECORD + usize::from(u16::from_be_bytes(*length))).min(datagram.len());
        let (record, rest) = datagram.split_at(end);
        records.push(record.to_vec());
        datagram = rest;
    }
    records
}

/// Makes a handshake with public keys, or without with a pre-shared one: those of the client and of the server.
pub(super) fn measure<K: KeyFeature>(
    keys: Option<(&'static KeyRing, &'static KeyRing)>,
) -> Result<Ends, Error> {
    let (mut own, mut other) = (End::new()?, End::new()?);
    let (mut entropy, mut counters) = (Counting(1), Counters::new());
    let now = Instant::from_millis(0);
    // What an end is lent.
    macro_rules! lend {
        ($end:expr) => {
            &mut Cx {
                now,
                crypto: $end.timed.crypto(),
                entropy: &mut entropy,
                nv: &mut (),
                counters: &mut counters,
            }
        };
    }
    let mut client = ClientSession::<_, _, Plain<Features<K>>>::new(Handshake::new());
    let mut server = ServerSession::<_, _, Plain<Features<K>>>::new(Handshake::new());
    if let Some((of_client, of_server)) = keys {
        client.set_credentials(&of_client.credentials);
        server.set_credentials(&of_server.credentials);
    }
    let secrets = CookieSecrets::new(&mut Counting(2));
    let mut out = [0; DATAGRAM];
    client.connect(lend!(own), &Config::HOST, None);
    own.note("Client Hello, sent", &[]);
    while !(client.is_connected() && server.is_connected()) {
        let Some(len) = client.poll_transmit(lend!(own), &mut out) else {
            return Err(Error("a handshake without loss did not come to its end".into()));
        };
        for mut record in own.send(&out[..len]) {
            if is_client_hello(&record) {
                match listen(lend!(other), &secrets, b"", &record, &mut out) {
                    Listen::Reply(len) | Listen::Refuse(len, _) => {
                        other.note(
                            "Client Hello, received, and Hello Verify Request, sent",
                            &[Step::Handshake],
                        );
                        client.handle_all(lend!(own), &mut out[..len], |_| ());
                        own.note(
                            "Hello Verify Request, received, and Client Hello again, sent",
                            &[Step::Handshake],
                        );
                        continue;
                    }
                    Listen::Accept(hello) => server.accept(lend!(other), &hello, &Config::HOST),
                    Listen::Drop(_) => return Err(Error("a hello was dropped".into())),
                }
                other.note("Client Hello again, received", &[Step::Handshake]);
            } else {
                server.handle_all(lend!(other), &mut record, |_| ());
                other.received(&record);
            }
            while let Some(event) = server.poll_event() {
                let Event::Work(work) = event else { continue };
                match (work, keys) {
                    (Work::Task(task), Some((_, ring))) => {
                        let (message, hashed) = of_server(&task);
                        let answer = answer(lend!(other), ring, task);
                        other.note(message, &[]);
                        server.complete(lend!(other), Completion::Task(&answer)).map_err(refused)?;
                        other.note_several(hashed);
                    }
                    _ => {
                        server.complete(lend!(other), Completion::psk(Some(KEY))).map_err(refused)?;
                        other.note("Finished, received", &[]);
                    }
                }
            }
        }
        while let Some(len) = server.poll_transmit(lend!(other), &mut out) {
            for mut record in other.send(&out[..len]) {
                client.handle_all(lend!(own), &mut record, |_| ());
                own.received(&record);
                while let Some(event) = client.poll_event() {
                    let Event::Work(work) = event else { continue };
                    match (work, keys) {
                        (Work::Task(task), Some((ring, _))) => {
                            let (message, hashed) = of_client(&task);
                            let answer = answer(lend!(own), ring, task);
                            own.note(message, &[]);
                            client.complete(lend!(own), Completion::Task(&answer)).map_err(refused)?;
                            own.note_several(hashed);
                        }
                        _ => {
                            client
                                .complete(lend!(own), Completion::Psk { identity: IDENTITY, key: KEY })
                                .map_err(refused)?;
                            own.note("Finished, sent", &[]);
                        }
                    }
                }
            }
        }
    }
    Ok(Ends { client: own.messages, server: other.messages })
}

/// For which message a client does a task, and which it hashes then, or derives keys for.
fn of_client(task: &Task<'_>) -> (&'static str, &'static [&'static str]) {
    match task {
        Task::Chain { .. } => ("Certificate, received", &[]),
        Task::Verify { .. } => ("Server Key Exchange, received", &[]),
        Task::Generate => ("Client Key Exchange, sent", &["Certificate", "Client Key Exchange"]),
        Task::Sign { .. } => ("Certificate Verify, sent", &["Certificate Verify"]),
        Task::Agree { .. } => ("Client Key Exchange, sent", &["Finished"]),
    }
}

/// The same of a server.
fn of_server(task: &Task<'_>) -> (&'static str, &'static [&'static str]) {
    match task {
        Task::Generate => ("Server Key Exchange, sent", &["Server Key Exchange"]),
        Task::Sign { .. } => (
            "Server Key Exchange, sent",
            &[
                "Server Hello",
                "Certificate",
                "Server Key Exchange",
                "Certificate Request",
                "Server Hello Done",
            ],
        ),
        Task::Chain { .. } => ("Certificate, received", &[]),
        Task::Verify { .. } => ("Certificate Verify, received", &[]),
        Task::Agree { .. } => ("Client Key Exchange, received", &["Finished"]),
    }
}

fn answer<C: Hashes + P256, E: Entropy, N>(
    cx: &mut Cx<'_, C, E, N>,
    ring: &KeyRing,
    task: Task<'_>,
) -> Answer {
    perform(cx.crypto, cx.entropy, ring.secret, &ring.trusted, task)
}

fn refused(error: sixlock_dtls::Error) -> Error {
    Error(format!("a handshake went wrong: {error:?}"))
}

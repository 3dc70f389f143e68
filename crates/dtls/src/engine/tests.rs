//! The engine with another version than 1.2: three messages, data in epoch 3, and records that are hardly protected.

extern crate std;
use std::vec;
use std::vec::Vec;

use sixlock_base::{Counter, Duration, Entropy};
use sixlock_crypto::{AuthenticationFailed, Crypto, SHA_256_DIGEST, Soft};
use sixlock_dtls_msg::{
    AlertDescription, ContentType, HandshakeHeader, HandshakeType, RANDOM, RECORD_HEADER, RecordHeader,
    SequenceNumber, Version as Number, Window,
};
use sixlock_testing::Rig;

use super::flight::Flight;
use super::handshake::{Handshake, HandshakeSlot};
use super::message::{Incoming, OutgoingMessage};
use super::record::{PLAIN, RecordCodec};
use super::role::{
    Completed, HandshakeContext, HandshakeRole, Outcome, Parameters, PassedOver, Side, Target, Version,
};
use crate::session::Session;
use crate::{Completion, Config, ConnectionId, Error, Event, Work};

/// The epoch of application data.
const DATA: u16 = 3;
/// The length of a hello, which no datagram takes whole.
const HELLO: usize = RANDOM + 160;

/// A version of its own.
struct Tiny;

impl Version for Tiny {
    type Parameters = Secrets;
    type Message = Message;

    fn is_renegotiation(_: HandshakeType) -> bool {
        false
    }
}

/// What the messages are made of.
struct Secrets {
    random: [u8; RANDOM],
    /// The hash of both hellos.
    proof: [u8; SHA_256_DIGEST],
}

impl Parameters for Secrets {
    const NONE: Self = Self { random: [0; RANDOM], proof: [0; SHA_256_DIGEST] };

    fn reset(&mut self) {
        *self = Self::NONE;
    }

    fn clear_buffers(&mut self) {}

    fn eighths(&self, _: u16) -> Option<u8> {
        None
    }

    fn client_random(&self) -> &[u8; RANDOM] {
        &self.random
    }

    fn own_id(&self) -> ConnectionId {
        ConnectionId::EMPTY
    }

    fn limits(&self) -> (u16, u16) {
        (0, 0)
    }

    fn alert(&self, _: u16) -> (AlertDescription, u16) {
        (AlertDescription::DECRYPT_ERROR, PLAIN)
    }

    fn is_resumed(&self) -> bool {
        false
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    Hello,
    Welcome,
    Proof,
}

impl Message {
    const fn number(self) -> HandshakeType {
        HandshakeType(200 + self as u8)
    }
}

impl OutgoingMessage for Message {
    fn kind(self) -> Option<HandshakeType> {
        Some(self.number())
    }

    fn epoch(self) -> u16 {
        if self == Self::Proof { DATA } else { PLAIN }
    }

    fn is_atomic(self) -> bool {
        false
    }
}

static ASK: Flight<Message> = Flight { messages: &[Message::Hello], answers: None };
static ANSWER: Flight<Message> =
    Flight { messages: &[Message::Welcome, Message::Proof], answers: Some(Message::Hello.number()) };
static LAST: Flight<Message> = Flight { messages: &[Message::Proof], answers: Some(Message::Proof.number()) };

/// A record's bytes are each changed by the same one, and their sum stands behind them.
struct Sum(u8);

impl<C: Crypto> RecordCodec<C> for Sum {
    const FRONT: usize = RECORD_HEADER;
    const LEAST_OVERHEAD: usize = RECORD_HEADER + 1;

    fn overhead(&self) -> usize {
        RECORD_HEADER + 1
    }

    fn seal(
        &self,
        _: &mut C,
        content_type: ContentType,
        sequence_number: SequenceNumber,
        buffer: &mut [u8],
        length: usize,
    ) -> Option<usize> {
        let (front, rest) = buffer.split_first_chunk_mut()?;
        let (content, tail) = rest.split_at_mut_checked(length)?;
        let sum = content.iter().fold(self.0, |sum, &byte| sum.wrapping_add(byte));
        content.iter_mut().for_each(|byte| *byte ^= self.0);
        *tail.first_mut()? = sum;
        let version = Number::DTLS_1_2;
        let length = length as u16 + 1;
        *front = RecordHeader { content_type, version, epoch: DATA, sequence_number, length }.to_bytes();
        Some(RECORD_HEADER + usize::from(length))
    }

    fn open<'d>(
        &self,
        _: &mut C,
        header: &RecordHeader,
        _: &[u8],
        body: &'d mut [u8],
    ) -> Result<(ContentType, &'d mut [u8]), AuthenticationFailed> {
        let (sum, content) = body.split_last_mut().ok_or(AuthenticationFailed)?;
        content.iter_mut().for_each(|byte| *byte ^= self.0);
        let expected = content.iter().fold(self.0, |sum, &byte| sum.wrapping_add(byte));
        if *sum == expected { Ok((header.content_type, content)) } else { Err(AuthenticationFailed) }
    }
}

/// Both sides: what each awaits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Peer<const CLIENT: bool> {
    Over,
    AwaitHello,
    AwaitWork,
    AwaitWelcome,
    AwaitProof,
}

type Context<'a, C> = HandshakeContext<'a, C, Tiny>;

impl<const CLIENT: bool> Peer<CLIENT> {
    fn hash<C: Crypto>(x: &mut Context<'_, C>, body: &[u8]) {
        x.state.transcript.hash(x.crypto, body);
    }

    fn keep_proof<C: Crypto>(x: &mut Context<'_, C>) {
        x.state.parameters.proof = x.state.transcript.digest(x.crypto);
    }
}

impl<const CLIENT: bool> HandshakeRole for Peer<CLIENT> {
    const OVER: Self = Self::Over;
    const SIDE: Side = if CLIENT { Side::Client } else { Side::Server };
    const DATA_EPOCH: u16 = DATA;
    const ALERT_EPOCH: u16 = PLAIN;
    const CONNECTION_IDS: bool = false;
    const RECORD_LIMITS: bool = false;
    const RESUMPTION: bool = true;
    const WORK_REWINDS: bool = false;
    const WORK_COMPLETES: bool = false;
    const PROOF_REWINDS: bool = false;

    type Version = Tiny;
    type Codec<C: Crypto> = Sum;
    type RoundTrip = ();

    fn expected_epoch(&self, _: &Secrets) -> Option<u16> {
        match self {
            Self::AwaitHello | Self::AwaitWelcome => Some(PLAIN),
            Self::AwaitProof => Some(DATA),
            Self::Over | Self::AwaitWork => None,
        }
    }

    fn awaits_proof(&self) -> bool {
        *self == Self::AwaitProof
    }

    fn is_proved(&self) -> bool {
        false
    }

    fn work<'p>(&self, _: &'p Secrets) -> Option<Work<'p>> {
        (*self == Self::AwaitWork).then_some(Work::Psk { identity: b"anyone" })
    }

    fn holds_early_records(&self) -> bool {
        false
    }

    fn target<'p>(&self, parameters: &'p mut Secrets, epoch: u16, _: &HandshakeHeader, _: u16) -> Target<'p> {
        if self.expected_epoch(parameters) == Some(epoch) { Target::Short } else { Target::Nowhere }
    }

    fn pass_over<C: Crypto>(&mut self, _: &mut Context<'_, C>, _: &HandshakeHeader, _: &[u8]) -> PassedOver {
        PassedOver::Refused
    }

    fn buffered(&self, _: &Secrets, _: u16) -> Option<HandshakeType> {
        None
    }

    fn receive<C: Crypto>(&mut self, x: &mut Context<'_, C>, message: &Incoming<'_>) -> Outcome<Message> {
        match *self {
            Self::AwaitHello if message.kind == Message::Hello.number() => {
                let Some(random) = message.body.first_chunk() else { return Outcome::Refused(None) };
                x.state.parameters.random = *random;
                Self::hash(x, message.body);
                *self = Self::AwaitWork;
                Outcome::NeedWork
            }
            Self::AwaitWelcome if message.kind == Message::Welcome.number() => {
                Self::hash(x, message.body);
                Self::keep_proof(x);
                *self = Self::AwaitProof;
                Outcome::Resumed
            }
            Self::AwaitProof if message.kind == Message::Proof.number() => {
                *self = Self::Over;
                if message.body != x.state.parameters.proof {
                    return Outcome::Unproved;
                }
                Outcome::Complete(if CLIENT { Some(&LAST) } else { None })
            }
            _ => Outcome::Refused(None),
        }
    }

    fn receive_again<C: Crypto>(&mut self, _: &mut Context<'_, C>, _: &Incoming<'_>) -> Outcome<Message> {
        Outcome::Refused(None)
    }

    fn retransmit<C: Crypto>(&mut self, _: &mut Context<'_, C>) -> Outcome<Message> {
        Outcome::Accepted
    }

    fn complete<C: Crypto, E: Entropy>(
        &mut self,
        x: &mut Context<'_, C>,
        _: &mut E,
        completion: Completion<'_>,
    ) -> Result<Completed<Message>, Error> {
        let (Self::AwaitWork, Completion::NoPsk) = (*self, completion) else { return Err(Error::NoWork) };
        Self::hash(x, b"welcome");
        Self::keep_proof(x);
        *self = Self::AwaitProof;
        Ok(Completed::Send(&ANSWER, x.state.outgoing.message_seq_of(&ANSWER)))
    }

    fn emit(message: Message, parameters: &Secrets, window: &mut Window<'_>) {
        match message {
            Message::Hello => {
                window.put(&parameters.random);
                window.put(&[7; HELLO - RANDOM]);
            }
            Message::Welcome => window.put(b"welcome"),
            Message::Proof => window.put(&parameters.proof),
        }
    }

    fn protect<C: Crypto>(_: &mut C, parameters: &Secrets) -> Sum {
        Sum(parameters.random[0] | 1)
    }
}

type Of<const CLIENT: bool> = Session<Soft, Peer<CLIENT>, Handshake<Soft, Tiny>>;

const CONFIG: Config = Config { max_datagram: Config::MIN_DATAGRAM, ..Config::HOST };

/// A session that awaits `role`, and sends a hello if it is a client's.
fn begun<const CLIENT: bool>(rig: &mut Rig, role: Peer<CLIENT>) -> Of<CLIENT> {
    let mut session: Of<CLIENT> = Session::new(Handshake::new());
    let parts: &mut Handshake<Soft, Tiny> = session.handshake.begin().unwrap();
    parts.state.config = CONFIG;
    parts.state.outgoing.record_sequence = Some(SequenceNumber::ZERO);
    if CLIENT {
        rig.entropy.fill(&mut parts.state.parameters.random);
        parts.state.outgoing.send(&CONFIG, CONFIG.initial_timeout, &ASK, 0);
        let mut hello = [0; HELLO];
        Peer::<CLIENT>::emit(Message::Hello, &parts.state.parameters, &mut Window::new(0, &mut hello));
        parts.state.transcript.hash(&mut Soft, &hello);
    }
    session.begin(role);
    session
}

fn pair(rig: &mut Rig) -> (Of<true>, Of<false>) {
    (begun(rig, Peer::AwaitWelcome), begun(rig, Peer::AwaitHello))
}

/// The datagrams that a side has to send.
fn sent<const CLIENT: bool>(rig: &mut Rig, from: &mut Of<CLIENT>) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let mut out = vec![0; 512];
        let Some(length) = from.poll_transmit(&mut rig.cx(), &mut out) else { return all };
        out.truncate(length);
        all.push(out);
    }
}

fn deliver<const CLIENT: bool>(rig: &mut Rig, to: &mut Of<CLIENT>, datagrams: Vec<Vec<u8>>) {
    for mut datagram in datagrams {
        assert!(to.handle(&mut rig.cx(), &mut datagram).data.is_none());
    }
}

/// Answers the hello that the server has.
fn answer(rig: &mut Rig, server: &mut Of<false>) {
    assert_eq!(server.poll_event(), Some(Event::Work(Work::Psk { identity: b"anyone" })));
    let before = server.complete(&mut rig.cx(), Completion::Psk { identity: b"", key: b"" });
    assert_eq!(before, Err(Error::NoWork), "this version has no keys");
    server.complete(&mut rig.cx(), Completion::NoPsk).unwrap();
}

fn carries_data(rig: &mut Rig, client: &mut Of<true>, server: &mut Of<false>) {
    let mut buffer = [0; RECORD_HEADER + 5];
    buffer[RECORD_HEADER..][..4].copy_from_slice(b"data");
    let length = client.seal(&mut rig.cx(), &mut buffer, 4).unwrap();
    assert_eq!(RecordHeader::parse(&buffer).unwrap().epoch, DATA);
    let mut copy = buffer;
    let received = server.handle(&mut rig.cx(), &mut buffer[..length]);
    assert_eq!(received.data.as_deref(), Some(&b"data"[..]));
    assert!(server.handle(&mut rig.cx(), &mut copy[..length]).data.is_none(), "a record is taken once");
}

#[test]
fn another_version_connects_in_epochs_of_its_own() {
    let mut rig = Rig::seeded(1);
    let (mut client, mut server) = pair(&mut rig);
    let mut hello = sent(&mut rig, &mut client);
    assert!(hello.len() > 2, "the hello is fragmented");
    hello.reverse();
    deliver(&mut rig, &mut server, hello);
    answer(&mut rig, &mut server);
    let flight = sent(&mut rig, &mut server);
    deliver(&mut rig, &mut client, flight);
    assert_eq!(client.poll_event(), Some(Event::Connected));
    let last = sent(&mut rig, &mut client);
    deliver(&mut rig, &mut server, last);
    assert_eq!(server.poll_event(), Some(Event::Connected));
    carries_data(&mut rig, &mut client, &mut server);
}

#[test]
fn each_lost_datagram_of_another_version_is_made_good() {
    for lost in 0..7 {
        let mut rig = Rig::seeded(2);
        let (mut client, mut server) = pair(&mut rig);
        let mut count = 0;
        let mut arrives = || {
            count += 1;
            count != lost + 1
        };
        for _ in 0..20 {
            let mut datagrams = sent(&mut rig, &mut client);
            datagrams.retain(|_| arrives());
            deliver(&mut rig, &mut server, datagrams);
            if server.work().is_some() {
                answer(&mut rig, &mut server);
            }
            let mut datagrams = sent(&mut rig, &mut server);
            datagrams.retain(|_| arrives());
            deliver(&mut rig, &mut client, datagrams);
            rig.now = rig.now + Duration::from_secs(1);
            client.handle_timeout(&mut rig.cx());
            server.handle_timeout(&mut rig.cx());
        }
        assert_eq!(rig.count(Counter::DtlsHandshakes), 2, "{lost} is lost");
        carries_data(&mut rig, &mut client, &mut server);
    }
}

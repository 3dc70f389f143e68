//! The engine with another version than 1.2: three messages, three epochs at once, of which the first is not for data, and
//! records that are hardly protected.

extern crate std;
use std::vec;
use std::vec::Vec;

use sixlock_base::{Counter, Duration, Entropy, Slot};
use sixlock_crypto::{AuthenticationFailed, Crypto, SHA_256_DIGEST, Soft};
use sixlock_dtls_msg::{
    AlertDescription, ContentType, HandshakeHeader, HandshakeType, RANDOM, RECORD_HEADER, RecordHeader,
    SequenceNumber, Version as Number, Window,
};
use sixlock_testing::Rig;

use super::epochs::{Epoch, Epochs};
use super::flight::Flight;
use super::handshake::{Handshake, HandshakeSlot};
use super::message::{Incoming, OutgoingMessage};
use super::record::{PLAIN, RecordCodec};
use super::role::{
    Completed, EpochsOf, HandshakeContext, HandshakeRole, Late, Outcome, Parameters, PassedOver, Side,
    Target, Version,
};
use crate::session::Session;
use crate::{Completion, Config, ConnectionId, Error, Event, Refusal, Work};

/// The epoch of proofs.
const PROOFS: u16 = 2;
/// The first epoch of application data.
const DATA: u16 = 3;
/// The length of a hello, which no datagram takes whole.
const HELLO: usize = RANDOM + 160;

/// A version of its own.
struct Tiny;

impl Version for Tiny {
    type Parameters = Secrets;
    type Message = Message;
    type Epochs<K> = ThreeEpochs<K>;

    const SIGNAL: Option<(ContentType, &'static [u8])> = None;

    fn late(_: HandshakeType) -> Late {
        Late::Unexpected
    }
}

/// Slots for three epochs: at first that of proofs and two of data.
struct ThreeEpochs<K> {
    slots: [(u16, Epoch<K>); 3],
    sending: u16,
}

impl<K> ThreeEpochs<K> {
    /// Protects the records of a live epoch by these keys.
    fn protect(&mut self, number: u16, codec: K) {
        self.get_mut(number).unwrap().codec = Slot::Full(codec);
    }

    /// Begins an epoch in the slot of another.
    fn replace(&mut self, old: u16, new: u16) {
        let (number, epoch) = self.slots.iter_mut().find(|(number, _)| *number == old).unwrap();
        *number = new;
        epoch.begin();
    }
}

impl<K> Epochs<K> for ThreeEpochs<K> {
    const NONE: Self = Self { slots: [const { (0, Epoch::NONE) }; 3], sending: 0 };

    fn begin(&mut self) {
        for ((number, epoch), first) in self.slots.iter_mut().zip(PROOFS..) {
            *number = first;
            epoch.begin();
        }
        self.sending = DATA;
    }

    fn unprotect(&mut self) {
        self.slots.iter_mut().for_each(|(_, epoch)| epoch.unprotect());
    }

    fn get(&self, number: u16) -> Option<&Epoch<K>> {
        self.slots.iter().find(|(there, _)| *there == number).map(|(_, epoch)| epoch)
    }

    fn get_mut(&mut self, number: u16) -> Option<&mut Epoch<K>> {
        self.slots.iter_mut().find(|(there, _)| *there == number).map(|(_, epoch)| epoch)
    }

    fn sending(&self) -> u16 {
        self.sending
    }

    fn carries_data(&self, number: u16) -> bool {
        number >= DATA
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
        if self == Self::Proof { PROOFS } else { PLAIN }
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
struct Sum {
    epoch: u16,
    key: u8,
}

impl Sum {
    /// The keys of this epoch.
    fn new(epoch: u16, random: &[u8; RANDOM]) -> Self {
        Self { epoch, key: (random[0] | 1).wrapping_add(2 * epoch as u8) }
    }
}

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
        let sum = content.iter().fold(self.key, |sum, &byte| sum.wrapping_add(byte));
        content.iter_mut().for_each(|byte| *byte ^= self.key);
        *tail.first_mut()? = sum;
        let version = Number::DTLS_1_2;
        let length = length as u16 + 1;
        *front =
            RecordHeader { content_type, version, epoch: self.epoch, sequence_number, length }.to_bytes();
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
        content.iter_mut().for_each(|byte| *byte ^= self.key);
        let expected = content.iter().fold(self.key, |sum, &byte| sum.wrapping_add(byte));
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
            Self::AwaitProof => Some(PROOFS),
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
                let Some(random) = message.body.first_chunk() else {
                    return Outcome::Refused(Refusal::UnexpectedMessage);
                };
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
            _ => Outcome::Refused(Refusal::UnexpectedMessage),
        }
    }

    fn receive_again<C: Crypto>(&mut self, _: &mut Context<'_, C>, _: &Incoming<'_>) -> Outcome<Message> {
        Outcome::Refused(Refusal::UnexpectedMessage)
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

    fn protect<C: Crypto>(_: &mut C, parameters: &Secrets, epochs: &mut EpochsOf<C, Self>) {
        for epoch in [PROOFS, DATA] {
            epochs.protect(epoch, Sum::new(epoch, &parameters.random));
        }
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

/// A record with data.
type Record = [u8; RECORD_HEADER + 5];

/// A record with data that the client sends; its epoch and its number.
fn sealed(rig: &mut Rig, client: &mut Of<true>) -> (Record, u16, SequenceNumber) {
    let mut record = [0; RECORD_HEADER + 5];
    record[RECORD_HEADER..][..4].copy_from_slice(b"data");
    assert_eq!(client.seal(&mut rig.cx(), &mut record, 4), Ok(record.len()));
    let RecordHeader { epoch, sequence_number, .. } = RecordHeader::parse(&record).unwrap();
    (record, epoch, sequence_number)
}

/// Whether the server takes the record's data.
fn takes(rig: &mut Rig, server: &mut Of<false>, mut record: Record) -> bool {
    let data = server.handle(&mut rig.cx(), &mut record).data;
    data.is_some_and(|data| data == b"data")
}

fn carries_data(rig: &mut Rig, client: &mut Of<true>, server: &mut Of<false>) {
    let (record, epoch, _) = sealed(rig, client);
    assert_eq!(epoch, DATA);
    assert!(takes(rig, server, record));
    assert!(!takes(rig, server, record), "a record is taken once");
}

/// Both sides, connected, and the datagram with the client's proof.
fn connected(rig: &mut Rig) -> (Of<true>, Of<false>, Vec<u8>) {
    let (mut client, mut server) = pair(rig);
    let mut hello = sent(rig, &mut client);
    assert!(hello.len() > 2, "the hello is fragmented");
    hello.reverse();
    deliver(rig, &mut server, hello);
    answer(rig, &mut server);
    let flight = sent(rig, &mut server);
    deliver(rig, &mut client, flight);
    assert_eq!(client.poll_event(), Some(Event::Connected));
    let last = sent(rig, &mut client);
    let proof = last[0].clone();
    deliver(rig, &mut server, last);
    assert_eq!(server.poll_event(), Some(Event::Connected));
    (client, server, proof)
}

/// Gives both sides keys of this epoch, in which the client sends from now on.
fn renew(client: &mut Of<true>, server: &mut Of<false>, epoch: u16) {
    client.epochs.protect(epoch, Sum::new(epoch, &[9; RANDOM]));
    server.epochs.protect(epoch, Sum::new(epoch, &[9; RANDOM]));
    client.epochs.sending = epoch;
}

#[test]
fn another_version_connects_in_epochs_of_its_own() {
    let mut rig = Rig::seeded(1);
    let (mut client, mut server, proof) = connected(&mut rig);
    assert_eq!(RecordHeader::parse(&proof).unwrap().epoch, PROOFS);
    carries_data(&mut rig, &mut client, &mut server);
}

#[test]
fn only_epochs_of_data_carry_data() {
    let mut rig = Rig::seeded(3);
    let (mut client, mut server, _) = connected(&mut rig);
    client.epochs.sending = PROOFS;
    let (record, epoch, _) = sealed(&mut rig, &mut client);
    assert_eq!(epoch, PROOFS);
    assert!(!takes(&mut rig, &mut server, record));
    assert_eq!(rig.count(Counter::DtlsBadRecord), 1);
    client.epochs.sending = DATA;
    carries_data(&mut rig, &mut client, &mut server);
}

#[test]
fn each_epoch_has_keys_numbers_and_a_replay_window_of_its_own() {
    let mut rig = Rig::seeded(4);
    let (mut client, mut server, _) = connected(&mut rig);
    let (late, ..) = sealed(&mut rig, &mut client);
    let (mut relabelled, ..) = sealed(&mut rig, &mut client);
    client.epochs.get_mut(DATA).unwrap().write_sequence = None;
    assert_eq!(client.seal(&mut rig.cx(), &mut [0; 64], 4), Err(Error::SequenceExhausted));

    renew(&mut client, &mut server, DATA + 1);
    let (record, epoch, number) = sealed(&mut rig, &mut client);
    assert_eq!((epoch, number), (DATA + 1, SequenceNumber::ZERO));
    assert!(takes(&mut rig, &mut server, record));
    assert!(takes(&mut rig, &mut server, late), "the epoch before is still live");
    assert!(!takes(&mut rig, &mut server, record) && !takes(&mut rig, &mut server, late));
    assert_eq!((rig.count(Counter::DtlsReplayed), rig.count(Counter::DtlsBadRecord)), (2, 0));
    relabelled[3..5].copy_from_slice(&(DATA + 1).to_be_bytes());
    assert!(!takes(&mut rig, &mut server, relabelled), "it was made with other keys");
    assert_eq!(rig.count(Counter::DtlsBadRecord), 1);

    client.close();
    let close = sent(&mut rig, &mut client);
    assert_eq!(RecordHeader::parse(&close[0]).unwrap().epoch, DATA + 1);
    deliver(&mut rig, &mut server, close);
    assert_eq!(server.poll_event(), Some(Event::Closed));
}

#[test]
fn an_epoch_that_takes_the_slot_of_another_begins_anew() {
    let mut rig = Rig::seeded(5);
    let (mut client, mut server, proof) = connected(&mut rig);
    deliver(&mut rig, &mut server, vec![proof.clone()]);
    assert_eq!((rig.count(Counter::DtlsReplayed), rig.count(Counter::DtlsBadRecord)), (1, 0));

    for epochs in [&mut client.epochs, &mut server.epochs] {
        epochs.replace(PROOFS, DATA + 2);
    }
    deliver(&mut rig, &mut server, vec![proof]);
    assert_eq!((rig.count(Counter::DtlsReplayed), rig.count(Counter::DtlsBadRecord)), (1, 1));
    renew(&mut client, &mut server, DATA + 2);
    let (record, epoch, number) = sealed(&mut rig, &mut client);
    assert_eq!((epoch, number), (DATA + 2, SequenceNumber::ZERO));
    assert!(takes(&mut rig, &mut server, record));
    assert!(!takes(&mut rig, &mut server, record));
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

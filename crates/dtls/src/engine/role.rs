//! What a version of DTLS is to the engine.

use sixlock_base::{Entropy, Slot};
use sixlock_crypto::Crypto;
use sixlock_dtls_msg::{AlertDescription, ContentType, HandshakeHeader, HandshakeType, RANDOM, Window};

use super::epochs::Epochs;
use super::flight::{Flight, Outgoing};
use super::message::{Incoming, OutgoingMessage};
use super::message_buffer::MessageBuffer;
use super::record::RecordCodec;
use super::round_trip::RoundTrips;
use super::transcript::Transcript;
use crate::event::{Completion, Work};
use crate::{Config, ConnectionId, Error, Failure, KeptRefusal, Refusal};

/// What a version's handshakes keep and send.
pub trait Version {
    /// What its messages are made of.
    type Parameters: Parameters;
    /// A message that is sent.
    type Message: OutgoingMessage;
    /// The protected epochs that are live at once.
    type Epochs<K>: Epochs<K>;

    /// What flights hold beside handshake messages, if anything: an unprotected record of this type with this content. It says that
    /// the next epoch begins. Whoever gets it learns as much from the records of that epoch, which are authentic.
    const SIGNAL: Option<(ContentType, &'static [u8])>;

    /// What a message means of a peer that is connected, if no flight of ours answers it.
    fn late(kind: HandshakeType) -> Late;
}

/// What a handshake message means of a peer that is connected.
pub enum Late {
    /// It asks for another handshake.
    Renegotiation,
    /// It is one of the handshake that is over: its flight comes again.
    Repeated,
    /// It may not come.
    Unexpected,
}

/// What the messages of a handshake are made of: each is emitted anew from here.
pub trait Parameters {
    /// Those of a handshake that has not begun: all zero bytes.
    const NONE: Self;

    /// Wipes what is secret and makes all of it what it was at first, but for what each handshake is given before it begins.
    fn reset(&mut self);

    /// Forgets the long messages that are being put together, as the handshake goes back.
    fn clear_buffers(&mut self);

    /// How many full eighths of the long message with this number were received, if any of it was; less than 8.
    fn eighths(&self, message_seq: u16) -> Option<u8>;

    /// The random value of the client's hello.
    fn client_random(&self) -> &[u8; RANDOM];

    /// What stands in the peer's protected records, where they carry connection ids.
    fn own_id(&self) -> ConnectionId;

    /// The longest content that may be sent, and the longest that may come.
    fn limits(&self) -> (u16, u16);

    /// The alert for a peer whose proof failed, and its epoch: `epoch` unless its certificate or signature was refused.
    fn alert(&self, epoch: u16) -> (AlertDescription, u16);

    /// Whether the handshake resumes an earlier session.
    fn is_resumed(&self) -> bool;
}

/// Which side.
#[derive(Clone, Copy)]
pub enum Side {
    Client,
    Server,
}

/// What a role does in a handshake. What it receives changes what it is.
pub trait HandshakeRole: Sized {
    /// The handshake is over, or has not begun.
    const OVER: Self;
    /// Which side the role is.
    const SIDE: Side;
    /// The epoch in which the role fails a handshake that awaits the peer's proof.
    const ALERT_EPOCH: u16;
    /// Records may carry connection ids.
    const CONNECTION_IDS: bool;
    /// Records may be shorter than the protocol allows.
    const RECORD_LIMITS: bool;
    /// Sessions may be resumed.
    const RESUMPTION: bool;
    /// Work may refuse what was taken: the handshake then goes back.
    const WORK_REWINDS: bool;
    /// Work may be done for a peer that is authentic already.
    const WORK_COMPLETES: bool;
    /// What was taken may be refused by the peer's proof: the handshake then goes back.
    const PROOF_REWINDS: bool;

    /// The version it speaks.
    type Version: Version;
    /// How records are protected.
    type Codec<C: Crypto>: RecordCodec<C>;
    /// What it knows of the time that flights and their answers take.
    type RoundTrip: RoundTrips;

    /// The epoch in which the next message must come; `None` while none may come.
    fn expected_epoch(&self, parameters: &ParametersOf<Self>) -> Option<u16>;

    /// Whether the peer's proof is what the handshake waits for: its keys are there.
    fn awaits_proof(&self) -> bool;

    /// Whether the peer has proved who it is, though the handshake goes on.
    fn is_proved(&self) -> bool;

    /// What the handshake needs from outside.
    fn work<'p>(&self, parameters: &'p ParametersOf<Self>) -> Option<Work<'p>>;

    /// Whether a protected record that comes before its keys is kept until they are there.
    fn holds_early_records(&self) -> bool;

    /// Where a fragment goes whose message is so many `ahead` of the next one.
    fn target<'p>(
        &self,
        parameters: &'p mut ParametersOf<Self>,
        epoch: u16,
        header: &HandshakeHeader,
        ahead: u16,
    ) -> Target<'p>;

    /// Takes a fragment of the next message by [`Target::PassOver`].
    fn pass_over<C: Crypto>(
        &mut self,
        x: &mut HandshakeContext<'_, C, Self::Version>,
        header: &HandshakeHeader,
        fragment: &[u8],
    ) -> PassedOver;

    /// The type of the message with this number, if it is complete in one of the role's own buffers.
    fn buffered(&self, parameters: &ParametersOf<Self>, message_seq: u16) -> Option<HandshakeType>;

    /// Takes the next message in order. The body of one of the role's own buffers is empty here.
    fn receive<C: Crypto>(
        &mut self,
        x: &mut HandshakeContext<'_, C, Self::Version>,
        message: &Incoming<'_>,
    ) -> OutcomeOf<Self>;

    /// Takes a whole message again whose number was already used, when it is not the one
    /// that the current flight answers.
    fn receive_again<C: Crypto>(
        &mut self,
        x: &mut HandshakeContext<'_, C, Self::Version>,
        message: &Incoming<'_>,
    ) -> OutcomeOf<Self>;

    /// The current flight is about to be sent again because no answer came in time.
    fn retransmit<C: Crypto>(&mut self, x: &mut HandshakeContext<'_, C, Self::Version>) -> OutcomeOf<Self>;

    /// Goes on with what came of [`HandshakeRole::work`].
    fn complete<C: Crypto, E: Entropy>(
        &mut self,
        x: &mut HandshakeContext<'_, C, Self::Version>,
        entropy: &mut E,
        completion: Completion<'_>,
    ) -> Result<CompletedOf<Self>, Error>;

    /// Emits the body of a message.
    fn emit(message: MessageOf<Self>, parameters: &ParametersOf<Self>, window: &mut Window<'_>);

    /// The length of a message's body, in bytes.
    fn length(message: MessageOf<Self>, parameters: &ParametersOf<Self>) -> u16 {
        let mut window = Window::new(0, &mut []);
        Self::emit(message, parameters, &mut window);
        window.length()
    }

    /// Protects the epochs whose keys can be derived now.
    fn protect<C: Crypto>(crypto: &mut C, parameters: &ParametersOf<Self>, epochs: &mut EpochsOf<C, Self>);
}

/// What the messages of a role are made of.
pub(crate) type ParametersOf<R> = <<R as HandshakeRole>::Version as Version>::Parameters;
/// What a role sends.
pub(crate) type MessageOf<R> = <<R as HandshakeRole>::Version as Version>::Message;
/// The protected epochs of a role's session.
pub(crate) type EpochsOf<C, R> =
    <<R as HandshakeRole>::Version as Version>::Epochs<<R as HandshakeRole>::Codec<C>>;
/// What a role asks of the session after a message.
pub(crate) type OutcomeOf<R> = Outcome<MessageOf<R>>;
/// What a role asks of the session after work.
pub(crate) type CompletedOf<R> = Completed<MessageOf<R>>;

/// What a role works on.
pub struct HandshakeContext<'a, C: Crypto, V: Version> {
    pub(crate) crypto: &'a mut C,
    pub(crate) state: &'a mut HandshakeState<C, V>,
}

/// How far a handshake is.
pub(crate) struct HandshakeState<C: Crypto, V: Version> {
    pub(crate) config: Config,
    pub(crate) parameters: V::Parameters,
    pub(crate) transcript: Transcript<C>,
    pub(crate) outgoing: Outgoing<V::Message>,
    /// The number of the next message expected from the peer.
    pub(crate) next_receive: u16,
    /// Finished records so far that did not decrypt.
    pub(crate) bad_records: u8,
    /// How often the handshake went back to a checkpoint.
    pub(crate) rewinds: u8,
    /// What unauthenticated messages say the trouble is: only told when the handshake times out.
    pub(crate) clue: Slot<Failure>,
    /// Why the peer's proof fails, if it does, unless it has another key.
    pub(crate) doubt: KeptRefusal,
}

impl<C: Crypto, V: Version> HandshakeState<C, V> {
    /// That of a handshake that has not begun: all zero bytes.
    pub(crate) const NONE: Self = Self {
        config: Config::NONE,
        parameters: V::Parameters::NONE,
        transcript: Transcript::EMPTY,
        outgoing: Outgoing::NONE,
        next_receive: 0,
        bad_records: 0,
        rewinds: 0,
        clue: Slot::Empty,
        doubt: KeptRefusal::NONE,
    };

    /// Makes all of it what it was at first, but for what each handshake is given before it begins.
    pub(crate) fn reset(&mut self) {
        self.config = Config::NONE;
        self.parameters.reset();
        self.transcript = Transcript::EMPTY;
        self.outgoing = Outgoing::NONE;
        (self.next_receive, self.bad_records, self.rewinds) = (0, 0, 0);
        self.clue = Slot::Empty;
        self.doubt = KeptRefusal::NONE;
    }

    /// Whether something that was taken may have been forged: no answer came in time, or one
    /// that does not decrypt.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.bad_records > 0 || self.outgoing.is_repeated()
    }
}

/// Where a fragment of a handshake message goes.
pub enum Target<'p> {
    /// To no place: its epoch is not the one awaited.
    Nowhere,
    /// To the buffer for short messages, unless it is the whole of the next one.
    Short,
    /// To this buffer.
    Buffer(&'p mut MessageBuffer),
    /// Past all buffers: it is hashed as it comes.
    PassOver,
}

/// What became of a fragment by [`Target::PassOver`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PassedOver {
    /// Something before it is missing.
    Refused,
    /// It was taken.
    Taken,
    /// It was taken, and the message is complete.
    Complete,
}

/// What a role asks of the session after a message.
pub enum Outcome<M: 'static> {
    /// The message is not acceptable and changed nothing. Anyone may have sent it, so the
    /// reason is kept as a clue only.
    Refused(Refusal),
    /// It was taken; the next message is awaited.
    Accepted,
    /// It was taken and a flight answers it, whose first message has this number, as
    /// the peer's next has.
    Send(&'static Flight<M>, u16),
    /// It was taken and something is needed from outside.
    NeedWork,
    /// It was taken, and the keys of the records follow from the session that is resumed.
    Resumed,
    /// The peer is authentic. The last flight follows, if it is ours.
    Complete(Option<&'static Flight<M>>),
    /// The peer has not proved who it is.
    Unproved,
    /// The handshake goes back: the message with this number is awaited again, and the
    /// message in hand, if it has that number, is taken now.
    Rewound(u16),
}

/// What a role asks of the session after work.
pub enum Completed<M: 'static> {
    /// A message is awaited.
    Accepted,
    /// A flight follows, whose first message has this number.
    Send(&'static Flight<M>, u16),
    /// Something else is needed from outside.
    NeedWork,
    /// The peer was authentic already, and this is the last flight.
    Complete(&'static Flight<M>),
    /// The handshake cannot go on as the peer offers.
    Refused(Refusal),
    /// The handshake fails as when the peer does not prove who it is.
    Unproved,
    /// Something that was taken is refused: the message with this number is awaited again.
    Rewound(u16),
}

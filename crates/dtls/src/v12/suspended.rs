//! Sessions that outlive the program: written down when it ends in order, and gone on with by the next.
//!
//! Only hosts do this, whose keys stand in memory as they are.

use sixlock_base::Slot;
use sixlock_crypto::{AES_128_KEY, SmallKeys, wipe};
use sixlock_dtls_msg::{CipherSuite, SequenceNumber, Window};

use super::record::{Direction, Protection, WRITE_IV};
use super::server::Server;
use super::version::Version12;
use crate::engine::handshake::HandshakeSlot;
use crate::engine::replay::{REPLAY_WINDOW, ReplayWindow};
use crate::session::{Phase, RANDOM_PREFIX, Session};
use crate::{ConnectionId, Profile, Suite};

/// The length of what [`Suspended::bytes`] says.
pub const SUSPENDED: usize = HEAD + 2 * DIRECTION + NUMBER + REPLAY_WINDOW + 2 * ConnectionId::ROOM + REST;

/// What the form is called by, and the suite.
const HEAD: usize = 1 + 2;
const DIRECTION: usize = AES_128_KEY + WRITE_IV;
const NUMBER: usize = 6;
/// How long records may be, and what the client's hello is known by.
const REST: usize = 2 * 2 + RANDOM_PREFIX;
/// The form that is written, and the only one that is read.
const FORM: u8 = 1;

/// A session that stands still: its keys, the number of its next record, which records it has had, its connection ids and
/// limits. They are wiped when dropped.
///
/// It must be gone on with once at most, or a record's number would be used twice under one key, which gives away what both
/// records say ([RFC 5116 section 5.1.1](https://www.rfc-editor.org/rfc/rfc5116#section-5.1.1)), and records that were taken
/// would be taken again.
pub struct Suspended([u8; SUSPENDED]);

impl Suspended {
    /// As it is written for a place that outlives the program. Whoever reads it can open and forge what the session says: it is to be
    /// sealed there.
    pub const fn bytes(&self) -> &[u8; SUSPENDED] {
        &self.0
    }

    /// What [`Suspended::bytes`] said; none if it is of another form.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let suspended = Self(bytes.try_into().ok()?);
        (suspended.0[0] == FORM).then_some(suspended)
    }
}

impl Drop for Suspended {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl<P: Profile, H: HandshakeSlot<SmallKeys, Version12<P::Features>>> Session<SmallKeys, Server<P>, H> {
    /// Ends the session here without a word to its client, for [`Session::wake`] to go on with it. None unless it is connected and has
    /// no alert to send.
    ///
    /// What is needed to send the last flight of its handshake again is dropped: a client that did not get that flight, and did
    /// not show yet that it did, makes another handshake.
    pub fn suspend(self) -> Option<Suspended> {
        let epoch = &self.epochs.0;
        let protection = epoch.codec.get()?;
        let next = epoch.write_sequence.filter(|_| self.phase == Phase::Connected && self.alert.is_none())?;
        let mut suspended = Suspended([0; SUSPENDED]);
        let mut window = Window::new(0, &mut suspended.0);
        window.put(&[FORM]);
        window.put(&protection.suite.number().0.to_be_bytes());
        for Direction { key, iv } in [&protection.read, &protection.write] {
            window.put(&key[..]);
            window.put(iv);
        }
        window.put(&next.to_bytes());
        window.put(&epoch.replay.to_bytes());
        window.put(self.own_id.room());
        window.put(protection.peer_id.room());
        window.put(&self.send_limit.to_be_bytes());
        window.put(&self.receive_limit.to_be_bytes());
        window.put(&self.random_prefix);
        Some(suspended)
    }

    /// Goes on with a session that was suspended. `skipped` numbers are left out before that of its next record. None if no number
    /// is left then, or if it is of a suite that this profile does not have.
    pub fn wake(suspended: &Suspended, skipped: u64, handshake: H) -> Option<Self> {
        let (_, rest) = suspended.0.split_first()?;
        let (suite, rest) = rest.split_first_chunk()?;
        let (read, rest) = rest.split_first_chunk()?;
        let (write, rest) = rest.split_first_chunk()?;
        let (next, rest) = rest.split_first_chunk::<NUMBER>()?;
        let (replay, rest) = rest.split_first_chunk()?;
        let (own_id, rest) = rest.split_first_chunk()?;
        let (peer_id, rest) = rest.split_first_chunk()?;
        let (send_limit, rest) = rest.split_first_chunk()?;
        let (receive_limit, random_prefix) = rest.split_first_chunk()?;

        let suite = Suite::of(CipherSuite(u16::from_be_bytes(*suite)))?;
        let is_known = P::SUITE.is_none_or(|only| only == suite);
        let next = next.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)).checked_add(skipped)?;
        let [0, 0, next @ ..] = next.to_be_bytes() else { return None };
        let mut session = Self::new(handshake);
        session.phase = Phase::Connected;
        let keys = (direction(read), direction(write));
        let epoch = &mut session.epochs.0;
        epoch.codec = Slot::Full(Protection::new(keys, suite, ConnectionId::from_room(peer_id)?));
        epoch.write_sequence = Some(SequenceNumber::from_bytes(next));
        epoch.replay = ReplayWindow::from_bytes(replay);
        session.own_id = ConnectionId::from_room(own_id)?;
        session.send_limit = u16::from_be_bytes(*send_limit);
        session.receive_limit = u16::from_be_bytes(*receive_limit);
        session.random_prefix.copy_from_slice(random_prefix);
        is_known.then_some(session)
    }

    /// What stands in the records of the client; nothing if it sends none with a connection id.
    pub fn connection_id(&self) -> &[u8] {
        self.own_id()
    }
}

fn direction(bytes: &[u8; DIRECTION]) -> Direction<SmallKeys> {
    let (key, iv) = bytes.split_at(AES_128_KEY);
    let mut direction = Direction::new(&mut SmallKeys::default(), &[0; AES_128_KEY], [0; WRITE_IV]);
    direction.key.copy_from_slice(key);
    direction.iv.copy_from_slice(iv);
    direction
}

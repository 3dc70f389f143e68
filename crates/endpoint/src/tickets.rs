//! Session tickets: what is left of sessions, sealed for their clients to keep.

use sixlock_base::{Cx, Duration, Entropy, Instant};
use sixlock_coap::ByteStore;
use sixlock_crypto::{AES_128_KEY, CcmNonce, CcmTag, Crypto, Tag, wipe};
use sixlock_dtls::OptionalPart;

use crate::session_record::{MAX_SESSION_RECORD, SessionRecord};

/// The length of what a key of tickets is made of, in bytes: its name and itself.
pub const TICKET_KEY: usize = NAME + AES_128_KEY;
/// The longest ticket of an endpoint, in bytes.
pub(crate) const LONGEST_TICKET: usize = NAME + NONCE + TIME + MAX_SESSION_RECORD + TAG.len();

/// It tells a key from the few others there may be; what it seals proves the rest.
const NAME: usize = 4;
const NONCE: usize = 13;
const TIME: usize = 4;
const TAG: CcmTag = CcmTag::Sixteen;
/// What tickets are sealed for: sessions of this version, which are bound to their whole handshakes, in this form.
const PURPOSE: &[u8] = b"DTLS 1.2, extended master secret, 1";

/// The keys of tickets, each of random bytes ([`TICKET_KEY`]) that no other purpose has. Wiped when dropped.
pub struct TicketKeys {
    /// Seals tickets.
    pub current: [u8; TICKET_KEY],
    /// Has sealed them before, if any did: they are taken, and replaced.
    pub previous: Option<[u8; TICKET_KEY]>,
}

impl Drop for TicketKeys {
    fn drop(&mut self) {
        wipe(&mut self.current);
        if let Some(previous) = &mut self.previous {
            wipe(previous);
        }
    }
}

/// What makes tickets, and takes them. A ticket is the name of a key, a nonce, and sealed behind it the time of the full handshake
/// with what an endpoint otherwise keeps of a session, in the order that
/// [RFC 5077 section 4](https://www.rfc-editor.org/rfc/rfc5077#section-4) recommends; but the seal is AES-128-CCM's, for that covers
/// both, and names are short, for each goes over the air.
pub struct Tickets<C: Crypto> {
    current: Option<Key<C>>,
    previous: Option<Key<C>>,
    /// The seconds since 1970 at a moment.
    clock: (Instant, u32),
}

struct Key<C: Crypto> {
    name: [u8; NAME],
    key: C::Aes128,
}

/// What a ticket said.
pub(crate) struct OpenedTicket<I> {
    pub(crate) left: SessionRecord<I>,
    /// When the full handshake was, in seconds since 1970.
    since: u32,
    /// For how many seconds it can be presented from now on.
    pub(crate) lifetime: u32,
    /// Its key is about to go.
    pub(crate) is_old: bool,
}

impl<C: Crypto> OptionalPart<Self> for Tickets<C> {
    const EMPTY: Self = Self { current: None, previous: None, clock: (Instant::from_millis(0), 0) };

    fn get(&self) -> Option<&Self> {
        Some(self)
    }

    fn get_mut(&mut self) -> Option<&mut Self> {
        Some(self)
    }
}

impl<C: Crypto> Tickets<C> {
    pub(crate) fn set_keys<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, keys: &TicketKeys, unix_seconds: u32) {
        self.current = Key::new(cx.crypto, &keys.current);
        self.previous = keys.previous.as_ref().and_then(|key| Key::new(cx.crypto, key));
        self.clock = (cx.now, unix_seconds);
    }

    /// Whether tickets are given.
    pub(crate) const fn are_given(&self) -> bool {
        self.current.is_some()
    }

    /// The seconds since 1970.
    fn time(&self, now: Instant) -> u32 {
        let (then, seconds) = self.clock;
        seconds.wrapping_add(now.since(then).millis() / 1000)
    }

    /// Makes a ticket of what is left of a session: of a new one, or of what `opened` says of another ticket; none without a key.
    pub(crate) fn seal<E: Entropy, N, I: ByteStore>(
        &self,
        cx: &mut Cx<'_, C, E, N>,
        left: &SessionRecord<I>,
        opened: Option<&OpenedTicket<I>>,
        out: &mut [u8; LONGEST_TICKET],
    ) -> usize {
        let Some(Key { name, key }) = &self.current else { return 0 };
        let since = opened.map_or_else(|| self.time(cx.now), |opened| opened.since);
        let (front, sealed) = out.split_at_mut(NAME + NONCE);
        let (place, nonce) = front.split_at_mut(NAME);
        place.copy_from_slice(name);
        cx.entropy.fill(nonce);
        let (time, rest) = sealed.split_at_mut(TIME);
        time.copy_from_slice(&since.to_be_bytes());
        let length = TIME + rest.first_chunk_mut().map_or(0, |kept| left.to_bytes(kept));
        let Ok(nonce) = (&*nonce).try_into() else { return 0 };
        let (state, rest) = sealed.split_at_mut(length);
        let mut tag = Tag::empty(TAG);
        cx.crypto.ccm_seal(key, CcmNonce::Thirteen(nonce), PURPOSE, state, &mut tag);
        rest[..TAG.len()].copy_from_slice(tag.bytes());
        NAME + NONCE + length + TAG.len()
    }

    /// What a ticket says that is not older than `lifetime`; none if it is, or was not made here.
    pub(crate) fn open<E, N, I: ByteStore>(
        &self,
        cx: &mut Cx<'_, C, E, N>,
        ticket: &[u8],
        lifetime: Duration,
    ) -> Option<OpenedTicket<I>> {
        let (name, rest) = ticket.split_first_chunk::<NAME>()?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE>()?;
        let (state, tag) = sealed.split_at_checked(sealed.len().checked_sub(TAG.len())?)?;
        let named = |key: &&Key<C>| key.name == *name;
        let current = self.current.as_ref().filter(named);
        let key = current.or(self.previous.as_ref().filter(named))?;
        let mut room = [0; TIME + MAX_SESSION_RECORD];
        let (sealed, state) = (state, room.get_mut(..state.len())?);
        state.copy_from_slice(sealed);
        let nonce = CcmNonce::Thirteen(nonce);
        let opened = cx.crypto.ccm_open(&key.key, nonce, PURPOSE, state, &Tag::from_bytes(tag)?);
        let left = opened.ok().and_then(|()| {
            let (since, kept) = state.split_first_chunk()?;
            Some((u32::from_be_bytes(*since), SessionRecord::from_bytes(kept)?))
        });
        wipe(&mut room);
        let (since, left) = left?;
        // A clock that was set back makes none older.
        let age = self.time(cx.now).saturating_sub(since);
        let lifetime = (lifetime.millis() / 1000).checked_sub(age).filter(|&left| left > 0)?;
        Some(OpenedTicket { left, since, lifetime, is_old: current.is_none() })
    }
}

impl<C: Crypto> Key<C> {
    fn new(crypto: &mut C, bytes: &[u8; TICKET_KEY]) -> Option<Self> {
        let (name, key) = bytes.split_first_chunk()?;
        Some(Self { name: *name, key: crypto.aes_128(key.first_chunk()?) })
    }
}

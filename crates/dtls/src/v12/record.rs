//! The protection of records with AES-CCM
//! ([RFC 6655 section 3](https://www.rfc-editor.org/rfc/rfc6655#section-3)) or AES-GCM
//! ([RFC 5288 section 3](https://www.rfc-editor.org/rfc/rfc5288#section-3)), with a connection id or without.

use core::marker::PhantomData;

use sixlock_crypto::{AES_128_KEY, AuthenticationFailed, CcmNonce, Crypto, Tag, wipe};
use sixlock_dtls_msg::{ContentType, RecordHeader, SequenceNumber, Version, Window};

use crate::engine::record::RecordCodec;
use crate::suite::{CONTENT_TYPE, EXPLICIT_NONCE, RECORD_FRONT, RECORD_OVERHEAD};
use crate::{ConnectionId, MAX_CONNECTION_ID, Profile, Suite};

/// Length of the secret part of a nonce.
pub(crate) const WRITE_IV: usize = 4;
/// The epoch of protected records: sessions never renegotiate, so there is one.
pub(crate) const PROTECTED: u16 = 1;

/// The keys of one direction.
pub(crate) struct Direction<C: Crypto> {
    pub(crate) key: C::Aes128,
    pub(crate) iv: [u8; WRITE_IV],
}

/// How records are protected.
pub struct Protection<C: Crypto, P> {
    pub(crate) read: Direction<C>,
    pub(crate) write: Direction<C>,
    pub(crate) suite: Suite,
    /// What stands in each record that is sent.
    pub(crate) peer_id: ConnectionId,
    profile: PhantomData<P>,
}

impl<C: Crypto, P: Profile> Protection<C, P> {
    pub(crate) fn new(
        (read, write): (Direction<C>, Direction<C>),
        suite: Suite,
        peer_id: ConnectionId,
    ) -> Self {
        Self { read, write, suite, peer_id, profile: PhantomData }
    }

    fn suite(&self) -> Suite {
        P::SUITE.unwrap_or(self.suite)
    }

    fn id(&self) -> &[u8] {
        if P::CONNECTION_IDS { self.peer_id.bytes() } else { &[] }
    }
}

impl<C: Crypto, P: Profile> RecordCodec<C> for Protection<C, P> {
    const FRONT: usize = RECORD_FRONT;
    const LEAST_OVERHEAD: usize = RECORD_OVERHEAD;

    fn overhead(&self) -> usize {
        let id = self.id();
        self.suite().overhead() + if id.is_empty() { 0 } else { id.len() + CONTENT_TYPE }
    }

    fn seal(
        &self,
        crypto: &mut C,
        content_type: ContentType,
        sequence_number: SequenceNumber,
        buffer: &mut [u8],
        length: usize,
    ) -> Option<usize> {
        let record = buffer.get_mut(..length.checked_add(self.overhead())?)?;
        let end = record.len();
        let id = self.id();
        let (mut visible_type, mut inner) = (content_type, length);
        if !id.is_empty() {
            // The content makes room for the id, and its type goes behind it.
            let moved = RECORD_FRONT + id.len();
            record.copy_within(RECORD_FRONT..RECORD_FRONT + length, moved);
            *record.get_mut(moved + length)? = content_type as u8;
            (visible_type, inner) = (ContentType::ConnectionId, length + CONTENT_TYPE);
        }
        let header = RecordHeader {
            content_type: visible_type,
            version: Version::DTLS_1_2,
            epoch: PROTECTED,
            sequence_number,
            length: u16::try_from(EXPLICIT_NONCE + inner + self.suite().tag().len()).ok()?,
        };
        let (front, rest) = record.split_at_mut(RECORD_FRONT + id.len());
        let (data, tail) = rest.split_at_mut(inner);
        // The epoch and sequence number never repeat under a key: they are the nonce, too.
        let explicit = explicit_nonce(&header);
        let aad = AssociatedData::new(&header, id, inner);
        let Direction { key, .. } = &self.write;
        let nonce = self.write.nonce(&explicit);
        if self.suite().is_gcm() {
            // Made anew for each record: kept, it would add 288 bytes to a session of a host for its two directions.
            let key = crypto.aes_gcm(key);
            tail.copy_from_slice(&crypto.gcm_seal(&key, &nonce, aad.bytes(), data));
        } else {
            let mut tag = Tag::empty(self.suite().tag());
            crypto.ccm_seal(key, CcmNonce::Twelve(&nonce), aad.bytes(), data, &mut tag);
            tail.copy_from_slice(tag.bytes());
        }
        let mut window = Window::new(0, front);
        header.emit_with_id(id, &mut window);
        window.put(&explicit);
        Some(end)
    }

    #[inline(never)]
    fn open<'d>(
        &self,
        crypto: &mut C,
        header: &RecordHeader,
        id: &[u8],
        body: &'d mut [u8],
    ) -> Result<(ContentType, &'d mut [u8]), AuthenticationFailed> {
        let (explicit, rest) = body.split_first_chunk_mut::<EXPLICIT_NONCE>().ok_or(AuthenticationFailed)?;
        let end = rest.len().checked_sub(self.suite().tag().len()).ok_or(AuthenticationFailed)?;
        let (data, tail) = rest.split_at_mut(end);
        let aad = AssociatedData::new(header, id, data.len());
        let Direction { key, .. } = &self.read;
        let nonce = self.read.nonce(explicit);
        if self.suite().is_gcm() {
            let key = crypto.aes_gcm(key);
            let tag = (&*tail).try_into().map_err(|_| AuthenticationFailed)?;
            crypto.gcm_open(&key, &nonce, aad.bytes(), data, tag)?;
        } else {
            let tag = Tag::from_bytes(tail).ok_or(AuthenticationFailed)?;
            crypto.ccm_open(key, CcmNonce::Twelve(&nonce), aad.bytes(), data, &tag)?;
        }
        if !P::CONNECTION_IDS || header.content_type != ContentType::ConnectionId {
            return Ok((header.content_type, data));
        }
        // Behind the content stands its type, and behind that as many zeros as the sender likes:
        // https://www.rfc-editor.org/rfc/rfc9146#section-4
        let at = data.iter().rposition(|&byte| byte != 0).ok_or(AuthenticationFailed)?;
        let (content, padding) = data.split_at_mut(at);
        let content_type = padding.first().and_then(|&byte| ContentType::from_u8(byte).ok());
        Ok((content_type.ok_or(AuthenticationFailed)?, content))
    }
}

impl<C: Crypto> Direction<C> {
    pub(crate) fn new(crypto: &mut C, key: &[u8; AES_128_KEY], iv: [u8; WRITE_IV]) -> Self {
        Self { key: crypto.aes_128(key), iv }
    }

    fn nonce(&self, explicit: &[u8; EXPLICIT_NONCE]) -> [u8; WRITE_IV + EXPLICIT_NONCE] {
        let mut nonce = [0; WRITE_IV + EXPLICIT_NONCE];
        nonce[..WRITE_IV].copy_from_slice(&self.iv);
        nonce[WRITE_IV..].copy_from_slice(explicit);
        nonce
    }
}

impl<C: Crypto> Drop for Direction<C> {
    fn drop(&mut self) {
        wipe(&mut self.iv);
    }
}

fn explicit_nonce(header: &RecordHeader) -> [u8; EXPLICIT_NONCE] {
    let mut explicit = [0; EXPLICIT_NONCE];
    explicit[..2].copy_from_slice(&header.epoch.to_be_bytes());
    explicit[2..].copy_from_slice(&header.sequence_number.to_bytes());
    explicit
}

/// What is authenticated beside the content.
struct AssociatedData {
    bytes: [u8; LONGEST_ASSOCIATED_DATA],
    length: usize,
}

/// The longest such data: that of a record with the longest connection id.
const LONGEST_ASSOCIATED_DATA: usize = 23 + MAX_CONNECTION_ID;

impl AssociatedData {
    /// That of a record whose content, in its protected form, has `length` bytes.
    fn new(header: &RecordHeader, id: &[u8], length: usize) -> Self {
        let mut data = Self { bytes: [0; LONGEST_ASSOCIATED_DATA], length: 0 };
        let mut window = Window::new(0, &mut data.bytes);
        let (version, length) = (header.version.0.to_be_bytes(), (length as u16).to_be_bytes());
        if !id.is_empty() {
            // https://www.rfc-editor.org/rfc/rfc9146#section-5.3
            window.put(&[0xff; 8]);
            window.put(&[header.content_type as u8, id.len() as u8, header.content_type as u8]);
            window.put(&version);
            window.put(&explicit_nonce(header));
            window.put(id);
        } else {
            // https://www.rfc-editor.org/rfc/rfc5246#section-6.2.3.3
            window.put(&explicit_nonce(header));
            window.put(&[header.content_type as u8]);
            window.put(&version);
        }
        window.put(&length);
        data.length = window.filled();
        data
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

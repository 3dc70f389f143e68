//! The protection of records with AES-128-CCM-8
//! ([RFC 6655 section 3](https://www.rfc-editor.org/rfc/rfc6655#section-3)).

use sixlock_crypto::{AES_128_KEY, AuthenticationFailed, CcmNonce, CcmTag, Crypto, Tag, wipe};
use sixlock_dtls_msg::{ContentType, RECORD_HEADER, RecordHeader, SequenceNumber, Version};

/// Bytes of a protected record before its content: the header and the explicit nonce.
pub const RECORD_FRONT: usize = RECORD_HEADER + EXPLICIT_NONCE;
/// Bytes of a protected record behind its content: the tag.
pub const RECORD_TAIL: usize = CcmTag::Eight.len();
/// What protection adds to application data, in bytes.
pub const RECORD_OVERHEAD: usize = RECORD_FRONT + RECORD_TAIL;

/// Length of the secret part of a nonce.
pub(crate) const WRITE_IV: usize = 4;
/// Length of the part of a nonce that is sent.
const EXPLICIT_NONCE: usize = 8;
/// The epoch of protected records: sessions never renegotiate, so there is one.
pub(crate) const PROTECTED: u16 = 1;
/// The epoch of records before there are keys.
pub(crate) const PLAIN: u16 = 0;

/// The keys of one direction.
pub(crate) struct Protection<C: Crypto> {
    key: C::Aes128,
    iv: [u8; WRITE_IV],
}

impl<C: Crypto> Protection<C> {
    pub(crate) fn new(crypto: &mut C, key: &[u8; AES_128_KEY], iv: [u8; WRITE_IV]) -> Self {
        Self { key: crypto.aes_128(key), iv }
    }

    /// Protects the `length` bytes at `buffer[RECORD_FRONT..]` in place and returns the
    /// record's length; none if `buffer` has no room for the record.
    pub(crate) fn seal(
        &self,
        crypto: &mut C,
        content_type: ContentType,
        sequence_number: SequenceNumber,
        buffer: &mut [u8],
        length: usize,
    ) -> Option<usize> {
        let end = RECORD_FRONT.checked_add(length)?.checked_add(RECORD_TAIL)?;
        let (front, rest) = buffer.get_mut(..end)?.split_at_mut(RECORD_FRONT);
        let (data, tail) = rest.split_at_mut(length);
        let header = RecordHeader {
            content_type,
            version: Version::DTLS_1_2,
            epoch: PROTECTED,
            sequence_number,
            length: u16::try_from(EXPLICIT_NONCE + length + RECORD_TAIL).ok()?,
        };
        // The epoch and sequence number never repeat under a key: they are the nonce, too.
        let explicit = explicit_nonce(&header);
        let mut tag = Tag::empty(CcmTag::Eight);
        let aad = associated_data(&header, length);
        crypto.ccm_seal(&self.key, CcmNonce::Twelve(&self.nonce(&explicit)), &aad, data, &mut tag);
        front[..RECORD_HEADER].copy_from_slice(&header.to_bytes());
        front[RECORD_HEADER..].copy_from_slice(&explicit);
        tail.copy_from_slice(tag.bytes());
        Some(end)
    }

    /// Opens a record's body in place and lends its content.
    pub(crate) fn open<'d>(
        &self,
        crypto: &mut C,
        header: &RecordHeader,
        body: &'d mut [u8],
    ) -> Result<&'d mut [u8], AuthenticationFailed> {
        let (explicit, rest) = body.split_first_chunk_mut::<EXPLICIT_NONCE>().ok_or(AuthenticationFailed)?;
        let (data, tail) = rest.split_last_chunk_mut::<RECORD_TAIL>().ok_or(AuthenticationFailed)?;
        let tag = Tag::from_bytes(tail).ok_or(AuthenticationFailed)?;
        let aad = associated_data(header, data.len());
        crypto.ccm_open(&self.key, CcmNonce::Twelve(&self.nonce(explicit)), &aad, data, &tag)?;
        Ok(data)
    }

    fn nonce(&self, explicit: &[u8; EXPLICIT_NONCE]) -> [u8; WRITE_IV + EXPLICIT_NONCE] {
        let mut nonce = [0; WRITE_IV + EXPLICIT_NONCE];
        nonce[..WRITE_IV].copy_from_slice(&self.iv);
        nonce[WRITE_IV..].copy_from_slice(explicit);
        nonce
    }
}

impl<C: Crypto> Drop for Protection<C> {
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

/// What is authenticated beside the content
/// ([RFC 5246 section 6.2.3.3](https://www.rfc-editor.org/rfc/rfc5246#section-6.2.3.3)).
fn associated_data(header: &RecordHeader, length: usize) -> [u8; RECORD_HEADER] {
    let mut aad = [0; RECORD_HEADER];
    aad[..8].copy_from_slice(&explicit_nonce(header));
    aad[8] = header.content_type as u8;
    aad[9..11].copy_from_slice(&header.version.0.to_be_bytes());
    aad[11..].copy_from_slice(&(length as u16).to_be_bytes());
    aad
}

/// Splits the first record off a datagram: its header, its body and what follows.
pub(crate) fn split(datagram: &mut [u8]) -> Option<(RecordHeader, &mut [u8], &mut [u8])> {
    let header = RecordHeader::parse(datagram).ok().filter(|header| header.version.is_dtls())?;
    let (body, rest) = datagram.get_mut(RECORD_HEADER..)?.split_at_mut_checked(header.length.into())?;
    Some((header, body, rest))
}

/// Writes a record without protection and returns its length; none if it does not fit.
pub(crate) fn emit_plain(
    version: Version,
    content_type: ContentType,
    sequence_number: SequenceNumber,
    content: &[u8],
    out: &mut [u8],
) -> Option<usize> {
    let length = u16::try_from(content.len()).ok()?;
    let header = RecordHeader { content_type, version, epoch: PLAIN, sequence_number, length };
    let (front, rest) = out.split_at_mut_checked(RECORD_HEADER)?;
    rest.get_mut(..content.len())?.copy_from_slice(content);
    front.copy_from_slice(&header.to_bytes());
    Some(RECORD_HEADER + content.len())
}

//! Records before they are opened, and how a version protects them.

use sixlock_crypto::{AuthenticationFailed, Crypto};
use sixlock_dtls_msg::{ContentType, RECORD_HEADER, RecordHeader, SequenceNumber, Version};

use crate::Refusal;

/// The epoch of records before there are keys.
pub(crate) const PLAIN: u16 = 0;

/// How a version protects the records of an epoch: its keys, both ways.
pub trait RecordCodec<C: Crypto> {
    /// Bytes of a protected record before its content.
    const FRONT: usize;

    /// The fewest bytes that protection adds to a content.
    const LEAST_OVERHEAD: usize;

    /// How many bytes protection adds to a content.
    fn overhead(&self) -> usize;

    /// Protects the `length` bytes at `buffer[Self::FRONT..]` in place and returns the record's length; `None` if the record
    /// does not fit into `buffer`.
    fn seal(
        &self,
        crypto: &mut C,
        content_type: ContentType,
        sequence_number: SequenceNumber,
        buffer: &mut [u8],
        length: usize,
    ) -> Option<usize>;

    /// Opens a record's body in place and lends its content, with its type. Records that hide their type carry the connection
    /// id `id`.
    fn open<'d>(
        &self,
        crypto: &mut C,
        header: &RecordHeader,
        id: &[u8],
        body: &'d mut [u8],
    ) -> Result<(ContentType, &'d mut [u8]), AuthenticationFailed>;
}

/// Splits the first record off a datagram: its header, its body and what follows. If its type says
/// that it carries a connection id, that must be `id`.
#[inline(never)]
pub(crate) fn split<'d>(
    datagram: &'d mut [u8],
    id: &[u8],
) -> Result<(RecordHeader, &'d mut [u8], &'d mut [u8]), Refusal> {
    let (header, carried) =
        RecordHeader::parse_with_id(datagram, id.len()).map_err(|_| Refusal::RecordHeader)?;
    let carries = header.content_type == ContentType::ConnectionId;
    if !header.version.is_dtls() || carries && (id.is_empty() || carried != id) {
        return Err(if header.version.is_dtls() { Refusal::ConnectionId } else { Refusal::RecordVersion });
    }
    let behind = datagram.get_mut(RECORD_HEADER + carried.len()..).ok_or(Refusal::RecordLength)?;
    let (body, rest) = behind.split_at_mut_checked(header.length.into()).ok_or(Refusal::RecordLength)?;
    Ok((header, body, rest))
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

//! The records in a block: a byte that says of which kind it is, and what follows then.

use std::time::Duration;

use sixlock_dtls::SESSION_ID;
use sixlock_endpoint::LONGEST_KEPT;

use crate::secrets::Secret;

const RESUMABLE: u8 = 1;
const FORGOTTEN: u8 = 2;

/// The longest record, in bytes: until when, and how many bytes follow.
pub(crate) const LONGEST: usize = 1 + 8 + 1 + LONGEST_KEPT;

/// What happened to what is left of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record<'a> {
    /// It can be resumed until so many milliseconds after 1970, by these bytes.
    Resumable {
        /// Until when.
        until: i64,
        /// What the endpoint says.
        kept: &'a [u8],
    },
    /// It cannot be resumed any more.
    Forgotten {
        /// The session's id.
        id: [u8; SESSION_ID],
    },
}

impl Record<'_> {
    pub(crate) fn to_bytes(self) -> Secret {
        Secret::new(match self {
            // Not written byte by byte: a vector that grows leaves a copy behind.
            Record::Resumable { until, kept } => {
                [&[RESUMABLE][..], &until.to_be_bytes(), &[kept.len() as u8], kept].concat()
            }
            Record::Forgotten { id } => [&[FORGOTTEN][..], &id].concat(),
        })
    }

    /// For how long a session can be resumed from `now` on; nothing if its time is up.
    pub(crate) fn left(until: i64, now: i64) -> Option<Duration> {
        let left = u64::try_from(until.saturating_sub(now)).ok()?;
        (left > 0).then(|| Duration::from_millis(left))
    }
}

/// The records in a block, up to one that is none.
pub(super) fn read(block: &[u8]) -> impl Iterator<Item = Record<'_>> {
    let mut rest = block;
    std::iter::from_fn(move || {
        let (kind, behind) = rest.split_first()?;
        let (record, behind) = match *kind {
            RESUMABLE => {
                let (until, behind) = behind.split_first_chunk()?;
                let (&length, behind) = behind.split_first()?;
                let (kept, behind) = behind.split_at_checked(length.into())?;
                (Record::Resumable { until: i64::from_be_bytes(*until), kept }, behind)
            }
            FORGOTTEN => {
                let (id, behind) = behind.split_first_chunk()?;
                (Record::Forgotten { id: *id }, behind)
            }
            _ => return None,
        };
        rest = behind;
        Some(record)
    })
}

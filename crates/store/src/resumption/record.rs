//! The records in a block: a byte that says of which kind it is, and what follows then.

use std::time::Duration;

use crate::secrets::Secret;
use sixlock_dtls::SESSION_ID;

const RESUMABLE: u8 = 1;
const FORGOTTEN: u8 = 2;
/// The same as the first, with more bytes than one can say the number of.
const RESUMABLE_BY_MORE: u8 = 3;

/// The longest state of a session, in bytes.
pub const LONGEST_STATE: usize = 1_280;
/// The longest record, in bytes: until when, and how many bytes follow.
pub(super) const LONGEST: usize = 1 + 8 + 2 + LONGEST_STATE;

const _: () = assert!(sixlock_endpoint::MAX_SESSION_RECORD <= LONGEST_STATE);

/// A change of the state of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// It can be resumed.
    Resumable {
        /// Until when, in milliseconds since 1970.
        until: i64,
        /// The state, as its writer encodes it: [`LONGEST_STATE`] bytes at most.
        state: &'a [u8],
    },
    /// It cannot be resumed any more.
    Forgotten {
        /// The session's id.
        id: [u8; SESSION_ID],
    },
}

impl Record<'_> {
    /// Returns it as it is written.
    pub fn to_bytes(self) -> Secret {
        Secret::new(match self {
            // Not written byte by byte: a vector that grows leaves a copy behind.
            Record::Resumable { until, state } => {
                let until = until.to_be_bytes();
                match u8::try_from(state.len()) {
                    Ok(length) => [&[RESUMABLE][..], &until, &[length], state].concat(),
                    Err(_) => {
                        let length = (state.len() as u16).to_be_bytes();
                        [&[RESUMABLE_BY_MORE][..], &until, &length, state].concat()
                    }
                }
            }
            Record::Forgotten { id } => [&[FORGOTTEN][..], &id].concat(),
        })
    }

    /// Returns for how long a session can be resumed from `now` on; `None` if its time is up.
    pub fn remaining(until: i64, now: i64) -> Option<Duration> {
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
            RESUMABLE | RESUMABLE_BY_MORE => {
                let (until, behind) = behind.split_first_chunk()?;
                let (length, behind) = behind.split_at_checked(if *kind == RESUMABLE { 1 } else { 2 })?;
                let length = length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
                let (state, behind) = behind.split_at_checked(length)?;
                (Record::Resumable { until: i64::from_be_bytes(*until), state }, behind)
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

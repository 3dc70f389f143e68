//! The states of sessions with devices that are polled, on the disk.

use std::thread::JoinHandle;

use sixlock_dtls::{MAX_TICKET, SESSION_STATE, SessionState};
use sixlock_store::{ResourceId, Secret, Store, now_ms};
use sixlock_telemetry::Events;
use tokio::sync::mpsc;
use zeroize::Zeroizing;

use super::secured::{Device, Fingerprint, RESUMABLE_FOR, SavedSession};
use super::sessions::Sessions;
use crate::Error;
use sixlock_store::resumption::{LONGEST_STATE, Limits, Owner, Record, ResumptionFiles, ResumptionWriter};

/// DTLS sessions, open or not, that can be resumed.
pub(super) const RESUMABLE: usize = 10_000;

/// Writes the states of sessions to the disk.
pub(super) struct ResumptionStore(mpsc::Sender<Secret>);

impl ResumptionStore {
    /// Gives `sessions` what was kept, and keeps what comes from now on; with the secret by which devices are marked. The thread
    /// ends when all of that is written that there was when this was dropped.
    pub(super) fn restore<S>(
        store: &Store,
        sessions: &mut Sessions<Device, S>,
        events: Events,
    ) -> Result<(Self, Secret, JoinHandle<()>), Error> {
        let milliseconds = RESUMABLE_FOR.as_millis() as i64;
        let limits = Limits { records: RESUMABLE as u64, milliseconds };
        let now = now_ms();
        let files = ResumptionFiles::open(store.directory(), Owner::Pollers, limits)?;
        let ResumptionWriter { secret, records, thread } =
            files.resume(events, std::convert::identity, |record| match record {
                Record::Resumable { until, state } => {
                    if Record::remaining(until, now).is_some()
                        && let Some((resource, device)) = read(state, until)
                    {
                        sessions.restore(resource, device);
                    }
                }
                Record::Forgotten { id } => {
                    sessions.take(ResourceId(i128::from_be_bytes(id) as i64));
                }
            })?;
        Ok((Self(records), secret, thread))
    }

    /// Keeps what is left of the session with the device of `resource`, if that has changed. What the disk is too slow for is not
    /// kept, and costs the device a full handshake after the next start.
    pub(super) fn keep(&self, resource: ResourceId, device: &mut Device) {
        let Some(left) = device.take_untold() else { return };
        let Some(left) = left else { return self.forget(resource) };
        let state = write(resource, device.mark(), &left);
        let _ = self.0.try_send(Record::Resumable { until: left.until, state: state.bytes() }.to_bytes());
    }

    /// Nothing is left of the session with the device of `resource`.
    pub(super) fn forget(&self, resource: ResourceId) {
        let id = i128::from(resource.0).to_be_bytes();
        let _ = self.0.try_send(Record::Forgotten { id }.to_bytes());
    }
}

/// The longest that is kept of a session, in bytes.
const LONGEST: usize = 8 + size_of::<Fingerprint>() + 2 + MAX_TICKET + SESSION_STATE;

const _: () = assert!(LONGEST <= LONGEST_STATE);

/// What is kept: whose it is, the length of the ticket, and that before what it belongs to.
fn write(resource: ResourceId, mark: &Fingerprint, left: &SavedSession) -> Secret {
    let mut room = Zeroizing::new([0; SESSION_STATE]);
    let length = left.resumption.to_bytes(&mut room);
    let resumption = room.get(..length).unwrap_or_default();
    let ticket = &left.ticket;
    let parts =
        [&resource.0.to_be_bytes()[..], mark, &(ticket.len() as u16).to_be_bytes(), ticket, resumption];
    Secret::new(parts.concat())
}

/// Reads what [`write`] wrote; none if it did not. A cloud that knew nothing of tickets wrote in place of their length the number
/// of a suite, which is a greater one than of the bytes behind it.
fn read(kept: &[u8], until: i64) -> Option<(ResourceId, Device)> {
    let (resource, rest) = kept.split_first_chunk()?;
    let (mark, rest) = rest.split_first_chunk::<{ size_of::<Fingerprint>() }>()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (ticket, resumption) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
    let left =
        SavedSession { resumption: SessionState::from_bytes(resumption)?, ticket: ticket.to_vec(), until };
    Some((ResourceId(i64::from_be_bytes(*resource)), Device::restored(*mark, left)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: Fingerprint = [7; size_of::<Fingerprint>()];

    /// TLS_PSK_WITH_AES_128_GCM_SHA256, the least of all numbers that there are, and TLS_PSK_WITH_AES_128_CCM_8.
    const SUITES: [u16; 2] = [0x00a8, 0xc0a8];

    /// What is left of a session with so long an id, as it is written.
    fn resumption(suite: u16, id: usize) -> Vec<u8> {
        [&suite.to_be_bytes()[..], &[8; 48], &vec![9; id]].concat()
    }

    #[test]
    fn what_is_left_is_read_as_it_was_written() {
        for (id, ticket) in [(32, 0), (16, 0), (0, 1), (0, 180), (0, MAX_TICKET)] {
            let left = SavedSession {
                resumption: SessionState::from_bytes(&resumption(SUITES[1], id)).unwrap(),
                ticket: vec![3; ticket],
                until: 5,
            };
            let state = write(ResourceId(6), &MARK, &left);
            assert!(state.bytes().len() <= LONGEST);
            let (resource, mut device) = read(state.bytes(), 5).unwrap();
            assert_eq!((resource, device.mark()), (ResourceId(6), &MARK));
            assert!(device.take_untold().is_none());
            device.forget();
            device.keep(Some(left));
            let read = device.take_untold().unwrap().unwrap();
            assert_eq!((read.resumption.session_id().len(), read.ticket.len(), read.until), (id, ticket, 5));
        }
    }

    #[test]
    fn what_an_earlier_cloud_wrote_is_left_out() {
        for suite in SUITES {
            for id in 1..=32 {
                let earlier = [&6i64.to_be_bytes()[..], &MARK, &resumption(suite, id)].concat();
                assert!(read(&earlier, 5).is_none(), "{suite} {id}");
            }
        }
    }
}

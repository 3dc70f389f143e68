//! What is left of sessions with devices, between polls and the disk.

use std::thread::JoinHandle;

use sixlock_dtls::{RESUMPTION, Resumption};
use tokio::sync::mpsc;
use zeroize::Zeroizing;

use super::RESUMABLE;
use super::secured::{Device, Left, Mark, RESUMABLE_FOR};
use super::sessions::Sessions;
use crate::Error;
use crate::events::Events;
use crate::resumable::{Keeper, Kept, Limits, Record, Whose};
use crate::secrets::Secret;
use crate::store::{ResourceId, Store, now_ms};

/// The way of what is left of sessions to the disk.
pub(super) struct Keeping(mpsc::Sender<Secret>);

impl Keeping {
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
        let kept = Kept::open(store.directory(), Whose::Pollers, limits)?;
        let Keeper { secret, records, thread } = kept.go_on(events, |record| match record {
            Record::Resumable { until, kept } => {
                if Record::left(until, now).is_some()
                    && let Some((resource, device)) = read(kept, until)
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
        let Some(Left { resumption, until }) = left else { return self.forget(resource) };
        let mut room = Zeroizing::new([0; RESUMPTION]);
        let length = resumption.to_bytes(&mut room);
        let resumption = room.get(..length).unwrap_or_default();
        let kept = Secret::new([&resource.0.to_be_bytes()[..], device.mark(), resumption].concat());
        let _ = self.0.try_send(Record::Resumable { until, kept: kept.bytes() }.to_bytes());
    }

    /// Nothing is left of the session with the device of `resource`.
    pub(super) fn forget(&self, resource: ResourceId) {
        let id = i128::from(resource.0).to_be_bytes();
        let _ = self.0.try_send(Record::Forgotten { id }.to_bytes());
    }
}

/// Reads what [`Keeping::keep`] wrote.
fn read(kept: &[u8], until: i64) -> Option<(ResourceId, Device)> {
    let (resource, rest) = kept.split_first_chunk()?;
    let (mark, resumption) = rest.split_first_chunk::<{ size_of::<Mark>() }>()?;
    let resumption = Resumption::from_bytes(resumption)?;
    Some((ResourceId(i64::from_be_bytes(*resource)), Device::restored(*mark, Left { resumption, until })))
}

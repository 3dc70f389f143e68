//! Events: lifetimes, and associations that are missing.

use sixlock_base::{Instant, Slot};

use super::Ipsec;
use crate::association::{Inbound, Outbound};
use crate::keying::{Keying, Notifications, Notify};
use crate::lifetime::{Expiry, Stage};
use crate::table::Table;
use crate::{AssociationId, Event, InboundId, OutboundId, Transform};

/// The event of an association that reaches this stage.
fn event(id: AssociationId, stage: Stage) -> Option<Event> {
    match stage {
        Stage::Fresh => None,
        Stage::Soft => Some(Event::Expiring(id)),
        Stage::Hard => Some(Event::Expired(id)),
    }
}

impl<
    C,
    T: Transform<C>,
    const POLICIES: usize,
    const ASSOCIATIONS: usize,
    const WINDOW: usize,
    K: Keying<Notifications = Notifications>,
> Ipsec<C, T, POLICIES, ASSOCIATIONS, WINDOW, K>
{
    /// The next event. An association has at most two of lifetimes. [`Event::Acquire`] comes for the first packet that needs associations, and
    /// [`Event::Refused`] for the first that is refused: further packets cause no such event until this one was polled.
    pub fn poll_event(&mut self) -> Option<Event> {
        if let Some(refusal) = self.notifications.refusal.take() {
            return Some(Event::Refused(refusal));
        }
        if let Some(flow) = self.notifications.missing.take() {
            return Some(Event::Acquire(flow));
        }
        if !self.notifications.has_stage {
            return None;
        }
        let mut found = None;
        self.for_each(|id, _, usage| {
            found = found.or_else(|| K::Lifetime::tell(usage).and_then(|stage| event(id, stage)));
        });
        self.notifications.has_stage = found.is_some();
        found
    }

    /// When [`Ipsec::handle_timeout`] is to be called, if a lifetime is limited by time.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.notifications.deadline
    }

    /// Finds the associations that have reached a limit by `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        let (mut has_stage, mut deadline) = (false, None);
        self.for_each(|_, lifetime, usage| {
            has_stage |= lifetime.check(usage, now);
            deadline = Instant::earliest(deadline, lifetime.deadline(usage));
        });
        self.notifications.deadline = deadline;
        self.notifications.note_stage(has_stage);
    }

    /// Calls `act` with the lifetime of every association and what it has carried.
    fn for_each(
        &mut self,
        mut act: impl FnMut(AssociationId, &K::Lifetime, &mut <K::Lifetime as Expiry>::Usage),
    ) {
        for (at, place) in self.outbound.iter_mut().enumerate() {
            if let Slot::Full(Outbound { association, usage, .. }) = place {
                act(AssociationId::Outbound(OutboundId::of(at)), &association.lifetime, usage);
            }
        }
        let replaced =
            self.replaced.places().iter_mut().map(|place| place.get_mut().map(|old| &mut old.inbound));
        let inbound = self.inbound.iter_mut().map(Slot::get_mut).chain(replaced);
        for (at, place) in inbound.enumerate() {
            if let Some(Inbound { association, usage, .. }) = place {
                act(AssociationId::Inbound(InboundId::of(at)), &association.lifetime, usage);
            }
        }
    }
}

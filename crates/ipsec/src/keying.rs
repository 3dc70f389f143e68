//! Where the keys of associations come from ([RFC 4301 section 4.5](https://www.rfc-editor.org/rfc/rfc4301#section-4.5)).

use sixlock_base::{Instant, Slot};

use crate::association::Inbound;
use crate::lifetime::{Expiry, Lifetime};
use crate::table::Table;
use crate::{Association, Flow, InboundId, Refusal};

/// How the associations of a host get their keys: [`Manual`] or [`Automated`].
pub trait Keying {
    /// The limits of associations.
    type Lifetime: Expiry;

    /// The inbound associations that were replaced.
    type Replaced<T, const WINDOW: usize>: Table<Replaced<T, Self::Lifetime, WINDOW>>;

    /// What [`Ipsec::poll_event`](crate::Ipsec::poll_event) needs to know.
    type Notifications: Notify;
}

/// Keys come from configuration. Associations last as long as their host does.
pub struct Manual;

/// Keys are negotiated. Associations have lifetimes and are replaced, and an [`Event`](crate::Event) says when.
///
/// Of the inbound associations that were replaced, `REPLACED` at most are kept for packets that are still on their way. When these
/// are there, no other is replaced until one of them is removed.
pub struct Automated<const REPLACED: usize>;

impl Keying for Manual {
    type Lifetime = ();
    type Replaced<T, const WINDOW: usize> = [Slot<Replaced<T, (), WINDOW>>; 0];
    type Notifications = ();
}

impl<const REPLACED: usize> Keying for Automated<REPLACED> {
    type Lifetime = Lifetime;
    type Replaced<T, const WINDOW: usize> = [Slot<Replaced<T, Lifetime, WINDOW>>; REPLACED];
    type Notifications = Notifications;
}

/// An inbound association that was replaced.
pub struct Replaced<T, L: Expiry, const WINDOW: usize> {
    /// The association that took its place. For policy, packets came under this one.
    pub(crate) successor: InboundId,
    pub(crate) inbound: Inbound<T, L, WINDOW>,
}

/// The replaced association that `is` the one looked for, and its successor.
#[inline(always)]
pub(crate) fn find<T, L: Expiry, const WINDOW: usize>(
    replaced: &mut [Slot<Replaced<T, L, WINDOW>>],
    is: impl Fn(&Association<T, L>) -> bool,
) -> Option<(InboundId, &mut Inbound<T, L, WINDOW>)> {
    let found = replaced.iter_mut().filter_map(Slot::get_mut).find(|old| is(&old.inbound.association))?;
    Some((found.successor, &mut found.inbound))
}

/// Notes what events will tell; `()` notes nothing.
pub trait Notify {
    /// Whether anything is noted.
    const IS_HEARD: bool;
    /// Nothing is noted.
    const NEW: Self;

    /// Notes whether an association has `reached` a limit.
    fn note_stage(&mut self, reached: bool);

    /// Notes the deadline of an association.
    fn note_deadline(&mut self, deadline: Option<Instant>);

    /// Notes a packet for which there are no associations yet.
    fn note_missing(&mut self, flow: &Flow);

    /// Notes that a packet is refused.
    fn note_refusal(&mut self, refusal: Refusal);
}

/// The notes that events are made of.
pub struct Notifications {
    /// Whether an association has reached a limit without an event so far.
    pub(crate) has_stage: bool,
    /// The next time at which an association reaches a limit.
    pub(crate) deadline: Option<Instant>,
    /// A packet for which there are no associations yet. Further ones are not noted until the event was polled.
    pub(crate) missing: Option<Flow>,
    /// Why a packet was refused. Further ones are not noted until the event was polled.
    pub(crate) refusal: Option<Refusal>,
}

impl Notify for () {
    const IS_HEARD: bool = false;
    const NEW: Self = ();

    fn note_stage(&mut self, _: bool) {}

    fn note_deadline(&mut self, _: Option<Instant>) {}

    fn note_missing(&mut self, _: &Flow) {}

    fn note_refusal(&mut self, _: Refusal) {}
}

impl Notify for Notifications {
    const IS_HEARD: bool = true;
    const NEW: Self = Self { has_stage: false, deadline: None, missing: None, refusal: None };

    fn note_stage(&mut self, reached: bool) {
        self.has_stage |= reached;
    }

    fn note_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = Instant::earliest(self.deadline, deadline);
    }

    fn note_missing(&mut self, flow: &Flow) {
        self.missing.get_or_insert(*flow);
    }

    fn note_refusal(&mut self, refusal: Refusal) {
        self.refusal.get_or_insert(refusal);
    }
}

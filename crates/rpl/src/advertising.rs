use sixlock_base::{Duration, Entropy, Eui64, Instant, New, RateLimit};

use crate::trickle::Trickle;

/// How a node tells others of its DODAG: as a router does, by an [`Advertiser`], or not at all, as a leaf: `()`
/// ([RFC 6550 section 8.5](https://www.rfc-editor.org/rfc/rfc6550#section-8.5)).
pub trait Advertising: New {
    /// Whether it tells.
    const ADVERTISES: bool;

    /// What tells, if anything does.
    fn advertiser(&self) -> Option<&Advertiser>;

    /// The same, to be changed.
    fn advertiser_mut(&mut self) -> Option<&mut Advertiser>;
}

impl Advertising for () {
    const ADVERTISES: bool = false;

    fn advertiser(&self) -> Option<&Advertiser> {
        None
    }

    fn advertiser_mut(&mut self) -> Option<&mut Advertiser> {
        None
    }
}

impl Advertising for Advertiser {
    const ADVERTISES: bool = true;

    fn advertiser(&self) -> Option<&Advertiser> {
        Some(self)
    }

    fn advertiser_mut(&mut self) -> Option<&mut Advertiser> {
        Some(self)
    }
}

/// What DIOs say that has those below act, as one number: the version, the DTSN and the rank in hops' least increases.
pub(crate) fn summary(version: u8, dtsn: u8, dag_rank: u16) -> u32 {
    let [high, low] = dag_rank.to_be_bytes();
    u32::from_be_bytes([version, dtsn, high, low])
}

/// When DIOs are sent: by Trickle to all, and to who asks.
///
/// Of those who ask at the same time, two are answered; the others ask again.
#[derive(Clone, Copy, Debug)]
pub struct Advertiser {
    pub(crate) trickle: Trickle,
    is_due: bool,
    solicitors: [Option<Eui64>; 2],
    limit: RateLimit,
}

/// How often strangers may make a node begin Trickle anew, at once and until once more: who asks for ever would drain it and its neighbours.
const PROVOCATIONS: u8 = 6;
const PROVOCATION_INTERVAL: Duration = Duration::from_millis(30_000);

impl New for Advertiser {
    const NEW: Self =
        Self { trickle: Trickle::NEW, is_due: false, solicitors: [None; 2], limit: RateLimit::NEW };
}

impl Advertiser {
    /// Begins anew because a stranger gives cause to; whether it may be, so often.
    pub(crate) fn provoke<E: Entropy>(&mut self, now: Instant, entropy: &mut E) -> bool {
        let may = self.limit.take(now, PROVOCATIONS, PROVOCATION_INTERVAL);
        if may {
            self.trickle.reset(now, entropy);
        }
        may
    }

    /// Sends a DIO to a neighbour that asks for one.
    pub(crate) fn answer(&mut self, neighbour: &Eui64) {
        if !self.solicitors.contains(&Some(*neighbour))
            && let Some(free) = self.solicitors.iter_mut().find(|solicitor| solicitor.is_none())
        {
            *free = Some(*neighbour);
        }
    }

    /// The same, to one that does not ask; false if there is no room for it.
    pub(crate) fn tell(&mut self, neighbour: &Eui64) -> bool {
        self.answer(neighbour);
        self.solicitors.contains(&Some(*neighbour))
    }

    /// Sends a DIO to all, now.
    pub(crate) fn announce(&mut self) {
        self.is_due = true;
    }

    pub(crate) fn has_output(&self) -> bool {
        self.is_due || self.solicitors.iter().any(Option::is_some)
    }

    /// The neighbour that the next DIO goes to, or all.
    pub(crate) fn poll(&mut self) -> Option<Option<Eui64>> {
        if core::mem::take(&mut self.is_due) {
            return Some(None);
        }
        self.solicitors.iter_mut().find_map(Option::take).map(Some)
    }

    /// Does what is due; whether a DIO goes to all.
    pub(crate) fn handle_timeout<E: Entropy>(&mut self, now: Instant, entropy: &mut E) -> bool {
        let sends = self.trickle.handle_timeout(now, entropy);
        self.is_due |= sends;
        sends
    }
}

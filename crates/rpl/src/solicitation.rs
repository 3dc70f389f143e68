use core::net::Ipv6Addr;

use sixlock_base::{Cx, Entropy, Eui64, Instant, New};
use sixlock_ipv6::rpl::Options;

use crate::advertising::Advertiser;
use crate::dodag::Dodag;
use crate::error::Error;
use crate::time;

/// When a node asks for DIOs: all its neighbours while it has no parent, ever more rarely; and single ones, which are probed by it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Solicitation {
    at: Option<Instant>,
    doublings: u8,
    is_due: bool,
    asked: Option<Eui64>,
}

impl New for Solicitation {
    const NEW: Self = Self { at: None, doublings: 0, is_due: false, asked: None };
}

impl Solicitation {
    /// The first time until all are asked again, which doubles.
    const AGAIN: u32 = 5_000;
    /// How often it doubles: up to five minutes.
    const DOUBLINGS: u8 = 6;

    /// Begins to ask all within `millis` milliseconds, so that not all nodes ask at once.
    pub(crate) fn start<E: Entropy>(&mut self, now: Instant, entropy: &mut E, millis: u32) {
        self.doublings = 0;
        self.at = Some(time::within(now, entropy, millis));
    }

    /// Asks all no more.
    pub(crate) fn stop(&mut self) {
        (self.at, self.is_due) = (None, false);
    }

    /// Asks a single one that has said too little.
    #[inline(never)]
    pub(crate) fn ask(&mut self, neighbour: &Eui64) {
        if self.asked.is_none() {
            self.asked = Some(*neighbour);
        }
    }

    /// Whether a single one is being asked.
    pub(crate) fn is_asking(&self) -> bool {
        self.asked.is_some()
    }

    pub(crate) fn has_output(&self) -> bool {
        self.is_due || self.asked.is_some()
    }

    /// The neighbour that the next DIS goes to, or all.
    pub(crate) fn poll(&mut self) -> Option<Option<Eui64>> {
        if let Some(neighbour) = self.asked.take() {
            return Some(Some(neighbour));
        }
        core::mem::take(&mut self.is_due).then_some(None)
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.at
    }

    /// Asks all, if it is time to; whether it does so after it has asked as often as it doubles, in vain.
    pub(crate) fn handle_timeout<E: Entropy>(&mut self, now: Instant, entropy: &mut E) -> bool {
        if !Instant::take_due(&mut self.at, now) {
            return false;
        }
        let was_in_vain = self.doublings == Self::DOUBLINGS;
        self.is_due = true;
        self.at = Some(time::within(now, entropy, Self::AGAIN << self.doublings));
        self.doublings = (self.doublings + 1).min(Self::DOUBLINGS);
        was_in_vain
    }
}

/// Answers a DIS, if it asks for this DODAG: one to this node alone by a DIO to its sender, one to all by beginning Trickle anew
/// ([RFC 6550 section 8.3](https://www.rfc-editor.org/rfc/rfc6550#section-8.3)).
pub(crate) fn handle<C, E: Entropy, N>(
    cx: &mut Cx<'_, C, E, N>,
    advertiser: &mut Advertiser,
    dodag: &Dodag,
    (from, destination): (Option<&Eui64>, Ipv6Addr),
    options: Options<'_>,
) -> Result<(), Error> {
    let from = from.ok_or(Error::Address)?;
    if !options.solicited().all(|solicited| dodag.is_meant(solicited)) {
        return Err(Error::Dodag);
    }
    if !destination.is_multicast() {
        advertiser.answer(from);
        return Ok(());
    }
    if advertiser.provoke(cx.now, cx.entropy) { Ok(()) } else { Err(Error::TooOften) }
}

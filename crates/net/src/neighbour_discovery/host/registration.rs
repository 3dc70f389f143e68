//! How a host registers its addresses at its router.

use sixlock_base::{Array, Cx, Entropy, Eui64, Instant, New, Slot, lollipop};
use sixlock_ipv6::nd::{EncodedMessage, EncodedRegistration, Status};

use super::{Host, Registered};
use crate::neighbour_discovery::attempt::{Attempt, Which};
use crate::neighbour_discovery::contexts::LearntContext;
use crate::neighbour_discovery::default_routers::DefaultRouter;
use crate::neighbour_discovery::error::Error;
use crate::neighbour_discovery::event::Event;
use crate::neighbour_discovery::timer;

/// How long a router is not asked, or an address not tried, that was refused, and the exponent of the milliseconds beyond.
const REST: (u32, u8) = (300_000, 17);

/// For how many seconds a host takes for granted that its router has not forgotten it.
const FRESH: u32 = 30;

/// Those who hear that a router has begun register within so many seconds, and one more.
const RENEWAL_SPREAD: u32 = 3;

/// How often a router may make it begin anew at once: who reboots is behind by two transaction ids that count.
const MAX_SETBACKS: u8 = 3;

impl<R: Array<Slot<DefaultRouter>>, C: Array<Slot<LearntContext>>> Host<R, C> {
    pub(super) fn end_attempt(&mut self, which: Which) {
        if self.attempt.get().is_some_and(|attempt| attempt.which == which) {
            self.attempt = Slot::Empty;
        }
    }

    pub(super) fn handle_answer<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        from: &Eui64,
        message: &EncodedMessage<'_>,
    ) -> Result<(), Error> {
        // Of what the advertisement of a neighbour says besides, a host needs nothing.
        let mut registration = EncodedRegistration::NONE;
        let options = message.options();
        if !options.address_registration(&mut registration).map_err(|_| Error::Malformed)? {
            return Err(Error::NotForUs);
        }
        let router = self.own_router().ok_or(Error::Unasked)?;
        if registration.rovr() != self.registration.rovr() || router.neighbour != *from {
            return Err(Error::Unasked);
        }
        let target = message.target();
        let which = if router.is_extended() {
            self.which(&target)
        } else {
            // It answers for the address that the solicitation came from (RFC 6775 section 5.5.2).
            (target == router.address).then_some(Which::Global)
        };
        let which = which.ok_or(Error::Unasked)?;
        let is_asked = self.attempt.get().is_some_and(|attempt| attempt.which == which);
        let is_current = match registration.transaction() {
            Some(_) => registration.transaction() == self.registration.transaction(),
            // To a router of RFC 6775 it is a reserved field, which need not come back.
            None => !router.is_extended(),
        };
        let is_answer = is_asked && is_current;
        if registration.status() == Status::SUCCESS {
            return match is_answer {
                true => self.registered(cx, which, registration.lifetime()),
                false => Err(Error::Unasked),
            };
        }
        // A router may also say later that a registration is no more (RFC 8505 section 4.1).
        if !is_answer && (is_asked || !self.registered_mut(which).expiry.runs()) {
            return Err(Error::Unasked);
        }
        self.refused(cx, which, registration.status());
        Ok(())
    }

    /// An address is registered.
    fn registered<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        which: Which,
        lifetime: u16,
    ) -> Result<(), Error> {
        // A router may give less time than it was asked for, and none is no registration.
        let lifetime = lifetime.min(self.registration.lifetime());
        if lifetime == 0 {
            return Err(Error::Malformed);
        }
        // Half of the time, and up to a quarter more: then there is time to try again.
        let quarter = u32::from(lifetime) * 15;
        let mut spread = 1;
        while spread * 2 <= quarter {
            spread *= 2;
        }
        let renewal = quarter * 2 + (cx.entropy.next_u32() & (spread - 1));
        self.end_attempt(which);
        let is_new = which == Which::Global && !self.global.expiry.runs();
        let registered = self.registered_mut(which);
        registered.expiry.begin_minutes(cx.now, lifetime);
        registered.renewal.begin(cx.now, renewal);
        registered.rests_until = None;
        if which == Which::Global {
            self.setbacks = 0;
            self.fresh.begin(cx.now, FRESH);
        }
        if is_new {
            self.events.push(Event::Registered);
        }
        Ok(())
    }

    /// Registers again soon: its router has begun to be one.
    pub(super) fn renew<X, E: Entropy, N>(&mut self, cx: &mut Cx<'_, X, E, N>) {
        if self.fresh.runs() || !self.global.expiry.runs() {
            return;
        }
        let seconds = cx.entropy.next_u32() & RENEWAL_SPREAD;
        for registered in [&mut self.link_local, &mut self.global] {
            registered.renewal.begin(cx.now, seconds);
        }
        // Who invents such advertisements makes it register no more often.
        self.fresh.begin(cx.now, FRESH);
    }

    /// A registration was refused, or has ended
    /// ([RFC 6775 section 5.5.3](https://www.rfc-editor.org/rfc/rfc6775#section-5.5.3)).
    fn refused<X, E: Entropy, N>(&mut self, cx: &mut Cx<'_, X, E, N>, which: Which, status: Status) {
        self.end_attempt(which);
        self.setbacks = self.setbacks.saturating_add(1);
        let was_registered = self.global.expiry.runs();
        let registered = self.registered_mut(which);
        registered.expiry.stop();
        registered.renewal.stop();
        let rests_until = timer::after(cx.now, cx.entropy, REST.0, REST.1);
        match status {
            Status::DUPLICATE_ADDRESS => {
                self.registered_mut(which).rests_until = Some(rests_until);
                self.events.push(Event::Duplicate);
            }
            Status::DUPLICATE_SOURCE_ADDRESS => {
                self.link_local = Registered { rests_until: Some(rests_until), ..Registered::NEW };
                self.events.push(Event::Duplicate);
            }
            // Whatever is wrong, it does not get better.
            Status::MOVED
            | Status::REMOVED
            | Status::INVALID_SOURCE_ADDRESS
            | Status::TOPOLOGICALLY_INCORRECT
                if self.setbacks > MAX_SETBACKS =>
            {
                self.give_up(rests_until);
            }
            // It is from before a reboot: every value of a counter that has begun anew is older than 0, and those that are newer lie
            // within a window of it.
            Status::MOVED => {
                self.set_transaction(|id| match id {
                    128.. => 127,
                    gone_round => gone_round.wrapping_add(lollipop::WINDOW - 1) & 127,
                });
            }
            // It is registered anew, at once.
            Status::REMOVED => {}
            // The router has forgotten the address on the link, which is registered first.
            Status::INVALID_SOURCE_ADDRESS => self.link_local = Registered::NEW,
            Status::TOPOLOGICALLY_INCORRECT => {
                self.forget_prefix();
                self.solicitation.refresh(cx.now, cx.entropy);
            }
            // Full, saturated, a proof that is wanted, or what is not known: another router may do it.
            _ => self.give_up(rests_until),
        }
        if was_registered && !self.global.expiry.runs() {
            self.events.push(Event::Lost);
        }
    }

    fn set_transaction(&mut self, next: impl FnOnce(u8) -> u8) {
        self.registration.set_transaction(self.registration.transaction().map(next));
    }

    /// Turns to another router for a while.
    fn give_up(&mut self, until: Instant) {
        if let Some(router) = self.routers.own_mut() {
            router.rests_until = Some(until);
        }
        self.lose_router();
    }

    /// Begins what is to be done next, if nothing is under way.
    pub(super) fn advance<X, E: Entropy, N>(&mut self, cx: &mut Cx<'_, X, E, N>) {
        self.routers.choose();
        let Some(router) = self.own_router() else {
            self.solicitation.start(cx.now, cx.entropy);
            return;
        };
        let is_due = |registered: &Registered| !registered.renewal.runs() && registered.rests_until.is_none();
        let which = if router.is_extended() && is_due(&self.link_local) {
            Which::LinkLocal
        } else if self.prefix.expiry.runs() && is_due(&self.global) {
            // Without an address on the link it has nothing to register from (RFC 8505 section 5.6).
            if router.is_extended() && !self.link_local.expiry.runs() {
                return;
            }
            Which::Global
        } else {
            return;
        };
        if !self.attempt.is_full() {
            let attempt = Attempt::new(cx.now, cx.entropy, which, router.retransmission_time);
            self.attempt = Slot::Full(attempt);
            self.set_transaction(lollipop::next);
        }
    }

    pub(super) fn handle_attempt<X, E: Entropy, N>(&mut self, cx: &mut Cx<'_, X, E, N>) {
        let (Some(attempt), Some(router)) = (self.attempt.get_mut(), self.routers.own()) else { return };
        let is_unreachable = attempt.handle_timeout(cx.now, cx.entropy, router.retransmission_time);
        if is_unreachable {
            // It has answered none of them (RFC 6775 section 5.5.3).
            self.routers.remove_own();
            self.lose_router();
        }
    }
}

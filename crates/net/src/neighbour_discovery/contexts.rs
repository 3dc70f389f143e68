use sixlock_base::{Array, Instant, New, Slot};
use sixlock_ipv6::nd::Context;

use super::expiry::Expiry;

/// A context that a router has told: `[Slot<LearntContext>; N]` is room for `N`.
#[derive(Clone, Copy, Debug)]
pub struct LearntContext {
    context: Context,
    expiry: Expiry,
    /// Whether its lifetime is over, and it decompresses only, for a while.
    is_over: bool,
}

/// The contexts that routers have told, as many as there is room for in `A`. There are 16 numbers: with less room, those that are told
/// when it is full are refused.
pub(super) struct Contexts<A>(A);

impl<A: Array<Slot<LearntContext>>> Contexts<A> {
    pub(super) const fn new() -> Self {
        Self(A::NEW)
    }

    fn learnt(&self) -> impl Iterator<Item = &LearntContext> {
        self.0.as_ref().iter().filter_map(Slot::get)
    }

    /// Each of them; those that are over do not compress any more.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Context> {
        self.learnt().map(|learnt| &learnt.context)
    }

    /// The same, with how many minutes each is valid for from `now`.
    pub(super) fn iter_left(&self, now: Instant) -> impl Iterator<Item = Context> + '_ {
        self.learnt()
            .map(move |learnt| Context { lifetime: learnt.expiry.minutes_left(now), ..learnt.context })
    }

    /// Takes in what a router tells; whether that is another context than before. `None` if there is no room.
    pub(super) fn learn(&mut self, now: Instant, context: &Context) -> Option<bool> {
        let places = self.0.as_mut();
        let holds = |place: &Slot<LearntContext>| place.get().is_some_and(|it| it.context.id == context.id);
        let known = places.iter().position(holds);
        if context.lifetime == 0 {
            // Who tells it so wants it to be removed at once (RFC 6775 section 4.2).
            let known = known.and_then(|at| places.get_mut(at));
            return Some(known.and_then(Slot::take).is_some());
        }
        let free = || places.iter().position(|place| !place.is_full());
        let place = known.or_else(free).and_then(|at| places.get_mut(at))?;
        let is_same = place.get().is_some_and(|learnt| {
            (learnt.context.prefix, learnt.context.compresses) == (context.prefix, context.compresses)
                && !learnt.is_over
        });
        let mut expiry = Expiry::NEW;
        expiry.begin_minutes(now, context.lifetime);
        *place = Slot::Full(LearntContext { context: *context, expiry, is_over: false });
        Some(!is_same)
    }

    /// Removes all of them; whether there were any.
    pub(super) fn clear(&mut self) -> bool {
        let had_any = self.0.as_ref().iter().any(Slot::is_full);
        self.0.as_mut().fill(Slot::Empty);
        had_any
    }

    /// How many seconds the first of them is valid for.
    pub(super) fn least_left(&self, now: Instant) -> Option<u32> {
        self.learnt().map(|learnt| learnt.expiry.left(now)).min()
    }

    pub(super) fn bring_forward(&self, due: &mut Option<Instant>) {
        for learnt in self.learnt() {
            learnt.expiry.bring_forward(due);
        }
    }

    /// Ends those whose time is over: first they compress no more, and `hold` seconds later they are removed
    /// ([RFC 6775 section 5.4.3](https://www.rfc-editor.org/rfc/rfc6775#section-5.4.3)). Whether anything changed.
    pub(super) fn handle_timeout(&mut self, now: Instant, hold: u32) -> bool {
        let mut has_changed = false;
        for place in self.0.as_mut() {
            let Some(learnt) = place.get_mut() else { continue };
            if !learnt.expiry.take_over(now) {
                continue;
            }
            has_changed = true;
            if learnt.is_over {
                *place = Slot::Empty;
            } else {
                learnt.is_over = true;
                learnt.context.compresses = false;
                learnt.expiry.begin(now, hold);
            }
        }
        has_changed
    }
}

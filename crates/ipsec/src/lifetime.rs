//! How long an association lasts ([RFC 4301 section 4.4.2.1](https://www.rfc-editor.org/rfc/rfc4301#section-4.4.2.1)).

use sixlock_base::Instant;

/// When an association is to be replaced, and when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lifetime {
    /// When any of these is reached, an event asks for a replacement.
    pub soft: Limits,
    /// When any of these is reached, the association carries nothing more.
    pub hard: Limits,
}

/// Limits of an association. `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Packets.
    pub packets: Option<u32>,
    /// Bytes of packets, before they are protected or after they were opened.
    pub bytes: Option<u64>,
    /// A time, at most 2^31 ms (24.8 days) ahead.
    pub at: Option<Instant>,
}

impl Limits {
    fn are_reached(&self, usage: &Usage, now: Instant) -> bool {
        self.packets.is_some_and(|packets| usage.packets >= packets)
            || self.bytes.is_some_and(|bytes| usage.bytes >= bytes)
            || self.at.is_some_and(|at| now.has_reached(at))
    }
}

/// How far an association is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It has reached no limit.
    #[default]
    Fresh,
    /// It has reached a soft limit.
    Soft,
    /// It has reached a hard limit.
    Hard,
}

/// What an association has carried.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    packets: u32,
    bytes: u64,
    reached: Stage,
    reported: Stage,
}

/// The limits of an association: a [`Lifetime`], or `()` for none, which links nothing.
pub trait Expiry {
    /// Counts and time, compared with the limits.
    type Usage: Default;

    /// Counts a packet of `bytes` bytes, and checks.
    fn count(&self, usage: &mut Self::Usage, bytes: usize, now: Instant) -> bool;

    /// Compares with the limits. Returns whether there is a stage that [`Expiry::tell`] has not returned.
    fn check(&self, usage: &mut Self::Usage, now: Instant) -> bool;

    /// Whether the last check found that no hard limit is reached.
    fn is_alive(usage: &Self::Usage) -> bool;

    /// The next time at which a limit is reached, if there is one.
    fn deadline(&self, usage: &Self::Usage) -> Option<Instant>;

    /// The stage that was reached, once.
    fn tell(usage: &mut Self::Usage) -> Option<Stage>;
}

impl Expiry for () {
    type Usage = ();

    fn count(&self, (): &mut (), _: usize, _: Instant) -> bool {
        false
    }

    fn check(&self, (): &mut (), _: Instant) -> bool {
        false
    }

    fn is_alive((): &()) -> bool {
        true
    }

    fn deadline(&self, (): &()) -> Option<Instant> {
        None
    }

    fn tell((): &mut ()) -> Option<Stage> {
        None
    }
}

impl Expiry for Lifetime {
    type Usage = Usage;

    fn count(&self, usage: &mut Usage, bytes: usize, now: Instant) -> bool {
        usage.packets = usage.packets.saturating_add(1);
        usage.bytes = usage.bytes.saturating_add(bytes as u64);
        self.check(usage, now)
    }

    fn check(&self, usage: &mut Usage, now: Instant) -> bool {
        let stage = match (self.hard.are_reached(usage, now), self.soft.are_reached(usage, now)) {
            (true, _) => Stage::Hard,
            (_, true) => Stage::Soft,
            _ => Stage::Fresh,
        };
        // Instants wrap: an association that has ended does not come back to life.
        usage.reached = usage.reached.max(stage);
        usage.reached > usage.reported
    }

    fn is_alive(usage: &Usage) -> bool {
        usage.reached < Stage::Hard
    }

    fn deadline(&self, usage: &Usage) -> Option<Instant> {
        match usage.reached {
            Stage::Fresh => Instant::earliest(self.soft.at, self.hard.at),
            Stage::Soft => self.hard.at,
            Stage::Hard => None,
        }
    }

    fn tell(usage: &mut Usage) -> Option<Stage> {
        let notifications = (usage.reached > usage.reported).then_some(usage.reached);
        usage.reported = usage.reached;
        notifications
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_base::Duration;

    const START: Instant = Instant::from_millis(u32::MAX - 5);

    fn at(millis: u32) -> Instant {
        START + Duration::from_millis(millis)
    }

    /// How many packets of 300 bytes, one each millisecond, an association with this hard limit carries of 100.
    fn carried(hard: Limits) -> usize {
        let (lifetime, mut usage) = (Lifetime { hard, ..Lifetime::default() }, Usage::default());
        let packets = (0..100).take_while(|&n| {
            lifetime.check(&mut usage, at(n));
            let is_alive = Lifetime::is_alive(&usage);
            lifetime.count(&mut usage, 300, at(n));
            is_alive
        });
        packets.count()
    }

    #[test]
    fn an_association_ends_at_the_first_of_its_hard_limits() {
        let packets = Limits { packets: Some(7), ..Limits::default() };
        // 2,048 bytes are reached with the seventh packet of 300.
        let bytes = Limits { bytes: Some(2048), ..Limits::default() };
        let time = Limits { at: Some(at(9)), ..Limits::default() };
        let all = Limits { packets: Some(5), ..Limits { at: time.at, ..bytes } };
        let counts = [packets, bytes, time, all, Limits::default()].map(carried);
        assert_eq!(counts, [7, 7, 9, 5, 100]);
    }

    #[test]
    fn each_stage_is_told_once_and_what_has_ended_stays_so_when_time_wraps() {
        let limit = |millis| Limits { at: Some(at(millis)), ..Limits::default() };
        let lifetime = Lifetime { soft: limit(10), hard: limit(20) };
        let mut usage = Usage::default();
        let mut check = |millis, deadline| {
            lifetime.check(&mut usage, at(millis));
            assert_eq!(lifetime.deadline(&usage), deadline);
            Lifetime::tell(&mut usage)
        };
        assert_eq!(check(9, Some(at(10))), None);
        assert_eq!(check(10, Some(at(20))), Some(Stage::Soft));
        assert_eq!(check(19, Some(at(20))), None);
        assert_eq!(check(20, None), Some(Stage::Hard));
        assert_eq!(check(10 + (1 << 31), None), None);
        assert!(!Lifetime::is_alive(&usage));
    }
}

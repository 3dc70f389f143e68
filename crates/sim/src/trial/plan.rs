//! What a network goes through in a trial.

use crate::random::Probability;
use crate::scenario::Destination;
use crate::time::{Span, Time};

/// What the attacker can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Sends frames to any station.
    pub(crate) air: bool,
    /// Sends datagrams to the cloud in the names of nodes, and the reverse.
    pub(crate) internet: bool,
    /// Knows the network's link key.
    pub(crate) link_key: bool,
}

/// What happens to what is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Disturbance {
    /// How likely it is lost.
    pub(crate) lose: Probability,
    /// How likely it arrives a second time.
    pub(crate) duplicate: Probability,
    /// How likely it is late, and others are before it.
    pub(crate) delay: Probability,
    /// How likely it arrives changed.
    pub(crate) damage: Probability,
}

/// An attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attack {
    pub(crate) reach: Reach,
    /// The longest time between two frames or datagrams of the attacker's.
    pub(crate) pause: Span,
}

/// What a network goes through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// What happens to received frames, beside what the scenario's medium takes.
    pub(crate) frames: Disturbance,
    /// What happens to datagrams between the border router and the far end.
    pub(crate) datagrams: Disturbance,
    pub(crate) attack: Option<Attack>,
    /// How likely the power of a station fails at a write to its storage.
    pub(crate) power_fails: Probability,
    /// When the power of which station fails whatever it does.
    pub(crate) power_cuts: Vec<(Time, u32)>,
    /// When the far end starts anew.
    pub(crate) restarts: Vec<Time>,
    /// What clocks show at the beginning: they wrap.
    pub(crate) clocks: Time,
    /// When all that ends, the scenario's losses with it.
    pub(crate) quiet: Time,
    /// When readings cease to be due.
    pub(crate) stop: Time,
}

impl Plan {
    /// Whether devices start anew.
    pub(crate) fn has_reboots(&self) -> bool {
        self.power_fails.happens_ever() || !self.power_cuts.is_empty()
    }

    /// Whether a handshake may be left of which the other end knows nothing any more, or something else: messages of it, which nothing
    /// protects yet, arrive that nobody sent so, or the far end forgets it, or the node that readings go to.
    pub(crate) fn spoils_handshakes(&self, to: Destination) -> bool {
        let node_forgets = matches!(to, Destination::Node(_)) && self.has_reboots();
        let forgets = !self.restarts.is_empty() || node_forgets;
        self.attack.is_some() || self.datagrams.damage.happens_ever() || forgets
    }

    /// Whether what is sent once may arrive twice, or so late that nobody knows it for a copy.
    pub(crate) fn multiplies(&self) -> bool {
        let Disturbance { duplicate, delay, .. } = self.frames;
        let kinds = [duplicate, delay, self.datagrams.duplicate];
        self.attack.is_some() || kinds.into_iter().any(Probability::happens_ever)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Disturbance = Disturbance {
        lose: Probability::NEVER,
        duplicate: Probability::NEVER,
        delay: Probability::NEVER,
        damage: Probability::NEVER,
    };
    const CALM: Plan = Plan {
        frames: NONE,
        datagrams: NONE,
        attack: None,
        power_fails: Probability::NEVER,
        power_cuts: Vec::new(),
        restarts: Vec::new(),
        clocks: Time::ZERO,
        quiet: Time::ZERO,
        stop: Time::ZERO,
    };

    #[test]
    fn a_handshake_is_spoilt_by_the_end_that_forgets_it() {
        let spoils =
            |plan: Plan| [Destination::Cloud, Destination::Node(2)].map(|to| plan.spoils_handshakes(to));
        assert_eq!(spoils(CALM), [false, false]);
        assert_eq!(spoils(Plan { restarts: vec![Time::ZERO], ..CALM }), [true, true]);
        // A node whose power fails has forgotten those that others have begun with it.
        assert_eq!(spoils(Plan { power_cuts: vec![(Time::ZERO, 2)], ..CALM }), [false, true]);
        let often = Probability::new(0.5).unwrap();
        assert_eq!(spoils(Plan { power_fails: often, ..CALM }), [false, true]);
    }
}

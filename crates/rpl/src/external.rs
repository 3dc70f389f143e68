use sixlock_base::{Array, Entropy, Eui64, Instant, New};
use sixlock_ipv6::rpl::{EncodedConfiguration, INFINITE_LIFETIME, Transit};

use crate::dao::{DaoTimer, TimeoutAction};
use crate::routes::State;

/// Hosts below a router that do not speak RPL, to which it tells the root the ways: [`Externals`], or none, `()`.
pub trait ExternalTargets: New {
    /// Room for hosts.
    type Hosts: Array<ExternalHost>;

    /// Whether it tells of any.
    const TELLS: bool;

    /// What it tells.
    fn externals(&self) -> Option<&Externals<Self::Hosts>>;

    /// The same, to be changed.
    fn externals_mut(&mut self) -> Option<&mut Externals<Self::Hosts>>;
}

impl ExternalTargets for () {
    type Hosts = [ExternalHost; 0];
    const TELLS: bool = false;

    fn externals(&self) -> Option<&Externals<Self::Hosts>> {
        None
    }

    fn externals_mut(&mut self) -> Option<&mut Externals<Self::Hosts>> {
        None
    }
}

impl<A: Array<ExternalHost>> ExternalTargets for Externals<A> {
    type Hosts = A;
    const TELLS: bool = true;

    fn externals(&self) -> Option<&Externals<A>> {
        Some(self)
    }

    fn externals_mut(&mut self) -> Option<&mut Externals<A>> {
        Some(self)
    }
}

/// A host below a router that does not speak RPL: `[ExternalHost; N]` is room for `N`.
#[derive(Clone, Copy, Debug)]
pub struct ExternalHost {
    node: Eui64,
    /// Whether the root knows of it.
    state: State,
    /// The transaction id of its registration, which is its path sequence.
    sequence: u8,
    /// For how long it was registered; 0 if it is no more, and the root is to be told so.
    minutes: u16,
    /// Whether it was among those that are registered still.
    is_seen: bool,
}

impl New for ExternalHost {
    const NEW: Self =
        Self { node: Eui64([0; 8]), state: State::Free, sequence: 0, minutes: 0, is_seen: false };
}

impl ExternalHost {
    fn is_there(&self) -> bool {
        self.state != State::Free && self.minutes != 0
    }

    /// What a DAO says of it, but for its parent: its transaction id is the path sequence, and the path lifetime is that of the
    /// registration, and at most the DODAG's default, before the end of which it is told anew
    /// ([RFC 9010 section 9.2.2](https://www.rfc-editor.org/rfc/rfc9010#section-9.2.2)).
    pub(crate) fn target(&self, configuration: EncodedConfiguration<'_>) -> (Eui64, Transit) {
        let unit = u32::from(configuration.lifetime_unit()).max(1);
        let units = (u32::from(self.minutes) * 60).div_ceil(unit).min(longest(configuration).into());
        let transit = Transit {
            external: true,
            invalidate: false,
            path_control: 0x80,
            path_sequence: self.sequence,
            path_lifetime: units as u8,
            parent: None,
        };
        (self.node, transit)
    }
}

/// The longest path lifetime that a host has: one that has no end would outlive its registration.
pub(crate) fn longest(configuration: EncodedConfiguration<'_>) -> u8 {
    configuration.default_lifetime().min(INFINITE_LIFETIME - 1)
}

/// The hosts below a router that do not speak RPL, as many as there is room for in `A`, and when the root is told of them.
///
/// When there is no room, one that is no more makes room for a new one; else the new one is not told, and nobody finds it from beyond its
/// router.
pub struct Externals<A> {
    hosts: A,
    pub(crate) dao: DaoTimer,
}

impl<A: Array<ExternalHost>> New for Externals<A> {
    const NEW: Self = Self { hosts: A::NEW, dao: DaoTimer::NEW };
}

impl<A: Array<ExternalHost>> Externals<A> {
    fn iter_mut(&mut self) -> impl Iterator<Item = &mut ExternalHost> {
        self.hosts.as_mut().iter_mut().filter(|host| host.state != State::Free)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.hosts.as_ref().iter().filter(|host| host.is_there()).count()
    }

    /// Whether `node` is one of them.
    pub(crate) fn contains(&self, node: Eui64) -> bool {
        self.hosts.as_ref().iter().any(|host| host.is_there() && host.node == node)
    }

    /// Takes in those that are registered now, by node, transaction id and lifetime in minutes; whether the root is to be told of
    /// something, and whether there was room for all.
    pub(crate) fn take(&mut self, registered: impl Iterator<Item = (Eui64, u8, u16)>) -> (bool, bool) {
        let (mut has_changed, mut has_room) = (false, true);
        for (node, sequence, minutes) in registered {
            let minutes = minutes.max(1);
            let new = ExternalHost { node, state: State::Unsaid, sequence, minutes, is_seen: true };
            let known = self.iter_mut().find(|host| host.node == node);
            if let Some(host) = known {
                let is_news = host.minutes == 0 || host.sequence != sequence;
                *host = if is_news { new } else { ExternalHost { is_seen: true, ..*host } };
                has_changed |= is_news;
                continue;
            }
            let is_added = self.add(new);
            has_changed |= is_added;
            has_room &= is_added;
        }
        for host in self.iter_mut() {
            if !core::mem::take(&mut host.is_seen) && host.minutes != 0 {
                (host.minutes, host.state) = (0, State::Unsaid);
                has_changed = true;
            }
        }
        (has_changed, has_room)
    }

    /// Adds a host; whether there was room.
    fn add(&mut self, new: ExternalHost) -> bool {
        let places = self.hosts.as_ref();
        let free = places.iter().position(|host| host.state == State::Free);
        let free = free.or_else(|| (places.len() < A::LEN).then_some(places.len()));
        let Some(at) = free.or_else(|| places.iter().position(|host| host.minutes == 0)) else {
            return false;
        };
        self.hosts.make_room(at + 1);
        let place = self.hosts.as_mut().get_mut(at);
        place.map(|place| *place = new).is_some()
    }

    /// All are told anew, and what is no more is forgotten.
    fn unsay(&mut self) {
        for host in self.iter_mut() {
            host.state = if host.minutes == 0 { State::Free } else { State::Unsaid };
        }
    }

    /// Lets the root be told of all anew.
    pub(crate) fn tell<E: Entropy>(&mut self, now: Instant, entropy: &mut E) {
        self.unsay();
        match self.are_unknown() {
            true => self.dao.begin(now, entropy),
            false => self.dao.stop(),
        }
    }

    /// Whether there are some of which the root does not know.
    pub(crate) fn are_unknown(&self) -> bool {
        self.hosts.as_ref().iter().any(|host| matches!(host.state, State::Unsaid | State::Said))
    }

    /// Chooses at most `most` of which the root is told in a new DAO; the one that is sent again tells of the same.
    pub(crate) fn choose(&mut self, most: usize) {
        let mut left = most;
        for host in self.iter_mut().filter(|host| matches!(host.state, State::Unsaid | State::Said)) {
            host.state = if left > 0 { State::Said } else { State::Unsaid };
            left = left.saturating_sub(1);
        }
    }

    /// Those that were chosen.
    pub(crate) fn chosen(&self) -> impl Iterator<Item = &ExternalHost> {
        self.hosts.as_ref().iter().filter(|host| host.state == State::Said)
    }

    /// The root has acknowledged what it was told. All are told anew within `millis` milliseconds.
    pub(crate) fn acknowledged<E: Entropy>(&mut self, now: Instant, entropy: &mut E, millis: u32) {
        self.dao.acknowledged();
        for host in self.iter_mut().filter(|host| host.state == State::Said) {
            host.state = if host.minutes == 0 { State::Free } else { State::Known };
        }
        self.dao.refresh(now, entropy, millis);
        if self.are_unknown() {
            self.dao.change(now, entropy);
        }
    }

    /// Does what is due.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.dao.handle_timeout(now) == TimeoutAction::Refresh {
            self.unsay();
        }
    }
}

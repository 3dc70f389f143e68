//! The associations and policies of a border router that follow what is configured, also when that changes.

use std::fmt;
use std::net::Ipv6Addr;
use std::ops::Add;

use sixlock_base::{Duration, Instant, NetworkSuite};
use sixlock_node::ipsec::{
    Action, ConfigError, InboundId, Ipsec, Keying, OutboundId, Policy, Selector, Transform,
};

use crate::protection::{Peering, WINDOW};

/// How long packets under a key that was replaced are let in, so that none is lost while the other end changes its own.
const OVERLAP: Duration = Duration::from_secs(60);

/// What a host shares with others, and under which associations.
#[derive(Default)]
pub struct Peerings {
    shared: Vec<Shared>,
    /// What passes as it is, before all policies.
    passing: Option<Selector>,
}

/// A peering, and its associations.
struct Shared {
    peering: Peering,
    outbound: OutboundId,
    inbound: InboundId,
    replaced: Option<Replaced>,
}

/// An inbound association whose key was replaced.
#[derive(Clone, Copy)]
struct Replaced {
    id: InboundId,
    spi: u32,
    ends: Instant,
}

/// How many peerings a change has concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Those that were not there.
    pub added: u32,
    /// Those that are gone.
    pub removed: u32,
    /// Those with other keys than before.
    pub replaced: u32,
    /// Those that go on as they were, with their sequence numbers.
    pub unchanged: u32,
}

impl Add for Changed {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            added: self.added + other.added,
            removed: self.removed + other.removed,
            replaced: self.replaced + other.replaced,
            unchanged: self.unchanged + other.unchanged,
        }
    }
}

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { added, removed, replaced, unchanged } = self;
        write!(f, "{added} added, {removed} removed, {replaced} with new keys, {unchanged} unchanged")
    }
}

/// Why peerings do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeError {
    /// Another key of this end is under this security parameters index: packets under the old and the new one could not be told apart.
    IndexInUse(Ipv6Addr, u32),
    /// They do not fit, or their keys are not valid.
    Config(ConfigError),
}

impl From<ConfigError> for ChangeError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IndexInUse(host, index) => write!(
                f,
                "{host}: index {index} belongs to the keys that it has now: new keys need another index"
            ),
            Self::Config(ConfigError::Full) => f.write_str("there are more tunnels than there is room for"),
            Self::Config(ConfigError::SpiTaken) => {
                f.write_str("two tunnels with one host have the same index: each needs its own")
            }
            Self::Config(error) => write!(f, "IPsec: {error:?}"),
        }
    }
}

impl core::error::Error for ChangeError {}

impl Peerings {
    /// Whether [`Peerings::change`] would succeed.
    ///
    /// # Errors
    /// Says why not.
    pub fn check<C, T: Transform<C>, const POLICIES: usize, const ASSOCIATIONS: usize, K>(
        &self,
        _: &Ipsec<C, T, POLICIES, ASSOCIATIONS, WINDOW, K>,
        id: u32,
        wanted: &[Peering],
        transform: impl Fn(NetworkSuite, &[u8]) -> Option<T>,
    ) -> Result<(), ChangeError>
    where
        K: Keying<Lifetime: Default>,
    {
        let (kept, _) = self.matched(wanted);
        for (peering, place) in wanted.iter().zip(&kept) {
            if place.is_some_and(|place| self.shared[place].peering == *peering) {
                continue;
            }
            let end = (peering.ends(id).1, peering.spi);
            let is_in_use = |&place: &usize| {
                let now = &self.shared[place].peering;
                (now.ends(id).1, now.spi) == end
            };
            if kept.iter().flatten().any(is_in_use) {
                return Err(ChangeError::IndexInUse(end.0, end.1));
            }
        }
        let mut trial = Box::new(Ipsec::<C, T, POLICIES, ASSOCIATIONS, WINDOW, K>::new());
        if let Some(selector) = self.passing {
            trial.add_policy(Policy { selector, action: Action::Bypass })?;
        }
        Ok(wanted.iter().try_for_each(|peering| peering.share(&mut trial, id, false, &transform))?)
    }

    /// Where those of `wanted` are whose ends are the same now, and the places of the others that there are now.
    fn matched(&self, wanted: &[Peering]) -> (Vec<Option<usize>>, Vec<usize>) {
        let mut left: Vec<_> = (0..self.shared.len()).collect();
        let mut find = |peering: &Peering| {
            let at = left.iter().position(|&place| self.shared[place].peering.has_ends_of(peering))?;
            Some(left.remove(at))
        };
        let matched = wanted.iter().map(&mut find).collect();
        (matched, left)
    }

    /// None yet, beside which packets of this pass as they are, before all policies.
    pub const fn passing(selector: Selector) -> Self {
        Self { shared: Vec::new(), passing: Some(selector) }
    }

    /// Makes the associations and policies of `ipsec` those of `wanted`, of which station `id` is one end; policies stand in this order, behind
    /// that of [`Peerings::passing`], and there are no others. A peering that is there already goes on with its associations, sequence numbers and replay windows. If it has
    /// other keys, packets go out under the new ones at once, and packets under the old ones are let in for a minute.
    ///
    /// `K` has to keep as many replaced associations as there may be peerings whose keys change.
    ///
    /// # Errors
    /// Says why it cannot be done; then nothing is changed.
    pub fn change<C, T: Transform<C>, const POLICIES: usize, const ASSOCIATIONS: usize, K>(
        &mut self,
        ipsec: &mut Ipsec<C, T, POLICIES, ASSOCIATIONS, WINDOW, K>,
        id: u32,
        wanted: &[Peering],
        now: Instant,
        transform: impl Fn(NetworkSuite, &[u8]) -> Option<T>,
    ) -> Result<Changed, ChangeError>
    where
        K: Keying<Lifetime: Default>,
    {
        self.check(ipsec, id, wanted, &transform)?;
        let (kept, gone) = self.matched(wanted);
        let mut changed = Changed { removed: gone.len() as u32, ..Changed::default() };
        let mut before: Vec<_> = std::mem::take(&mut self.shared).into_iter().map(Some).collect();
        // No packet comes or goes before they are there again.
        ipsec.remove_policies();
        if let Some(selector) = self.passing {
            ipsec.add_policy(Policy { selector, action: Action::Bypass })?;
        }
        for Shared { outbound, inbound, .. } in gone.into_iter().filter_map(|place| before[place].take()) {
            ipsec.remove_outbound(outbound)?;
            ipsec.remove_inbound(inbound)?;
        }
        for shared in before.iter_mut().flatten() {
            let host = shared.peering.ends(id).1;
            let is_wanted = |old: &mut Replaced| {
                wanted.iter().any(|peering| (peering.ends(id).1, peering.spi) == (host, old.spi))
            };
            if let Some(old) = shared.replaced.take_if(is_wanted) {
                ipsec.remove_inbound(old.id)?;
            }
        }
        for (peering, place) in wanted.iter().zip(kept) {
            let shared = match place.and_then(|place| before[place].take()) {
                Some(shared) if shared.peering == *peering => {
                    changed.unchanged += 1;
                    shared
                }
                Some(shared) => {
                    changed.replaced += 1;
                    let [outbound, inbound] = peering.associations_at(id, &transform)?;
                    if let Some(old) = shared.replaced {
                        ipsec.remove_inbound(old.id)?;
                    }
                    ipsec.replace_outbound(shared.outbound, outbound)?;
                    let old = ipsec.replace_inbound(shared.inbound, inbound)?;
                    let replaced = Replaced { id: old, spi: shared.peering.spi, ends: now + OVERLAP };
                    Shared { peering: peering.clone(), replaced: Some(replaced), ..shared }
                }
                None => {
                    changed.added += 1;
                    let [outbound, inbound] = peering.associations_at(id, &transform)?;
                    let (outbound, inbound) = (ipsec.add_outbound(outbound)?, ipsec.add_inbound(inbound)?);
                    Shared { peering: peering.clone(), outbound, inbound, replaced: None }
                }
            };
            ipsec.add_policy(peering.policy_at(id, shared.outbound, shared.inbound, false))?;
            self.shared.push(shared);
        }
        Ok(changed)
    }

    /// Refuses packets under keys that were replaced long enough ago. To be called before packets are taken in.
    pub fn handle_timeout<C, T: Transform<C>, const POLICIES: usize, const ASSOCIATIONS: usize, K: Keying>(
        &mut self,
        ipsec: &mut Ipsec<C, T, POLICIES, ASSOCIATIONS, WINDOW, K>,
        now: Instant,
    ) {
        for shared in &mut self.shared {
            if let Some(old) = shared.replaced.take_if(|old| now.has_reached(old.ends)) {
                // It is there, and no policy names it.
                let _ = ipsec.remove_inbound(old.id);
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! Adding, replacing and removing associations and policies.

use core::net::Ipv6Addr;

use sixlock_base::Slot;

use super::Ipsec;
use crate::association::{Inbound, Outbound};
use crate::keying::{Keying, Notify, Replaced};
use crate::lifetime::Expiry;
use crate::table::{self, Table};
use crate::{
    Action, Association, AssociationId, ConfigError, InboundId, OutboundId, Policy, Protection, Selector,
    Transform,
};

/// Whether one packet could belong to both associations.
fn collide<C, T: Transform<C>, L>(first: &Association<T, L>, second: &Association<T, L>) -> bool {
    let takes = |first: &Association<T, L>, second: &Association<T, L>| {
        let address = second.address.unwrap_or(Ipv6Addr::UNSPECIFIED);
        first.is(second.transform.protocol(), second.spi, &address)
    };
    takes(first, second) || takes(second, first)
}

impl<C, T: Transform<C>, const POLICIES: usize, const ASSOCIATIONS: usize, const WINDOW: usize, K: Keying>
    Ipsec<C, T, POLICIES, ASSOCIATIONS, WINDOW, K>
{
    /// Adds an association under which packets go out. Its keys are those of no other association.
    pub fn add_outbound(
        &mut self,
        association: Association<T, K::Lifetime>,
    ) -> Result<OutboundId, ConfigError> {
        association.check()?;
        let (at, place) = table::free(&mut self.outbound).ok_or(ConfigError::Full)?;
        self.notifications.note_deadline(association.lifetime.deadline(&Default::default()));
        *place = Slot::Full(Outbound::new(association));
        Ok(OutboundId::of(at))
    }

    /// Adds an association under which packets come in. Its keys are those of no other association.
    pub fn add_inbound(
        &mut self,
        association: Association<T, K::Lifetime>,
    ) -> Result<InboundId, ConfigError> {
        association.check()?;
        self.check_spi(&association)?;
        let (at, place) = table::free(&mut self.inbound).ok_or(ConfigError::Full)?;
        self.notifications.note_deadline(association.lifetime.deadline(&Default::default()));
        *place = Slot::Full(Inbound::new(association));
        Ok(InboundId::of(at))
    }

    /// Whether packets under this association could belong to another that is there.
    fn check_spi(&mut self, association: &Association<T, K::Lifetime>) -> Result<(), ConfigError> {
        let is_taken = |other: &Inbound<T, K::Lifetime, WINDOW>| collide(&other.association, association);
        // With a single place there are no others, if it is free.
        if (ASSOCIATIONS > 1 || K::Notifications::IS_HEARD)
            && table::find(&mut self.inbound, is_taken).is_some()
        {
            return Err(ConfigError::SpiTaken);
        }
        let mut replaced = self.replaced.places().iter().filter_map(Slot::get);
        if replaced.any(|old| is_taken(&old.inbound)) { Err(ConfigError::SpiTaken) } else { Ok(()) }
    }

    /// Replaces an association under which packets go out: at once the next packet goes out under the new one, which goes on with the
    /// sequence numbers of the old one. The id and the policies that name it stay.
    pub fn replace_outbound(
        &mut self,
        id: OutboundId,
        association: Association<T, K::Lifetime>,
    ) -> Result<(), ConfigError> {
        association.check()?;
        self.check_replacement(AssociationId::Outbound(id), &association)?;
        let place = self.outbound.get_mut(id.place()).and_then(Slot::get_mut);
        let outbound = place.ok_or(ConfigError::NoAssociation)?;
        self.notifications.note_deadline(association.lifetime.deadline(&Default::default()));
        *outbound = outbound.replaced_by(association);
        Ok(())
    }

    /// Replaces an association under which packets come in. The id and the policies that name it stay. Packets under the old association
    /// are let in beside those under the new one, each with a replay window of its own, until the old one is
    /// [removed](Self::remove_inbound) by the id that this returns
    /// ([RFC 7296 section 2.8](https://www.rfc-editor.org/rfc/rfc7296#section-2.8)).
    ///
    /// # Errors
    /// [`ConfigError::Full`] if no further replaced association can be kept ([`crate::Automated`]).
    pub fn replace_inbound(
        &mut self,
        id: InboundId,
        association: Association<T, K::Lifetime>,
    ) -> Result<InboundId, ConfigError> {
        association.check()?;
        self.check_spi(&association)?;
        self.check_replacement(AssociationId::Inbound(id), &association)?;
        let current = self.inbound.get_mut(id.place()).ok_or(ConfigError::NoAssociation)?;
        let mut places = self.replaced.places().iter_mut().enumerate();
        let (at, place) = places.find(|(_, place)| !place.is_full()).ok_or(ConfigError::Full)?;
        let inbound = current.take().ok_or(ConfigError::NoAssociation)?;
        self.notifications.note_deadline(association.lifetime.deadline(&Default::default()));
        *current = Slot::Full(Inbound::new(association));
        *place = Slot::Full(Replaced { successor: id, inbound });
        Ok(InboundId::of(ASSOCIATIONS + at))
    }

    /// Whether every policy that names the association `id` permits this one.
    fn check_replacement(
        &self,
        id: AssociationId,
        association: &Association<T, K::Lifetime>,
    ) -> Result<(), ConfigError> {
        let mut policies = self.policies.iter().filter(|policy| policy.action.names(id));
        let is_forbidden = |policy: &Policy| {
            matches!(policy.action, Action::Protect(Protection { unauthenticated: false, .. }))
        };
        let forbidden = association.transform.icv_len() == 0 && policies.any(is_forbidden);
        if forbidden { Err(ConfigError::Unauthenticated) } else { Ok(()) }
    }

    /// Removes an association that no policy names; its keys are wiped. Its id may become that of another.
    pub fn remove_outbound(&mut self, id: OutboundId) -> Result<(), ConfigError> {
        self.check_unused(AssociationId::Outbound(id))?;
        let place = self.outbound.get_mut(id.place()).and_then(Slot::take);
        place.map(drop).ok_or(ConfigError::NoAssociation)
    }

    /// The same for one under which packets come in, and for one that was replaced. With an association go those that it has replaced.
    pub fn remove_inbound(&mut self, id: InboundId) -> Result<(), ConfigError> {
        self.check_unused(AssociationId::Inbound(id))?;
        if let Some(at) = id.place().checked_sub(ASSOCIATIONS) {
            let place = self.replaced.places().get_mut(at).and_then(Slot::take);
            return place.map(drop).ok_or(ConfigError::NoAssociation);
        }
        for place in self.replaced.places() {
            if place.get().is_some_and(|old| old.successor == id) {
                *place = Slot::Empty;
            }
        }
        let place = self.inbound.get_mut(id.place()).and_then(Slot::take);
        place.map(drop).ok_or(ConfigError::NoAssociation)
    }

    fn check_unused(&self, id: AssociationId) -> Result<(), ConfigError> {
        let is_named = self.policies.iter().any(|policy| policy.action.names(id));
        if is_named { Err(ConfigError::InUse) } else { Ok(()) }
    }

    /// Adds a policy after the others.
    pub fn add_policy(&mut self, policy: Policy) -> Result<(), ConfigError> {
        self.check_action(&policy.action)?;
        if self.policies.push(policy) { Ok(()) } else { Err(ConfigError::Full) }
    }

    /// Changes the action of the first policy that has this selector.
    pub fn change_policy(&mut self, selector: &Selector, action: Action) -> Result<(), ConfigError> {
        self.check_action(&action)?;
        self.policies.find(selector).ok_or(ConfigError::NoPolicy)?.action = action;
        Ok(())
    }

    /// Removes the first policy that has this selector; the order of the others stays.
    pub fn remove_policy(&mut self, selector: &Selector) -> Result<(), ConfigError> {
        if self.policies.remove(selector) { Ok(()) } else { Err(ConfigError::NoPolicy) }
    }

    /// Removes all policies: nothing goes out or comes in before others are added. Associations stay.
    pub fn remove_policies(&mut self) {
        self.policies.clear();
    }

    /// Whether a policy may have this action.
    fn check_action(&self, action: &Action) -> Result<(), ConfigError> {
        let &Action::Protect(Protection { outbound, inbound, unauthenticated }) = action else {
            let is_linked = K::Notifications::IS_HEARD || *action != Action::Acquire;
            return if is_linked { Ok(()) } else { Err(ConfigError::NotLinked) };
        };
        let permit = |association: Option<&Association<T, K::Lifetime>>| match association {
            None => Err(ConfigError::NoAssociation),
            Some(association) if association.transform.icv_len() == 0 && !unauthenticated => {
                Err(ConfigError::Unauthenticated)
            }
            Some(_) => Ok(()),
        };
        for (outbound, inbound) in outbound.iter().zip(&inbound).take(Self::LAYERS) {
            if let Some(id) = outbound {
                let place = self.outbound.get(id.place()).and_then(Slot::get);
                permit(place.map(|outbound| &outbound.association))?;
            }
            if let Some(id) = inbound {
                let place = self.inbound.get(id.place()).and_then(Slot::get);
                permit(place.map(|inbound| &inbound.association))?;
            }
        }
        if matches!(outbound, [None, _]) || matches!(inbound, [None, Some(_)]) {
            return Err(ConfigError::NoAssociation);
        }
        if !T::FEATURES.nesting && (outbound[1].is_some() || inbound[1].is_some()) {
            return Err(ConfigError::NotLinked);
        }
        Ok(())
    }

    /// Removes all policies and associations; keys are wiped.
    pub fn clear(&mut self) {
        self.remove_policies();
        self.outbound = [const { Slot::Empty }; ASSOCIATIONS];
        self.inbound = [const { Slot::Empty }; ASSOCIATIONS];
        self.replaced = K::Replaced::EMPTY;
        self.notifications = K::Notifications::NEW;
    }
}

//! How a node tells others of the ways down, and is told of them.

use core::net::Ipv6Addr;

use sixlock_base::{Counter, Cx, Entropy, Eui64, Nv, lollipop};
use sixlock_ipv6::rpl::{ControlMessage, Dao, INFINITE_RANK, Message, ModeOfOperation, Transit};

use super::{Node, Profile, SEQUENCES};
use crate::advertising::Advertising;
use crate::error::Error;
use crate::event::Event;
use crate::external::ExternalTargets;
use crate::output;
use crate::prefix::MeshPrefix;
use crate::storing::Downward;

/// The most routes that are told in one DAO: so it fits into a few frames.
const TARGETS: usize = 4;

impl<P: Profile> Node<P> {
    /// Draws a new path sequence; if there is none left, the last one stays. One that nobody was told of is new still: a network that
    /// repairs itself is not to use more of them than can be compared with those that are left of its old ways.
    pub(super) fn raise_path_sequence<N: Nv>(&mut self, nv: &mut N) {
        if self.is_path_told
            && let Ok(sequence) = self.sequence.raise(nv, SEQUENCES)
        {
            (self.path_sequence, self.is_path_told) = (sequence, false);
        }
    }

    /// Tells a new parent of this node and those below it. Where routes are stored, these are asked to tell anew: those who know older
    /// ways to them take the new one for newer then, and one whose route was taken away meanwhile does not know it. Where not, only the
    /// root asks ([RFC 6550 section 9.6](https://www.rfc-editor.org/rfc/rfc6550#section-9.6)).
    pub(super) fn tell_new_parent<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.tell(cx, P::Downward::STORES && self.mode() == ModeOfOperation::STORING);
    }

    /// The parent asks for DAOs: those below are asked, too.
    pub(super) fn tell_again<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.tell(cx, true);
    }

    /// Tells the parent, or the root, of this node and those below it, who are asked to tell anew if `asks` says so.
    #[inline(never)]
    pub(super) fn tell<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, asks: bool) {
        if self.mode() == ModeOfOperation::NO_DOWNWARD {
            return;
        }
        self.raise_path_sequence(cx.nv);
        self.is_unsaid = true;
        if let Some(storing) = self.downward.storing_mut() {
            storing.routes.unsay();
        }
        if asks {
            self.raise_dtsn(cx);
        }
        self.dao.begin(cx.now, cx.entropy);
        self.tell_externals(cx);
    }

    pub(super) fn raise_dtsn<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        if let Some(advertiser) = self.advertising.advertiser_mut() {
            self.dtsn = lollipop::next(self.dtsn);
            advertiser.trickle.reset(cx.now, cx.entropy);
            if let Some(storing) = self.downward.storing_mut() {
                // Those below are told alone, too: one that does not hear of it stays unreachable by the new way.
                storing.routes.ask();
            }
        }
    }

    pub(super) fn handle_dao<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        from: Option<&Eui64>,
        message: &ControlMessage<'_>,
    ) -> Result<(), Error> {
        let storing = self.downward.storing_mut().ok_or(Error::Mode)?;
        let from = from.ok_or(Error::Address)?;
        let Some(dodag) = self.dodag.get().filter(|_| self.rank != 0) else {
            return Err(Error::NotJoined);
        };
        dodag.check_names(message)?;
        if dodag.mode() != ModeOfOperation::STORING {
            return Err(Error::Mode);
        }
        if let Some(parent) = self.neighbours.get_mut(from)
            && parent.is_parent
        {
            // The parent takes this node for its own parent (RFC 6550 section 9.2.1).
            parent.rank = INFINITE_RANK;
            self.reconsider(cx);
            return Err(Error::Loop);
        }
        let Message::Dao(dao) = message.message() else { return Err(Error::Malformed) };
        let changed =
            storing.handle_dao(cx.now, self.prefix, (self.address, *from), &dao, message.options(), dodag);
        if changed == Err(Error::Full) {
            cx.counters.count(Counter::RplRoutesFull);
        }
        if changed? {
            self.events.push(Event::RoutesChanged);
            self.dao.change(cx.now, cx.entropy);
        }
        Ok(())
    }

    pub(super) fn handle_dao_ack<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        (source, from): (Ipv6Addr, Option<&Eui64>),
        ack: &ControlMessage<'_>,
    ) -> Result<(), Error> {
        let Some(dodag) = self.dodag.get() else { return Err(Error::NotJoined) };
        dodag.check_names(ack)?;
        if P::External::TELLS && self.handle_external_ack(cx, source, ack) {
            return Ok(());
        }
        let Some(dodag) = self.dodag.get() else { return Err(Error::NotJoined) };
        let is_from_who_was_told = match dodag.mode() {
            ModeOfOperation::STORING if Self::TELLS_PARENT => {
                from.is_some_and(|from| self.neighbours.is_parent(from))
            }
            _ => source.octets() == dodag.id && self.rank != 0,
        };
        if !is_from_who_was_told {
            return Err(Error::Address);
        }
        if !self.dao.awaits(ack.acknowledged()) {
            return Err(Error::Stale);
        }
        if ack.status().is_rejection() {
            self.dao.pause(cx.now);
            self.avoid_parent(cx);
            return Ok(());
        }
        self.dao.acknowledged();
        if core::mem::take(&mut self.is_unsaid)
            && let Some(lifetime) = dodag.lifetime(dodag.configuration().default_lifetime())
        {
            // Half of it, and a part of that, in case acknowledgements are lost.
            self.dao.refresh(cx.now, cx.entropy, lifetime / 2);
        }
        if let Some(storing) = self.downward.storing_mut() {
            storing.routes.acknowledged();
            if storing.routes.are_unknown() {
                self.dao.change(cx.now, cx.entropy);
            }
        }
        Ok(())
    }

    pub(super) fn handle_dco(
        &mut self,
        from: Option<&Eui64>,
        message: &ControlMessage<'_>,
    ) -> Result<(), Error> {
        let rank = self.rank();
        let storing = self.downward.storing_mut().ok_or(Error::Mode)?;
        let from = from.ok_or(Error::Address)?;
        let Some(dodag) = self.dodag.get() else { return Err(Error::NotJoined) };
        dodag.check_names(message)?;
        // Who is above this node may clean up; who is below says so by a DAO.
        if self.neighbours.get(from).is_none_or(|neighbour| neighbour.rank >= rank) {
            return Err(Error::Address);
        }
        let Message::Dco(dco) = message.message() else { return Err(Error::Malformed) };
        if storing.handle_dco(self.prefix, *from, &dco, message.options())? {
            self.events.push(Event::RoutesChanged);
        }
        Ok(())
    }

    /// Writes the DAO that is due
    /// ([RFC 6550 section 9.4](https://www.rfc-editor.org/rfc/rfc6550#section-9.4)): to the parent, or to the root where only it
    /// stores.
    pub(super) fn write_dao<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        out: &mut [u8],
    ) -> Option<usize> {
        let (Some(dodag), Some(parent), Some(prefix)) =
            (self.dodag.get(), self.neighbours.parent(), self.prefix.get())
        else {
            self.dao.stop();
            return None;
        };
        let parent = &parent.address;
        let is_stored = Self::TELLS_PARENT && dodag.mode() == ModeOfOperation::STORING;
        if let Some(storing) = self.downward.storing_mut()
            && is_stored
            && !self.dao.is_repeated()
        {
            storing.routes.choose(TARGETS);
        }
        let others = self.external.externals().map(|externals| &externals.dao);
        let sequence = self.dao.next_sequence_beside(others);
        self.dao.sent(cx.now, cx.entropy);
        let dao = Dao { instance: dodag.instance, wants_ack: true, sequence, dodag: None };
        let transit = Transit {
            external: false,
            invalidate: is_stored,
            path_control: 0x80,
            path_sequence: self.path_sequence,
            path_lifetime: dodag.configuration().default_lifetime(),
            parent: None,
        };
        let mut told = 0;
        let routes = self.downward.storing().filter(|_| is_stored).map(|storing| &storing.routes);
        let is_unsaid = self.is_unsaid;
        let packet = match is_stored {
            true => output::on_link(out, &self.address, Some(parent)),
            false => output::in_mesh(out, self.prefix, &self.address, &dodag.id),
        };
        let length = output::write(packet, |builder| {
            builder.begin(&Message::Dao(dao))?;
            let mut octets = [0; 16];
            if is_unsaid {
                output::put_address(&mut octets, prefix, &self.address);
                builder.host(&octets)?;
                output::put_address(&mut octets, prefix, parent);
                builder.transit(&transit, Some(&octets).filter(|_| !is_stored))?;
            }
            for route in routes.into_iter().flat_map(|routes| routes.chosen()) {
                output::put_address(&mut octets, prefix, &route.target);
                builder.host(&octets)?;
                let (path_sequence, path_lifetime) = (route.sequence, route.lifetime);
                builder.transit(&Transit { path_sequence, path_lifetime, ..transit }, None)?;
                told += 1;
            }
            Ok(())
        });
        self.is_path_told |= is_unsaid;
        if !is_unsaid && told == 0 {
            // What it told of has changed meanwhile.
            self.dao.acknowledged();
            if routes.is_some_and(|routes| routes.are_unknown()) {
                self.dao.change(cx.now, cx.entropy);
            }
            return None;
        }
        length
    }
}

//! How a node speaks for hosts below it that do not speak RPL.

use core::net::Ipv6Addr;

use sixlock_base::{Counter, Cx, Entropy, Eui64, Nv};
use sixlock_ipv6::rpl::{ControlMessage, Dao, Message, ModeOfOperation, PacketInformation};
use sixlock_ipv6::{Header, nd::RegisteredAddress};

use super::{Node, Profile};
use crate::error::DataError;
use crate::external::{self, ExternalTargets};
use crate::output;
use crate::packet;
use crate::prefix::MeshPrefix;

/// The most hosts that are told in one DAO.
const TARGETS: usize = 3;

impl<P: Profile> Node<P> {
    /// Takes in all addresses of the mesh that hosts have registered here and want to be reached at from elsewhere. One for which there is
    /// no room is not told.
    pub fn take_registered<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        registered: impl Iterator<Item = RegisteredAddress>,
    ) {
        let Some(externals) = self.external.externals_mut() else { return };
        let hosts = registered.map(|host| (Eui64::of_address(host.address), host.transaction, host.lifetime));
        let (has_changed, has_room) = externals.take(hosts);
        if !has_room {
            cx.counters.count(Counter::RplRoutesFull);
        }
        if has_changed && self.rank != 0 {
            externals.dao.change(cx.now, cx.entropy);
        }
    }

    /// How many hosts below it that do not speak RPL the root is told of.
    pub fn external_count(&self) -> usize {
        self.external.externals().map_or(0, |externals| externals.count())
    }

    /// Lets the root be told of all anew, if there are ways downwards.
    pub(super) fn tell_externals<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        if let Some(externals) = self.external.externals_mut() {
            externals.tell(cx.now, cx.entropy);
        }
    }

    /// Takes in that the root has acknowledged a DAO about hosts; whether that is what `ack` does.
    pub(super) fn handle_external_ack<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        source: Ipv6Addr,
        ack: &ControlMessage<'_>,
    ) -> bool {
        let (Some(dodag), Some(externals)) = (self.dodag.get(), self.external.externals_mut()) else {
            return false;
        };
        let is_acknowledged =
            self.rank != 0 && source.octets() == dodag.id && externals.dao.awaits(ack.acknowledged());
        if is_acknowledged && ack.status().is_rejection() {
            externals.dao.pause(cx.now);
        } else if is_acknowledged {
            // Half of the longest lifetime, and a part of that, in case acknowledgements are lost.
            let lifetime = dodag.lifetime(external::longest(dodag.configuration())).unwrap_or(0);
            externals.acknowledged(cx.now, cx.entropy, lifetime / 2);
        }
        is_acknowledged
    }

    /// Writes the DAO about hosts that is due: to the root, in either mode of operation, with this node as their parent, so that no other
    /// router needs to know of them ([RFC 9008 section 4.1.1](https://www.rfc-editor.org/rfc/rfc9008#section-4.1.1)).
    pub(super) fn write_external_dao<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        out: &mut [u8],
    ) -> Option<usize> {
        let is_told = self.rank != 0 && self.mode() != ModeOfOperation::NO_DOWNWARD;
        let externals = self.external.externals_mut().filter(|externals| externals.dao.is_due)?;
        let (Some(dodag), Some(prefix), true) = (self.dodag.get(), self.prefix.get(), is_told) else {
            externals.dao.stop();
            return None;
        };
        if !externals.dao.is_repeated() {
            externals.choose(TARGETS);
        }
        let sequence = externals.dao.next_sequence_beside(Some(&self.dao));
        externals.dao.sent(cx.now, cx.entropy);
        let externals = &*externals;
        let dao = Dao { instance: dodag.instance, wants_ack: true, sequence, dodag: None };
        let mut told = 0;
        let packet = output::in_mesh(out, self.prefix, &self.address, &dodag.id);
        let length = output::write(packet, |builder| {
            builder.begin(&Message::Dao(dao))?;
            let (mut octets, mut own) = ([0; 16], [0; 16]);
            output::put_address(&mut own, prefix, &self.address);
            for host in externals.chosen() {
                let (node, transit) = host.target(dodag.configuration());
                output::put_address(&mut octets, prefix, &node);
                builder.host(&octets)?;
                builder.transit(&transit, Some(&own))?;
                told += 1;
            }
            Ok(())
        });
        if told == 0
            && let Some(externals) = self.external.externals_mut()
        {
            // What it told of has changed meanwhile.
            externals.dao.acknowledged();
            if externals.are_unknown() {
                externals.dao.change(cx.now, cx.entropy);
            }
            return None;
        }
        length
    }

    /// Whether a packet comes from a host below this node that does not speak RPL.
    pub(super) fn is_of_external(&self, packet: &[u8]) -> bool {
        let Some(externals) = self.external.externals() else { return false };
        let source = Header::address_at(packet, Header::SOURCE_AT).map(|source| Ipv6Addr::from(*source));
        let source = source.and_then(|source| output::node_of(self.prefix, source));
        source.is_some_and(|source| externals.contains(source))
    }

    /// Puts around a packet of a host below this node that does not speak RPL a header with the option that routers read, up to the root:
    /// so nothing in the packet changes
    /// ([RFC 9008 section 7.1.3](https://www.rfc-editor.org/rfc/rfc9008#section-7.1.3)). Returns its length then. Another packet stays as
    /// it is.
    ///
    /// # Errors
    /// [`DataError::NoRoute`] if this node is in no DODAG, [`DataError::NoRoom`], or [`DataError::Malformed`].
    pub fn encapsulate(&self, buffer: &mut [u8], len: usize) -> Result<usize, DataError> {
        if !P::External::TELLS {
            return Ok(len);
        }
        let packet = buffer.get(..len).ok_or(DataError::Malformed)?;
        if packet::stays_on_link(packet) || !self.is_of_external(packet) {
            return Ok(len);
        }
        let dodag = self.dodag.get().filter(|_| self.rank != 0).ok_or(DataError::NoRoute)?;
        let prefix = *self.prefix.get().ok_or(DataError::NoRoute)?;
        let addresses = (self.address.with_prefix(prefix), Ipv6Addr::from(dodag.id));
        let information = PacketInformation {
            is_down: false,
            rank_error: false,
            forwarding_error: false,
            instance: dodag.instance,
            sender_rank: self.rank,
        };
        packet::tunnel_with_option(buffer, len, addresses, dodag.option_kind(), information)
            .ok_or(DataError::NoRoom)
    }
}

//! What a node does to data packets.

use core::net::Ipv6Addr;

use sixlock_base::{Counter, Cx, Entropy, Eui64, Nv};
use sixlock_ipv6::Header;
use sixlock_ipv6::rpl::PacketInformation;
use sixlock_ipv6::rpl::packet_information::{DOWN, FORWARDING_ERROR, HEADER, RANK_ERROR};

use super::{Node, Profile};
use crate::advertising::Advertising;
use crate::error::DataError;
use crate::event::Event;
use crate::output;
use crate::packet::{self, Here};
use crate::storing::Downward;

impl<P: Profile> Node<P> {
    /// Bytes that [`Node::originate`] adds to a packet at most.
    pub const ROOM: usize = HEADER;

    /// The neighbour to which a packet to `destination`, which is not this node, goes: downwards if there is a route, else to the
    /// parent. A leaf has the same, for packets of its own.
    pub fn next_hop(&self, destination: Ipv6Addr) -> Option<Eui64> {
        if let Some(neighbour) = output::neighbour_of(destination) {
            return Some(neighbour);
        }
        self.route_down(destination).or_else(|| self.parent())
    }

    fn route_down(&self, destination: Ipv6Addr) -> Option<Eui64> {
        let storing = self.downward.storing()?;
        let node =
            output::node_of(self.prefix, destination).filter(|node| !self.neighbours.is_parent(node))?;
        storing.routes.next_hop(node)
    }

    /// Puts into a packet of this node, the first `len` bytes of `buffer`, the option that routers read. Returns its length then. What
    /// stays on the link has no option.
    ///
    /// # Errors
    /// [`DataError::NoRoute`] if this node is in no DODAG, [`DataError::NoRoom`], or [`DataError::Malformed`].
    pub fn originate(&self, buffer: &mut [u8], len: usize) -> Result<usize, DataError> {
        let packet = buffer.get(..len).ok_or(DataError::Malformed)?;
        if packet::stays_on_link(packet) {
            return Ok(len);
        }
        let destination = packet::destination(packet).ok_or(DataError::Malformed)?;
        let dodag = self.dodag.get().filter(|_| self.rank != 0).ok_or(DataError::NoRoute)?;
        let information = PacketInformation {
            is_down: self.route_down(destination).is_some(),
            rank_error: false,
            forwarding_error: false,
            instance: dodag.instance,
            sender_rank: self.rank(),
        };
        packet::insert(buffer, len, dodag.option_kind(), information).ok_or(DataError::NoRoom)
    }

    /// Does to a packet that is not for this node, or whose source route goes on behind it, what a router does; the neighbour to send it
    /// to. It has come from the neighbour `from`. The hop limit is the caller's. A packet of one with which its sender had no way may
    /// go back to it, to be told so ([RFC 6550 section 11.2.2.3](https://www.rfc-editor.org/rfc/rfc6550#section-11.2.2.3)).
    pub fn forward<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        from: Eui64,
        packet: &mut [u8],
    ) -> Result<Eui64, DataError> {
        let destination = packet::destination(packet).ok_or(DataError::Malformed)?;
        let Some(dodag) = self.dodag.get().filter(|_| P::Advertising::ADVERTISES) else {
            return Err(DataError::NoRoute);
        };
        let here =
            Here { instance: dodag.instance, rank: self.rank(), min_hop_rank_increase: dodag.increase() };
        let found = packet::check(packet, here).inspect_err(|error| {
            if *error == DataError::Rank {
                cx.counters.count(Counter::RplRankErrors);
                if let Some(advertiser) = self.advertising.advertiser_mut() {
                    advertiser.provoke(cx.now, cx.entropy);
                }
            }
        })?;
        let octets = packet.get(Header::DESTINATION_AT..Header::LEN).unwrap_or_default();
        if packet::is_of(self.prefix, &self.address, octets) {
            let leads_on = packet::follow(packet, self.prefix, &self.address)?;
            return packet::node_at(self.prefix, packet).filter(|_| leads_on).ok_or(DataError::NoRoute);
        }
        let Some(mut found) = found else {
            if self.is_of_external(packet) {
                // The header that goes around it leads to the root.
                return self.parent().filter(|parent| *parent != from).ok_or(DataError::NoRoute);
            }
            let next_hop = self.next_hop(destination).filter(|next_hop| *next_hop != from);
            return next_hop.ok_or(DataError::NoRoute);
        };
        if found.flags & (RANK_ERROR | DOWN) == RANK_ERROR
            && let Some(advertiser) = self.advertising.advertiser_mut()
        {
            // Who takes this node for nearer to the root than it is, has not heard its rank.
            advertiser.answer(&from);
        }
        let was_sent_back = found.flags & FORWARDING_ERROR != 0;
        if was_sent_back {
            // Whom it was sent to has no route.
            self.forget_route(cx, destination, from);
        }
        let down = self.route_down(destination).filter(|next_hop| *next_hop != from);
        let next_hop = if let Some(down) = down {
            found.flags = found.flags & RANK_ERROR | DOWN;
            down
        } else {
            let parent = self.parent();
            match parent {
                // It has come down, and there is no way further: back to where it has come from.
                Some(parent) if was_sent_back => parent,
                _ if found.flags & DOWN != 0 => {
                    found.flags |= FORWARDING_ERROR;
                    from
                }
                Some(parent) if parent != from => parent,
                _ => return Err(DataError::NoRoute),
            }
        };
        found.write(packet, here.rank);
        Ok(next_hop)
    }

    /// A packet to `destination` was sent back by `from`: the route is wrong, if it went there.
    fn forget_route<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        destination: Ipv6Addr,
        from: Eui64,
    ) {
        if let Some(storing) = self.downward.storing_mut()
            && let Some(target) = output::node_of(self.prefix, destination)
            && storing.routes.withdraw_one(target, from)
        {
            self.events.push(Event::RoutesChanged);
            self.dao.change(cx.now, cx.entropy);
        }
    }
}

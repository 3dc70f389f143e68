use core::net::Ipv6Addr;

use sixlock_base::{Cx, Entropy, Nv, Packet};
use sixlock_interface::ipsec::{Ipsec, Keying, Manual, Transform};
use sixlock_ipv6::Header;

/// The longest that a tunnel puts before a packet: an IPv6 header, that of ESP or AH, and an initialization vector or an ICV.
const FRONT: usize = 72;
/// Room for a packet of 1,280 bytes, that before it, and padding and an ICV behind it.
const ROOM: usize = FRONT + 1280 + 40;

/// A replay window of 64 packets.
const WINDOW: usize = 8;

/// What is done to whole packets between a border router and hosts outside: what a security gateway does there, or nothing for `()`.
pub trait Internet<C> {
    /// One that was told nothing yet, and leaves packets as they are.
    const NEW: Self;

    /// Takes in a packet from outside, the first `len` bytes of `buffer`, if it came as policy demands; its length afterwards.
    fn inbound<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, buffer: &mut [u8], len: usize) -> Option<usize>;

    /// Does to a packet for outside what policy demands; what is to be sent, if it is.
    fn outbound<'p, E: Entropy, N: Nv>(
        &'p mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &'p [u8],
    ) -> Option<&'p [u8]>;
}

impl<C> Internet<C> for () {
    const NEW: Self = ();

    fn inbound<E, N>(&mut self, _: &mut Cx<'_, C, E, N>, _: &mut [u8], len: usize) -> Option<usize> {
        Some(len)
    }

    fn outbound<'p, E: Entropy, N: Nv>(
        &'p mut self,
        _: &mut Cx<'_, C, E, N>,
        packet: &'p [u8],
    ) -> Option<&'p [u8]> {
        Some(packet)
    }
}

/// Tunnels of IPsec between a security gateway and at most `HOSTS` hosts outside. Until it is [started](Tunnels::start) packets
/// go as they are; from then on what no policy speaks of is refused and counted, both ways. Their keys come from `K`.
pub struct Tunnels<C, T, const HOSTS: usize, K: Keying = Manual> {
    /// The address at which the gateway's end of all tunnels is.
    address: Option<Ipv6Addr>,
    ipsec: Ipsec<C, T, HOSTS, HOSTS, WINDOW, K>,
    packet: Packet<[u8; ROOM]>,
}

impl<C, T: Transform<C>, const HOSTS: usize, K: Keying> Tunnels<C, T, HOSTS, K> {
    /// Turns it on, with the gateway's end of all tunnels at `address`. Its policy and its associations, all of them in
    /// tunnel mode, are added to what this returns.
    pub fn start(&mut self, address: Ipv6Addr) -> &mut Ipsec<C, T, HOSTS, HOSTS, WINDOW, K> {
        self.address = Some(address);
        &mut self.ipsec
    }

    /// Policy and associations.
    pub fn ipsec(&mut self) -> &mut Ipsec<C, T, HOSTS, HOSTS, WINDOW, K> {
        &mut self.ipsec
    }
}

impl<C, T: Transform<C>, const HOSTS: usize, K: Keying> Internet<C> for Tunnels<C, T, HOSTS, K> {
    const NEW: Self = Self { address: None, ipsec: Ipsec::new(), packet: Packet::new() };

    fn inbound<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, buffer: &mut [u8], len: usize) -> Option<usize> {
        let Some(address) = self.address else { return Some(len) };
        let packet = buffer.get(..len)?;
        // What is protected between its ends is opened there; only what is for the gateway is opened here.
        match Header::parse(packet) {
            Ok((header, _)) if header.destination != address => self.ipsec.admits(cx, packet).then_some(len),
            _ => self.ipsec.inbound(cx, buffer, len).ok(),
        }
    }

    fn outbound<'p, E: Entropy, N: Nv>(
        &'p mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &'p [u8],
    ) -> Option<&'p [u8]> {
        if self.address.is_none() {
            return Some(packet);
        }
        self.packet.reset(FRONT);
        // The mesh carries no packet that is longer.
        self.packet.extend(packet).ok()?;
        self.ipsec.outbound(cx, &mut self.packet).ok()?;
        Some(self.packet.bytes())
    }
}

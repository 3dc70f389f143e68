use sixlock_base::{Array, Cx, Entropy, New, Nv, Packet};
use sixlock_ipsec::{
    Action, Addresses, ConfigError, InboundError, Ipsec, Keying, OutboundError, Policy, Selector, Transform,
};
use sixlock_ipv6::next_header;

/// Headroom that AH takes with the longest ICV, in bytes; a tunnel's header goes behind the payload's place.
const FRONT: usize = 28;

/// What is done to the packets of a host: IPsec, or nothing for `()`.
pub trait NetworkSecurity<C>: New {
    /// Whether it does anything.
    const PROTECTS: bool;

    /// Whether packets may go another way when they are protected: through a tunnel.
    const REROUTES: bool;

    /// Headroom that it takes before a payload, in bytes. With less, the payload is moved.
    fn front(&self) -> usize;

    /// Whether this host protects for others, as a security gateway: then what it forwards into the mesh and from there meets
    /// policy, too.
    fn is_for_others(&self) -> bool {
        false
    }

    /// Whether policy lets a packet that has come in for another host pass as it is; only asked if it
    /// [is for others](NetworkSecurity::is_for_others).
    fn admits<E, N>(&mut self, _: &mut Cx<'_, C, E, N>, _packet: &[u8]) -> bool {
        true
    }

    /// Does to a packet of this host what policy demands.
    fn outbound<E: Entropy, N: Nv, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &mut Packet<B>,
    ) -> Result<(), OutboundError>;

    /// The same for the packet that the first `len` bytes of `buffer` are; its length afterwards.
    fn outbound_in<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut [u8],
        len: usize,
    ) -> Result<usize, OutboundError>;

    /// Opens the packet for this host that the first `len` bytes of `buffer` are, if it came as policy demands; its length
    /// afterwards.
    fn inbound<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut [u8],
        len: usize,
    ) -> Result<usize, InboundError>;
}

impl<C> NetworkSecurity<C> for () {
    const PROTECTS: bool = false;
    const REROUTES: bool = false;

    fn front(&self) -> usize {
        0
    }

    fn outbound<E: Entropy, N: Nv, B: Array<u8>>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: &mut Packet<B>,
    ) -> Result<(), OutboundError> {
        Ok(())
    }

    fn outbound_in<E: Entropy, N: Nv>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: &mut [u8],
        len: usize,
    ) -> Result<usize, OutboundError> {
        Ok(len)
    }

    fn inbound<E, N>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: &mut [u8],
        len: usize,
    ) -> Result<usize, InboundError> {
        Ok(len)
    }
}

impl<C, T, const POLICIES: usize, const ASSOCIATIONS: usize, const WINDOW: usize, K> NetworkSecurity<C>
    for Ipsec<C, T, POLICIES, ASSOCIATIONS, WINDOW, K>
where
    T: Transform<C>,
    K: Keying,
{
    const PROTECTS: bool = true;
    const REROUTES: bool = T::FEATURES.tunnels;

    fn front(&self) -> usize {
        FRONT
    }

    fn admits<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, packet: &[u8]) -> bool {
        Ipsec::admits(self, cx, packet)
    }

    fn outbound<E: Entropy, N: Nv, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &mut Packet<B>,
    ) -> Result<(), OutboundError> {
        Ipsec::outbound(self, cx, packet)
    }

    fn outbound_in<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut [u8],
        len: usize,
    ) -> Result<usize, OutboundError> {
        Ipsec::outbound_in(self, cx, buffer, len)
    }

    fn inbound<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut [u8],
        len: usize,
    ) -> Result<usize, InboundError> {
        Ipsec::inbound(self, cx, buffer, len)
    }
}

/// The IPsec `S` of a host that may protect for others, too
/// ([RFC 4301 section 3.1](https://www.rfc-editor.org/rfc/rfc4301#section-3.1)).
pub struct SecurityGateway<S> {
    /// Policy and associations.
    pub ipsec: S,
    is_for_others: bool,
}

impl<C, T, const POLICIES: usize, const ASSOCIATIONS: usize, const WINDOW: usize, K>
    SecurityGateway<Ipsec<C, T, POLICIES, ASSOCIATIONS, WINDOW, K>>
where
    T: Transform<C>,
    K: Keying,
{
    /// Lets it be for others, those at `addresses`, once all other policies were added: their packets go as they are where none of
    /// these is for them, if `unprotected`; otherwise only what AH or ESP protects between its ends.
    ///
    /// # Errors
    /// When there is no room for two policies more, or for one.
    pub fn protect_others(&mut self, addresses: Addresses, unprotected: bool) -> Result<(), ConfigError> {
        let passing = match unprotected {
            true => &[None][..],
            false => &[Some(next_header::AH), Some(next_header::ESP)],
        };
        for &protocol in passing {
            let selector = Selector { remote: addresses, protocol, ..Selector::ANY };
            self.ipsec.add_policy(Policy { selector, action: Action::Bypass })?;
        }
        self.is_for_others = true;
        Ok(())
    }
}

impl<S: New> New for SecurityGateway<S> {
    const NEW: Self = Self { ipsec: S::NEW, is_for_others: false };
}

impl<C, S: NetworkSecurity<C>> NetworkSecurity<C> for SecurityGateway<S> {
    const PROTECTS: bool = S::PROTECTS;
    const REROUTES: bool = S::REROUTES;

    fn front(&self) -> usize {
        self.ipsec.front()
    }

    fn is_for_others(&self) -> bool {
        self.is_for_others
    }

    fn admits<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, packet: &[u8]) -> bool {
        self.ipsec.admits(cx, packet)
    }

    fn outbound<E: Entropy, N: Nv, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &mut Packet<B>,
    ) -> Result<(), OutboundError> {
        self.ipsec.outbound(cx, packet)
    }

    fn outbound_in<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut [u8],
        len: usize,
    ) -> Result<usize, OutboundError> {
        self.ipsec.outbound_in(cx, buffer, len)
    }

    fn inbound<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut [u8],
        len: usize,
    ) -> Result<usize, InboundError> {
        self.ipsec.inbound(cx, buffer, len)
    }
}

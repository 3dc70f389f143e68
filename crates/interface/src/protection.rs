use core::marker::PhantomData;

use sixlock_base::{Cx, Entropy, Nv, Packet};
use sixlock_ipsec::{
    Action, Addresses, ConfigError, Contexts, InboundError, Ipsec, OutboundError, Policy, Selector, Transform,
};
use sixlock_ipv6::next_header;
use sixlock_net::Fragments;
use sixlock_sixlowpan::Payloads;
use sixlock_sixlowpan::ipsec::Context;

/// What is done to the packets of a host: IPsec, and fragments of long ones put together; or nothing for [`Payloads`], of which `()`
/// links nothing.
pub trait Protection<C>: Sized {
    /// Whether it does anything.
    const PROTECTS: bool;

    /// Whether packets may go another way under protection: through a tunnel.
    const REROUTES: bool = true;

    /// One that was told nothing yet.
    const NEW: Self;

    /// What is known of the packets that nodes on the way send and forward.
    type Context: Context;

    /// Whether it puts fragments of packets together, which was done before IPsec opens them
    /// ([RFC 4303 section 3.4.1](https://www.rfc-editor.org/rfc/rfc4303#section-3.4.1)).
    type Fragments: Fragments;

    /// What is known of those packets, lent.
    fn context(&mut self) -> &mut Self::Context;

    /// Room that it takes before a payload if it is there, in bytes.
    fn front(&self) -> usize;

    /// Whether this host protects for others, as a security gateway: then what it forwards into the mesh and from there meets
    /// policy, too.
    fn is_for_others(&self) -> bool {
        false
    }

    /// Whether this host is in a network whose routers read RPL's option in each packet: it puts one into its own packets, as a border
    /// router around those of others, and takes off the headers that one has put around packets for it
    /// ([RFC 9008](https://www.rfc-editor.org/rfc/rfc9008)).
    fn is_in_rpl(&self) -> bool {
        false
    }

    /// Whether policy lets a packet that has come in for another host pass as it is; only asked where it
    /// [is for others](Protection::is_for_others).
    fn admits<E, N>(&self, _: &mut Cx<'_, C, E, N>, _packet: &[u8]) -> bool {
        true
    }

    /// Does to a packet of this host what policy demands.
    fn outbound<E: Entropy, N: Nv, const M: usize>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &mut Packet<M>,
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

/// Nothing is done to packets; over links, they are compressed as it says.
impl<C, P: Payloads> Protection<C> for P {
    const PROTECTS: bool = false;
    const NEW: Self = P::NEW;

    type Context = Self;
    type Fragments = ();

    fn context(&mut self) -> &mut Self {
        self
    }

    fn front(&self) -> usize {
        0
    }

    fn outbound<E: Entropy, N: Nv, const M: usize>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: &mut Packet<M>,
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

/// IPsec with headers compressed: policy and associations as [`Ipsec`] says, and the soft state of `FLOWS` flows, of this
/// host and of those that it forwards for, which may be compressed as the `DRAFTS` say, and payloads as `P` does ([`Contexts`]). It
/// may be for `OTHERS`, too. Fragments are put together as `F` says.
pub struct Protected<
    C,
    T,
    const POLICIES: usize,
    const ASSOCIATIONS: usize,
    const WINDOW: usize,
    const FLOWS: usize,
    const DRAFTS: bool = true,
    const OTHERS: bool = false,
    P = (),
    F = (),
> {
    /// Policy and associations.
    pub ipsec: Ipsec<C, T, POLICIES, ASSOCIATIONS, WINDOW>,
    /// The state of compressed headers.
    pub contexts: Contexts<FLOWS, DRAFTS, P>,
    is_for_others: bool,
    fragments: PhantomData<F>,
}

impl<
    C,
    T: Transform<C>,
    const POLICIES: usize,
    const ASSOCIATIONS: usize,
    const WINDOW: usize,
    const FLOWS: usize,
    const DRAFTS: bool,
    P,
    F,
> Protected<C, T, POLICIES, ASSOCIATIONS, WINDOW, FLOWS, DRAFTS, true, P, F>
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

impl<
    C,
    T: Transform<C>,
    const POLICIES: usize,
    const ASSOCIATIONS: usize,
    const WINDOW: usize,
    const FLOWS: usize,
    const DRAFTS: bool,
    const OTHERS: bool,
    P: Payloads,
    F: Fragments,
> Protection<C> for Protected<C, T, POLICIES, ASSOCIATIONS, WINDOW, FLOWS, DRAFTS, OTHERS, P, F>
{
    const PROTECTS: bool = true;
    const REROUTES: bool = T::FEATURES.tunnels;
    const NEW: Self =
        Self { ipsec: Ipsec::new(), contexts: Contexts::new(), is_for_others: false, fragments: PhantomData };

    type Context = Contexts<FLOWS, DRAFTS, P>;
    type Fragments = F;

    fn context(&mut self) -> &mut Contexts<FLOWS, DRAFTS, P> {
        &mut self.contexts
    }

    /// AH with the longest ICV; what it takes beyond, a tunnel's header, goes behind the payload's place.
    fn front(&self) -> usize {
        28
    }

    fn is_for_others(&self) -> bool {
        OTHERS && self.is_for_others
    }

    fn admits<E, N>(&self, cx: &mut Cx<'_, C, E, N>, packet: &[u8]) -> bool {
        self.ipsec.admits(cx, packet)
    }

    fn outbound<E: Entropy, N: Nv, const M: usize>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &mut Packet<M>,
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

use core::marker::PhantomData;
use core::net::Ipv6Addr;

use sixlock_base::{Array, Counter, Cx, Entropy, Instant, New, Nv, Packet, Slot};
use sixlock_ipv6::extension::{self, Upper};
use sixlock_ipv6::{Header, next_header};

use crate::association::{Inbound, Outbound};
use crate::keying::{self, Keying, Manual, Notify};
use crate::layout::Layout;
use crate::lifetime::Expiry;
use crate::policy::PolicyDatabase;
use crate::table::Table;
use crate::transform::{Opened, Sending, Transform};
use crate::{
    Action, Association, Flow, InboundError, InboundId, Mode, OutboundError, OutboundId, PacketBuffer,
    Protocol, Refusal, SequenceNumber, layout, table, tunnel,
};

mod configuration;
mod events;

/// Most associations that one packet is protected by, where one may be within another.
const NESTED: usize = 2;

/// The policy and the associations of a host: at most `POLICIES` policies, and `ASSOCIATIONS` associations in each
/// direction, each with a replay window of `WINDOW` × 8 packets (64 packets in 8 bytes to 1,024 in 128). All use the
/// transform `T` over the backend `C`; `T` is one suite on devices and [`crate::AnyTransform`] on hosts. Their keys come from `K`.
pub struct Ipsec<
    C,
    T,
    const POLICIES: usize,
    const ASSOCIATIONS: usize,
    const WINDOW: usize,
    K: Keying = Manual,
> {
    backend: PhantomData<fn(&mut C)>,
    policies: PolicyDatabase<POLICIES>,
    outbound: [Slot<Outbound<T, K::Lifetime>>; ASSOCIATIONS],
    inbound: [Slot<Inbound<T, K::Lifetime, WINDOW>>; ASSOCIATIONS],
    replaced: K::Replaced<T, WINDOW>,
    notifications: K::Notifications,
}

impl<C, T: Transform<C>, const POLICIES: usize, const ASSOCIATIONS: usize, const WINDOW: usize, K: Keying> New
    for Ipsec<C, T, POLICIES, ASSOCIATIONS, WINDOW, K>
{
    const NEW: Self = Self::new();
}

impl<C, T: Transform<C>, const POLICIES: usize, const ASSOCIATIONS: usize, const WINDOW: usize, K: Keying>
    Ipsec<C, T, POLICIES, ASSOCIATIONS, WINDOW, K>
{
    /// Most associations that one packet is protected by.
    const LAYERS: usize = if T::FEATURES.nesting { NESTED } else { 1 };

    /// Without policies, which lets nothing out and nothing in. It is all zero bytes.
    pub const fn new() -> Self {
        Self {
            backend: PhantomData,
            policies: PolicyDatabase::new(),
            outbound: [const { Slot::Empty }; ASSOCIATIONS],
            inbound: [const { Slot::Empty }; ASSOCIATIONS],
            replaced: K::Replaced::EMPTY,
            notifications: K::Notifications::NEW,
        }
    }

    /// Protects an outbound packet as policy demands, in place: headers go into the headroom, trailers into the tailroom. If that fails,
    /// it is counted, and the packet must not be sent. In tunnel mode, its destination changes.
    pub fn outbound<E: Entropy, N: Nv, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &mut Packet<B>,
    ) -> Result<(), OutboundError> {
        let (start, end) = (packet.headroom(), packet.headroom() + packet.len());
        let tailroom = packet.tailroom();
        // All of the headroom and tailroom: neither can fail, and the packet is in them.
        let _ = packet.push_front(start);
        let _ = packet.push_back(tailroom);
        let Some(mut buffer) = PacketBuffer::new(packet.bytes_mut(), start, end) else {
            return Err(OutboundError::NoRoom);
        };
        let result = self.protect(cx, &mut buffer);
        let (start, end) = buffer.bounds();
        packet.truncate(end);
        let _ = packet.trim_front(start);
        result
    }

    /// The same for the packet in the first `len` bytes of `buffer`. Returns its new length.
    pub fn outbound_in<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut [u8],
        len: usize,
    ) -> Result<usize, OutboundError> {
        let Some(mut packet) = PacketBuffer::new(buffer, 0, len) else {
            return Err(self.refuse(cx, OutboundError::NoRoom));
        };
        self.protect(cx, &mut packet)?;
        Ok(packet.len())
    }

    fn protect<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut PacketBuffer<'_>,
    ) -> Result<(), OutboundError> {
        let result = self.apply(cx, buffer);
        result.map_err(
            #[inline(always)]
            |error| self.refuse(cx, error),
        )
    }

    /// Counts a packet that does not go out, and tells why.
    #[inline(always)]
    fn refuse<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, error: OutboundError) -> OutboundError {
        cx.counters.count(error.counter());
        self.notifications.note_refusal(Refusal::Outbound(error));
        error
    }

    #[inline(never)]
    fn apply<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut PacketBuffer<'_>,
    ) -> Result<(), OutboundError> {
        let packet = buffer.packet();
        if length(packet) != Some(packet.len()) {
            return Err(OutboundError::Malformed);
        }
        let flow = Flow::outbound(packet);
        let Some(flow) = &flow else { return Err(OutboundError::HeaderChain) };
        let protection = match self.policies.action(flow) {
            None => return Err(OutboundError::NoPolicy),
            Some(Action::Bypass) => return Ok(()),
            Some(Action::Protect(protection)) => protection,
            Some(Action::Acquire) if K::Notifications::IS_HEARD => {
                self.notifications.note_missing(flow);
                return Err(OutboundError::NoAssociation);
            }
            Some(_) => return Err(OutboundError::Discarded),
        };
        let [inner, outer] = protection.outbound;
        if let Some(id) = inner {
            self.apply_one(cx, buffer, id)?;
        }
        match outer {
            Some(id) if T::FEATURES.nesting => self.apply_one(cx, buffer, id),
            _ => Ok(()),
        }
    }

    /// Protects the packet under one association.
    #[cfg_attr(target_pointer_width = "64", inline(never))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(always))]
    fn apply_one<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut PacketBuffer<'_>,
        id: OutboundId,
    ) -> Result<(), OutboundError> {
        let place = self.outbound.get_mut(id.place()).and_then(Slot::get_mut);
        // No policy names an association that is not there. Where nobody hears of reasons, another takes no flash.
        let missing =
            if K::Notifications::IS_HEARD { OutboundError::NoAssociation } else { OutboundError::Discarded };
        let Some(outbound) = place else { return Err(missing) };
        self.notifications.note_stage(outbound.association.lifetime.check(&mut outbound.usage, cx.now));
        if !K::Lifetime::is_alive(&outbound.usage) {
            return Err(OutboundError::Expired);
        }
        let number = outbound.number(cx.nv)?;
        let Association { spi, extended, ref lifetime, ref transform, .. } = outbound.association;
        self.notifications.note_stage(lifetime.count(&mut outbound.usage, buffer.len(), cx.now));
        let mode = outbound.association.mode();
        transform.protect(cx.crypto, cx.entropy, &Sending { spi, number, extended, mode }, buffer)
    }

    /// Opens an inbound packet for this host, the first `len` bytes of `buffer`, in place, and checks that it came as policy demands.
    /// Returns its new length. If that fails, it is counted, and nothing of the buffer may be used.
    ///
    /// Fragments must have been reassembled before.
    pub fn inbound<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut [u8],
        len: usize,
    ) -> Result<usize, InboundError> {
        let result = self.open(cx.crypto, cx.now, buffer, len);
        if let Err(error) = result {
            cx.counters.count(error.counter());
            self.notifications.note_refusal(Refusal::Inbound(error));
        }
        result
    }

    /// Whether policy lets an inbound packet for another host pass unopened; if not, it is counted. This is for a security gateway,
    /// which opens only packets for itself
    /// ([RFC 4301 section 5.2](https://www.rfc-editor.org/rfc/rfc4301#section-5.2)).
    pub fn admits<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, packet: &[u8]) -> bool {
        let reason = match Flow::inbound(packet).map(|flow| self.policies.action(&flow)) {
            Some(Some(Action::Bypass)) => return true,
            Some(Some(Action::Protect(_))) => InboundError::Unprotected,
            Some(Some(_)) => InboundError::Discarded,
            Some(None) => InboundError::NoPolicy,
            None => InboundError::HeaderChain,
        };
        cx.counters.count(Counter::IpsecPolicyViolated);
        self.notifications.note_refusal(Refusal::Inbound(reason));
        false
    }

    #[inline(never)]
    fn open(
        &mut self,
        crypto: &mut C,
        now: Instant,
        buffer: &mut [u8],
        len: usize,
    ) -> Result<usize, InboundError> {
        let Some(packet) = buffer.get(..len) else { return Err(InboundError::Malformed) };
        let Some(mut len) = length(packet) else { return Err(InboundError::Malformed) };
        let destination = Header::address_at(packet, Header::DESTINATION_AT).copied();
        // The associations that the packet came under, the innermost, which was opened last, first.
        let mut applied = [None; NESTED];
        let upper = loop {
            let Some(packet) = buffer.get_mut(..len) else { return Err(InboundError::Malformed) };
            let layout = Layout::of(packet);
            let Some(layout) = &layout else { return Err(InboundError::HeaderChain) };
            if T::FEATURES.tunnels
                && Header::address_at(packet, Header::DESTINATION_AT) != destination.as_ref()
            {
                // It came through a tunnel. If it is protected further, another host opens that.
                break layout::upper(packet).ok_or(InboundError::HeaderChain)?;
            }
            if layout.has_segments_left {
                return Err(InboundError::Routing);
            }
            let Some(found) = layout.outermost() else { break layout.visible };
            if applied[Self::LAYERS - 1].is_some() {
                return Err(InboundError::Nesting);
            }
            let (id, opened_len, upper) = self.open_one(crypto, now, packet, found)?;
            applied = [Some(id), if T::FEATURES.nesting { applied[0] } else { None }];
            len = opened_len;
            if let Some(protocol) = upper {
                break Upper { protocol, ..*found };
            }
        };
        let Some(packet) = buffer.get(..len) else { return Err(InboundError::Malformed) };
        let flow = Flow::of(packet, &upper, false);
        let Some(flow) = &flow else { return Err(InboundError::HeaderChain) };
        let expected = match self.policies.action(flow) {
            None => return Err(InboundError::NoPolicy),
            Some(Action::Bypass) => &[None; NESTED],
            Some(Action::Protect(protection)) => &protection.inbound,
            Some(Action::Acquire) if K::Notifications::IS_HEARD => {
                return Err(InboundError::WrongAssociation);
            }
            Some(_) => return Err(InboundError::Discarded),
        };
        // A packet is let in if it came under exactly the associations that its policy names
        // (https://www.rfc-editor.org/rfc/rfc4301#section-5.2).
        if applied[0] == expected[0] && (Self::LAYERS == 1 || applied[1] == expected[1]) {
            Ok(len)
        } else if applied[0].is_none() {
            Err(InboundError::Unprotected)
        } else {
            Err(InboundError::WrongAssociation)
        }
    }

    /// Opens the outermost header, at `found`. Returns the association, the new length of the packet, and the protocol that is now at
    /// `found`, if that is known to be the upper-layer header.
    #[cfg_attr(target_pointer_width = "64", inline(never))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(always))]
    fn open_one(
        &mut self,
        crypto: &mut C,
        now: Instant,
        packet: &mut [u8],
        found: &Upper,
    ) -> Result<(InboundId, usize, Option<u8>), InboundError> {
        let (protocol, spi, low) = layout::numbers(packet, found).ok_or(InboundError::Truncated)?;
        let destination =
            Header::address_at(packet, Header::DESTINATION_AT).ok_or(InboundError::Malformed)?;
        let address = match destination {
            [0xff, ..] => destination,
            _ => Header::address_at(packet, Header::SOURCE_AT).ok_or(InboundError::Malformed)?,
        };
        let address = Ipv6Addr::from(*address);
        let entry = table::find(&mut self.inbound, |inbound| inbound.association.is(protocol, spi, &address));
        let entry = match entry {
            Some((at, inbound)) => Some((InboundId::of(at), inbound)),
            None => keying::find(self.replaced.places(), |old| old.is(protocol, spi, &address)),
        };
        let Some((id, inbound)) = entry else { return Err(InboundError::NoAssociation) };
        self.notifications.note_stage(inbound.association.lifetime.check(&mut inbound.usage, now));
        if !K::Lifetime::is_alive(&inbound.usage) {
            return Err(InboundError::Expired);
        }
        let Association { extended, ref transform, .. } = inbound.association;
        // Without authentication a number says nothing, and anyone could move the window.
        let is_authenticated = transform.icv_len() > 0;
        let number = match is_authenticated {
            true => inbound.fresh(low).ok_or(InboundError::Replayed)?,
            false => SequenceNumber::new(0, low),
        };
        let Opened { payload, next_header } = transform.open(crypto, packet, found, number, extended)?;
        if is_authenticated {
            inbound.accept(number);
        }
        let lifetime = &inbound.association.lifetime;
        self.notifications.note_stage(lifetime.count(&mut inbound.usage, payload.len(), now));
        if next_header == next_header::NONE && protocol == Protocol::Esp {
            // https://www.rfc-editor.org/rfc/rfc4303#section-2.6
            return Err(InboundError::Dummy);
        }
        if let Mode::Tunnel { local, .. } = inbound.association.mode() {
            let len = tunnel::decapsulate(packet, payload, next_header, &local)?;
            return Ok((id, len, None));
        }
        let len = found.at + payload.len();
        packet.copy_within(payload, found.at);
        *packet.get_mut(found.named_at).ok_or(InboundError::Malformed)? = next_header;
        let length = (len - Header::LEN) as u16;
        let field = packet.get_mut(Header::PAYLOAD_LENGTH_AT..Header::PAYLOAD_LENGTH_AT + 2);
        field.ok_or(InboundError::Malformed)?.copy_from_slice(&length.to_be_bytes());
        // In most packets it is. Small processors find that out by another walk, which takes more time and less flash.
        let is_last = cfg!(target_pointer_width = "64") && extension::is_upper(next_header);
        Ok((id, len, is_last.then_some(next_header)))
    }
}

/// The length that the header of a packet says, if the packet is that long.
fn length(packet: &[u8]) -> Option<usize> {
    Some(Header::LEN + Header::parse(packet).ok()?.1.len())
}

impl<C, T: Transform<C>, const POLICIES: usize, const ASSOCIATIONS: usize, const WINDOW: usize, K: Keying>
    Default for Ipsec<C, T, POLICIES, ASSOCIATIONS, WINDOW, K>
{
    fn default() -> Self {
        Self::new()
    }
}

use core::fmt;

use sixlock_base::{Array, Counter, Cx, Duration, Entropy, Eui64, Instant, New, Slot};
use sixlock_ipv6::{Header, checksum, next_header};
use sixlock_sixlowpan::ipsec::{Context, TELL_WHOLE};
use sixlock_sixlowpan::{
    ElidedChecksum, Error, FragmentHeader, LinkAddresses, MAX_DATAGRAM, decompress_with,
};

use crate::fragments::{MIN_CAPACITY, emit_part};
use crate::reassembly::{Outcome, Reassembly};

/// After a datagram in fragments for a host beyond a neighbour, how long this host's next one for the same host waits,
/// unless that has answered.
///
/// Who sends the first one on two hops ahead is not heard here, but by the neighbour, where both would meet. In this time a
/// datagram of 300 bytes is three hops ahead, also if each of its frames takes two attempts.
const PAUSE: Duration = Duration::from_millis(200);

/// How long an incomplete datagram is kept.
pub const REASSEMBLY_TIMEOUT: Duration = Duration::from_secs(8);

/// How many packets there may be at a time, and how long.
pub trait Pool {
    /// The bytes of a packet.
    type Buffer: Array<u8>;
    /// The packets that are reassembled, lent or sent.
    type Datagrams: Array<Datagram<Self::Buffer>>;
}

/// A pool of `POOL` packets of at most `MTU` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Datagrams<const MTU: usize, const POOL: usize>;

impl<const MTU: usize, const POOL: usize> Pool for Datagrams<MTU, POOL> {
    type Buffer = [u8; MTU];
    type Datagrams = [Datagram<[u8; MTU]>; POOL];
}

/// The 6LoWPAN layer of a node, with a pool of packets as `P` says, such as [`Datagrams`].
pub struct Lowpan<P: Pool> {
    datagrams: P::Datagrams,
    next_tag: u16,
    /// The place of the next datagram in the order of transmission.
    next_turn: u16,
    pause: Slot<Pause>,
}

/// The pause before the next datagram for a host beyond a neighbour.
struct Pause {
    destination: [u8; ADDRESS],
    until: Instant,
}

/// Length of an address, in bytes.
const ADDRESS: usize = 16;

/// A packet, or the place of one.
pub struct Datagram<B> {
    role: Role,
    link: LinkAddresses,
    len: u16,
    buffer: B,
}

impl<B: Array<u8>> New for Datagram<B> {
    const NEW: Self = Self {
        role: Role::Free,
        link: LinkAddresses { source: Eui64([0; 8]), destination: Eui64([0; 8]) },
        len: 0,
        buffer: B::NEW,
    };
}

#[repr(u8)]
enum Role {
    Free,
    Reassembling(Reassembly),
    Received,
    /// Room for a packet of this host.
    Lent,
    Transmitting(Transmission),
}

#[derive(Clone, Copy)]
struct Transmission {
    /// Whether this host made the packet: others are on their way already.
    is_own: bool,
    /// Its place in the order of transmission.
    turn: u16,
    /// How much of the packet is sent.
    offset: u16,
    /// What its fragments are known by.
    tag: u16,
}

/// A complete packet that is lent to the caller, or room for one, who ends it with [`Lowpan::forward`] or
/// [`Lowpan::release`]. One that is dropped instead takes its datagram out of the pool.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the datagram stays taken until it is forwarded or released"]
pub struct Received(u8);

/// How many packets of a pool are taken, and what for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupied {
    /// Those of which some fragments are here.
    pub reassembling: usize,
    /// Those that are lent to the caller.
    pub received: usize,
    /// Those that are to be sent.
    pub transmitting: usize,
}

/// A frame payload to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The neighbour it goes to.
    pub destination: Eui64,
    /// Its length in bytes.
    pub len: usize,
}

/// Why a packet was not taken for transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// All datagrams open to transmission are in use.
    Full,
    /// The packet is longer than a datagram of the pool.
    TooLong,
    /// It is no IPv6 packet of the length that its header says.
    NotIpv6,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "all datagrams open to transmission are in use: send it later",
            Self::TooLong => "the packet is longer than a datagram of the pool",
            Self::NotIpv6 => "the packet is not IPv6, or its length is not the one that its header has",
        })
    }
}

impl core::error::Error for SendError {}

impl<P: Pool> Lowpan<P> {
    /// The longest packet, in bytes.
    pub const MTU: usize = P::Buffer::LEN;

    /// How many packets there may be.
    const POOL: usize = P::Datagrams::LEN;

    const SIZES: () = {
        assert!(Self::MTU >= Header::LEN && Self::MTU <= MAX_DATAGRAM, "a datagram holds 40 to 2,047 bytes");
        assert!(Self::POOL >= 2 && Self::POOL <= 255, "a pool holds 2 to 255 datagrams");
    };

    /// Datagrams that reassembly, and transmission, may take: all but one.
    const LIMIT: usize = Self::POOL - 1;

    /// Reassemblies one neighbour may have under way.
    const NEIGHBOUR_LIMIT: usize = if Self::LIMIT < 2 { 1 } else { Self::LIMIT / 2 };

    /// An empty pool. It is all zero bytes.
    pub const fn new() -> Self {
        let () = Self::SIZES;
        Self { datagrams: P::Datagrams::NEW, next_tag: 0, next_turn: 0, pause: Slot::Empty }
    }

    /// Lets tags begin anywhere, so that after a restart fragments do not mix with earlier ones; to be called first.
    pub fn start(&mut self, entropy: &mut impl Entropy) {
        self.next_tag = entropy.next_u32() as u16;
    }

    /// Takes an IPv6 packet for transmission to the neighbour `link.destination`, after all that wait.
    pub fn send<C, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        link: LinkAddresses,
        packet: &[u8],
    ) -> Result<(), SendError> {
        let len = packet_len(packet, Self::MTU)?;
        let transmission = self.may_transmit().then(|| self.next_transmission(true));
        let (Some(transmission), Some(datagram)) = (transmission, self.free()) else {
            cx.counters.count(Counter::LowpanTransmitFull);
            return Err(SendError::Full);
        };
        datagram.buffer.as_mut()[..packet.len()].copy_from_slice(packet);
        (datagram.link, datagram.len, datagram.role) = (link, len, Role::Transmitting(transmission));
        Ok(())
    }

    /// Lends the room of a packet, in which the caller writes one to send; `None` if there is no room for one.
    pub fn lend(&mut self) -> Option<Received> {
        if !self.may_transmit() {
            return None;
        }
        let place = self.position(|role| matches!(role, Role::Free))?;
        let datagram = self.datagrams.as_mut().get_mut(place)?;
        (datagram.role, datagram.len) = (Role::Lent, 0);
        Some(Received(place as u8))
    }

    /// Takes a received packet, of which the first `len` bytes are now one to send, for transmission. On an
    /// error it is released.
    pub fn forward<C, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        received: Received,
        link: LinkAddresses,
        len: usize,
    ) -> Result<(), SendError> {
        let transmission = self.may_transmit().then(|| self.next_transmission(false));
        let Some(datagram) = self.datagrams.as_mut().get_mut(usize::from(received.0)) else {
            return Err(SendError::NotIpv6);
        };
        let is_own = matches!(datagram.role, Role::Lent);
        datagram.role = Role::Free;
        let len = datagram
            .buffer
            .as_ref()
            .get(..len)
            .ok_or(SendError::TooLong)
            .and_then(|packet| packet_len(packet, Self::MTU))?;
        let Some(transmission) = transmission else {
            cx.counters.count(Counter::LowpanTransmitFull);
            return Err(SendError::Full);
        };
        let role = Role::Transmitting(Transmission { is_own, ..transmission });
        (datagram.link, datagram.len, datagram.role) = (link, len, role);
        Ok(())
    }

    /// Ends a received packet.
    pub fn release(&mut self, received: Received) {
        if let Some(datagram) = self.datagrams.as_mut().get_mut(usize::from(received.0)) {
            datagram.role = Role::Free;
        }
    }

    /// Leaves of a received packet the first `len` bytes, which are a packet too.
    pub fn truncate(&mut self, received: &Received, len: usize) {
        if let Some(datagram) = self.datagrams.as_mut().get_mut(usize::from(received.0)) {
            datagram.len = datagram.len.min(u16::try_from(len).unwrap_or(u16::MAX));
        }
    }

    /// A received packet.
    pub fn packet(&self, received: &Received) -> &[u8] {
        let datagram = self.datagrams.as_ref().get(usize::from(received.0));
        datagram.map_or(&[], |datagram| &datagram.buffer.as_ref()[..usize::from(datagram.len)])
    }

    /// The whole buffer of a received packet, and the packet's length: what lies behind is room for it to grow.
    pub fn buffer_mut(&mut self, received: &Received) -> (&mut [u8], usize) {
        match self.datagrams.as_mut().get_mut(usize::from(received.0)) {
            Some(datagram) => (datagram.buffer.as_mut(), usize::from(datagram.len)),
            None => (&mut [], 0),
        }
    }

    /// Writes the next frame payload of the packet that waits longest, of at most `capacity` bytes, to `out`. One of this
    /// host's waits besides until the one before it for the same host has moved on, and one for a neighbour that is asleep until that has
    /// asked for it.
    ///
    /// A packet leaves the pool with its last fragment: whether each one arrives is the link's affair, and
    /// one that is not acknowledged does not end the others, because what was lost may be the acknowledgement.
    /// There is nothing to send when `capacity` or `out` are below [`MIN_CAPACITY`](crate::MIN_CAPACITY).
    pub fn poll_transmit(
        &mut self,
        now: Instant,
        context: &mut impl Context,
        is_asleep: impl Fn(Eui64) -> bool,
        capacity: usize,
        out: &mut [u8],
    ) -> Option<Fragment> {
        let limit = capacity.min(out.len());
        if limit < MIN_CAPACITY {
            return None;
        }
        if let Some(destination) = context.poll_ask() {
            *out.first_mut()? = TELL_WHOLE;
            return Some(Fragment { destination, len: 1 });
        }
        let turn = self.next_turn;
        self.end_pause(now);
        let pause = self.pause.get();
        let mut longest = None;
        for (datagram, place) in self.datagrams.as_ref().iter().zip(0..) {
            if let Role::Transmitting(transmission) = &datagram.role
                && !datagram.waits_for(pause)
                && !is_asleep(datagram.link.destination)
            {
                longest = longest.max(Some((turn.wrapping_sub(transmission.turn), place)));
            }
        }
        let (_, place): (_, usize) = longest?;
        let datagram = self.datagrams.as_mut().get_mut(place)?;
        let Role::Transmitting(transmission) = &mut datagram.role else { return None };
        let (link, len, buffer) = (datagram.link, usize::from(datagram.len), datagram.buffer.as_ref());
        let packet = &buffer[..len];
        let offset = usize::from(transmission.offset);
        let part = emit_part(context, packet, link, offset, transmission.tag, &mut out[..limit])?;
        if offset == 0 {
            context.sent(packet);
        }
        if part.end < packet.len() {
            transmission.offset = part.end as u16;
        } else {
            if transmission.is_own
                && offset > 0
                && let Some(&destination) = Header::address_at(packet, Header::DESTINATION_AT)
                && Eui64::of_address(destination.into()) != link.destination
            {
                self.pause = Slot::Full(Pause { destination, until: now + PAUSE });
            }
            datagram.role = Role::Free;
        }
        Some(Fragment { destination: link.destination, len: part.len })
    }

    /// Whether a packet waits to be sent to a neighbour.
    pub fn waits_for(&self, neighbour: Eui64) -> bool {
        self.datagrams.as_ref().iter().any(|datagram| datagram.is_held(&|to| to == neighbour))
    }

    /// Drops packets for neighbours which are asleep, until they take no more than half of what transmission may take. It is one of those for
    /// the neighbour that has most of them, by chance, as a rule would drop the same datagram of a flight each time that it is sent
    /// again; but not one of which a part has been sent, unless no neighbour has two.
    pub fn limit_held<C, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        is_asleep: impl Fn(Eui64) -> bool,
    ) {
        loop {
            let datagrams = self.datagrams.as_ref();
            let held = || datagrams.iter().filter(|datagram| datagram.is_held(&is_asleep));
            if held().count() <= Self::NEIGHBOUR_LIMIT {
                return;
            }
            let of_neighbour = |it: &Datagram<P::Buffer>| {
                held().filter(|datagram| datagram.link.destination == it.link.destination).count()
            };
            let most = held().map(of_neighbour).max().unwrap_or_default();
            let is_choice = |datagram: &Datagram<P::Buffer>| {
                datagram.is_held(&is_asleep)
                    && of_neighbour(datagram) == most
                    && (most == 1 || datagram.is_whole())
            };
            let choices = datagrams.iter().filter(|datagram| is_choice(datagram)).count().max(1);
            let chosen = cx.entropy.next_u32() as usize % choices;
            let mut places = datagrams.iter().enumerate().filter(|(_, datagram)| is_choice(datagram));
            let Some((place, _)) = places.nth(chosen) else { return };
            drop(places);
            if let Some(datagram) = self.datagrams.as_mut().get_mut(place) {
                datagram.role = Role::Free;
                cx.counters.count(Counter::LowpanHeldFull);
            }
        }
    }

    /// Takes the payload of a received frame and returns the packet that it completes, if it does.
    #[inline(never)]
    pub fn handle<C, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        context: &mut impl Context,
        link: LinkAddresses,
        payload: &[u8],
    ) -> Option<Received> {
        let handled = match FragmentHeader::parse(payload) {
            Ok((None, [TELL_WHOLE])) if context.format().is_some() => {
                context.widen();
                Err(Counter::LowpanWidened)
            }
            Ok((None, payload)) => self.handle_whole(context, link, payload).map(Some),
            Ok((Some(header), payload)) => self.handle_fragment(cx, context, link, header, payload),
            Err(_) => Err(Counter::LowpanMalformed),
        };
        match handled {
            Ok(received) => {
                if let Some(received) = &received {
                    let packet = self.packet(received);
                    context.received(packet);
                    // Who answers has what was sent.
                    let source = Header::address_at(packet, Header::SOURCE_AT);
                    if self.pause.get().is_some_and(|pause| source == Some(&pause.destination)) {
                        self.pause = Slot::Empty;
                    }
                }
                received
            }
            Err(reason) => {
                if reason == Counter::LowpanUnknownSequence {
                    context.ask(link.source);
                }
                cx.counters.count(reason);
                None
            }
        }
    }

    /// When the next reassembly is given up, if nothing completes it before, or the next datagram may be sent.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let pause = self.pause.get();
        self.datagrams.as_ref().iter().fold(None, |earliest, datagram| {
            let due = match &datagram.role {
                Role::Reassembling(reassembly) => Some(reassembly.deadline),
                _ => pause.filter(|_| datagram.waits_for(pause)).map(|pause| pause.until),
            };
            Instant::earliest(earliest, due)
        })
    }

    /// Gives up the reassemblies whose time is over, and ends the pause.
    pub fn handle_timeout<C, E, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.end_pause(cx.now);
        for datagram in self.datagrams.as_mut() {
            if matches!(&datagram.role, Role::Reassembling(it) if cx.now.has_reached(it.deadline)) {
                datagram.role = Role::Free;
                cx.counters.count(Counter::LowpanReassemblyTimeout);
            }
        }
    }

    fn handle_whole(
        &mut self,
        context: &impl Context,
        link: LinkAddresses,
        payload: &[u8],
    ) -> Result<Received, Counter> {
        let malformed = Counter::LowpanMalformed;
        let at = self.position(|role| matches!(role, Role::Free)).ok_or(Counter::LowpanReassemblyFull)?;
        let datagram = &mut self.datagrams.as_mut()[at];
        let headers = decompress_with(context, payload, link, None, datagram.buffer.as_mut());
        let headers = headers.map_err(|error| match error {
            Error::UnknownSequence => Counter::LowpanUnknownSequence,
            _ => malformed,
        })?;
        let verbatim = payload.get(headers.consumed..).ok_or(malformed)?;
        let len = headers.written + verbatim.len();
        let room = datagram.buffer.as_mut().get_mut(headers.written..len).ok_or(malformed)?;
        room.copy_from_slice(verbatim);
        datagram.receive(len, headers.elided_checksum)?;
        Ok(Received(at as u8))
    }

    fn handle_fragment<C, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        context: &impl Context,
        link: LinkAddresses,
        header: FragmentHeader,
        payload: &[u8],
    ) -> Result<Option<Received>, Counter> {
        let size = usize::from(header.datagram_size);
        if size > Self::MTU {
            return Err(Counter::LowpanReassemblyFull);
        }
        let fresh = Reassembly::new(header.tag, cx.now + REASSEMBLY_TIMEOUT);
        // A datagram is known by its addresses, size and tag.
        let known = self.datagrams.as_ref().iter().position(|datagram| {
            datagram.link == link
                && datagram.len == header.datagram_size
                && matches!(&datagram.role, Role::Reassembling(it) if it.tag == header.tag)
        });
        let at = match known {
            Some(at) => at,
            None => self.place_for_reassembly(cx, link).ok_or(Counter::LowpanReassemblyFull)?,
        };
        let datagram = &mut self.datagrams.as_mut()[at];
        let mut reassembly = match (&datagram.role, known) {
            (Role::Reassembling(reassembly), Some(_)) => *reassembly,
            _ => fresh,
        };
        let bytes = datagram.buffer.as_mut().get_mut(..size).ok_or(Counter::LowpanMalformed)?;
        let mut outcome = reassembly.add(context, header, link, payload, bytes);
        if outcome == Outcome::Conflict {
            // What was here is thrown away, and the fragment that does not fit it begins anew.
            cx.counters.count(Counter::LowpanReassemblyConflict);
            datagram.role = Role::Free;
            reassembly = fresh;
            outcome = reassembly.add(context, header, link, payload, bytes);
        }
        match outcome {
            Outcome::Complete => {
                datagram.receive(size, reassembly.elided_checksum)?;
                Ok(Some(Received(at as u8)))
            }
            Outcome::Incomplete => {
                (datagram.link, datagram.len) = (link, header.datagram_size);
                datagram.role = Role::Reassembling(reassembly);
                Ok(None)
            }
            // A reassembly under way is not ended by a fragment that makes no sense.
            Outcome::Conflict | Outcome::Malformed => Err(Counter::LowpanMalformed),
            Outcome::UnknownSequence => Err(Counter::LowpanUnknownSequence),
        }
    }

    /// The datagram that a new reassembly takes.
    fn place_for_reassembly<C, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        link: LinkAddresses,
    ) -> Option<usize> {
        let reassembling = |role: &Role| matches!(role, Role::Reassembling(_));
        let all = self.datagrams.as_ref().iter().filter(|datagram| reassembling(&datagram.role)).count();
        let own = |datagram: &Datagram<P::Buffer>| {
            reassembling(&datagram.role) && datagram.link.source == link.source
        };
        if self.datagrams.as_ref().iter().filter(|datagram| own(datagram)).count() < Self::NEIGHBOUR_LIMIT {
            return self.position(|role| matches!(role, Role::Free)).filter(|_| all < Self::LIMIT);
        }
        let deadlines =
            self.datagrams.as_ref().iter().enumerate().filter_map(|(at, datagram)| match &datagram.role {
                Role::Reassembling(it) if own(datagram) => Some((at, it.deadline)),
                _ => None,
            });
        let (at, _) = deadlines.reduce(|a, b| if b.1.has_reached(a.1) { a } else { b })?;
        cx.counters.count(Counter::LowpanReassemblyFull);
        self.datagrams.as_mut()[at].role = Role::Free;
        Some(at)
    }

    /// How many packets are taken, and what for.
    pub fn occupied(&self) -> Occupied {
        let mut occupied = Occupied::default();
        for datagram in self.datagrams.as_ref() {
            match datagram.role {
                Role::Free => {}
                Role::Reassembling(_) => occupied.reassembling += 1,
                Role::Received | Role::Lent => occupied.received += 1,
                Role::Transmitting(_) => occupied.transmitting += 1,
            }
        }
        occupied
    }

    /// Whether there is room for a packet that [`Lowpan::send`] would take.
    pub fn can_send(&self) -> bool {
        self.may_transmit() && self.position(|role| matches!(role, Role::Free)).is_some()
    }

    fn may_transmit(&self) -> bool {
        let transmitting = |datagram: &&Datagram<P::Buffer>| matches!(datagram.role, Role::Transmitting(_));
        self.datagrams.as_ref().iter().filter(transmitting).count() < Self::LIMIT
    }

    /// Ends the pause when its time is over.
    fn end_pause(&mut self, now: Instant) {
        if self.pause.get().is_some_and(|pause| now.has_reached(pause.until)) {
            self.pause = Slot::Empty;
        }
    }

    fn next_transmission(&mut self, is_own: bool) -> Transmission {
        let transmission = Transmission { is_own, turn: self.next_turn, offset: 0, tag: self.next_tag };
        self.next_turn = self.next_turn.wrapping_add(1);
        self.next_tag = self.next_tag.wrapping_add(1);
        transmission
    }

    fn position(&self, role: impl Fn(&Role) -> bool) -> Option<usize> {
        self.datagrams.as_ref().iter().position(|datagram| role(&datagram.role))
    }

    fn free(&mut self) -> Option<&mut Datagram<P::Buffer>> {
        self.datagrams.as_mut().iter_mut().find(|datagram| matches!(datagram.role, Role::Free))
    }
}

impl<P: Pool> Default for Lowpan<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<B: Array<u8>> Datagram<B> {
    /// Whether it is to be sent to a neighbour that is asleep.
    fn is_held(&self, is_asleep: &impl Fn(Eui64) -> bool) -> bool {
        matches!(&self.role, Role::Transmitting(_)) && is_asleep(self.link.destination)
    }

    /// Whether it is to be sent, and nothing of it has been.
    fn is_whole(&self) -> bool {
        matches!(&self.role, Role::Transmitting(Transmission { offset: 0, .. }))
    }

    /// Whether it waits until the pause is over.
    #[inline(never)]
    fn waits_for(&self, pause: Option<&Pause>) -> bool {
        matches!(&self.role, Role::Transmitting(Transmission { is_own: true, offset: 0, .. }))
            && Header::address_at(self.buffer.as_ref(), Header::DESTINATION_AT)
                == pause.map(|pause| &pause.destination)
    }

    /// Ends the arrival of a packet of `len` bytes: received if it is one, free otherwise.
    fn receive(&mut self, len: usize, elided_checksum: Option<ElidedChecksum>) -> Result<(), Counter> {
        self.role = Role::Free;
        let packet = self.buffer.as_mut().get_mut(..len).ok_or(Counter::LowpanMalformed)?;
        if let Some(place) = elided_checksum {
            restore_checksum(packet, place).ok_or(Counter::LowpanMalformed)?;
        }
        self.len = packet_len(packet, B::LEN).map_err(|_| Counter::LowpanMalformed)?;
        self.role = Role::Received;
        Ok(())
    }
}

/// The length of `packet`, if it is the one that its header says and at most `limit`.
fn packet_len(packet: &[u8], limit: usize) -> Result<u16, SendError> {
    if packet.len() > limit {
        return Err(SendError::TooLong);
    }
    let (_, payload) = Header::parse(packet).map_err(|_| SendError::NotIpv6)?;
    if Header::LEN + payload.len() != packet.len() {
        return Err(SendError::NotIpv6);
    }
    u16::try_from(packet.len()).map_err(|_| SendError::TooLong)
}

/// Computes the UDP checksum that the sender left out
/// ([RFC 6282 section 4.3.2](https://www.rfc-editor.org/rfc/rfc6282#section-4.3.2)).
fn restore_checksum(packet: &mut [u8], place: ElidedChecksum) -> Option<()> {
    let (header, _) = Header::parse(packet.get(usize::from(place.ipv6_at)..)?).ok()?;
    let datagram = packet.get_mut(usize::from(place.udp_at)..)?;
    datagram.get_mut(6..8)?.fill(0);
    let sum = match checksum(header.source, header.destination, next_header::UDP, datagram) {
        0 => 0xffff,
        sum => sum,
    };
    datagram.get_mut(6..8)?.copy_from_slice(&sum.to_be_bytes());
    Some(())
}

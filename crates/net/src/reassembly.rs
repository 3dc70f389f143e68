//! Packets put together from fragments in any order
//! ([RFC 8200 section 4.5](https://www.rfc-editor.org/rfc/rfc8200#section-4.5)).

use core::convert::Infallible;
use core::ops::Range;

use sixlock_base::{Counter, Cx, Duration, Instant, New};
use sixlock_ipv6::extension::{self, Refusal};
use sixlock_ipv6::icmpv6::Problem;
use sixlock_ipv6::{Header, fragment, next_header};

/// How long an incomplete packet is kept.
pub const REASSEMBLY_TIMEOUT: Duration = Duration::from_secs(60);

/// Most fragments of one packet. They are as long as a link carries, but for the last.
const PIECES: usize = 8;

/// Room for what stands before the fragment header, and that header.
const FRONT: usize = 96;

/// Shortest header of an upper layer, ports or message type among it: that of UDP, ICMPv6, ESP.
const UPPER: usize = 8;

/// Whether a host puts fragments together: `()` does not, and links nothing of it.
pub trait Fragments: New {
    /// Whether it does.
    const ASSEMBLES: bool;

    /// A whole packet, which waits in its buffer until it is released.
    type Whole;

    /// Takes in a fragment for this host. Those of packets that IPsec has opened, and whose place in it is therefore known to
    /// be right, are not mixed with others.
    fn handle<C, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &[u8],
        opened: bool,
    ) -> Result<Option<Self::Whole>, Refusal>;

    /// The same for a packet that was whole, and of which is left what it brought: a fragment of another. Its buffer is released.
    fn handle_again<C, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        whole: Self::Whole,
        opened: bool,
    ) -> Option<Self::Whole>;

    /// Whether IPsec has opened its fragments.
    fn is_opened(&self, whole: &Self::Whole) -> bool;

    /// The buffer of a whole packet, and the packet's length: what lies behind is room for it to grow.
    fn buffer_mut(&mut self, whole: &Self::Whole) -> (&mut [u8], usize);

    /// Leaves of a whole packet the first `len` bytes, which are a packet too.
    fn truncate(&mut self, whole: &Self::Whole, len: usize);

    /// Ends a whole packet.
    fn release(&mut self, whole: Self::Whole);

    /// How many buffers are taken: by whole packets, and by those of which fragments are missing.
    fn occupied(&self) -> usize;

    /// When the next incomplete packet is given up.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Gives up incomplete packets whose time is over, up to the next whose first fragment has come: that fragment, whose sender is
    /// to be told. To be called until there is none.
    fn handle_timeout<C, E, N>(&mut self, cx: &mut Cx<'_, C, E, N>) -> Option<Self::Whole>;
}

impl Fragments for () {
    const ASSEMBLES: bool = false;

    type Whole = Infallible;

    fn handle<C, E, N>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: &[u8],
        _: bool,
    ) -> Result<Option<Infallible>, Refusal> {
        Ok(None)
    }

    fn handle_again<C, E, N>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        whole: Infallible,
        _: bool,
    ) -> Option<Infallible> {
        match whole {}
    }

    fn is_opened(&self, whole: &Infallible) -> bool {
        match *whole {}
    }

    fn buffer_mut(&mut self, whole: &Infallible) -> (&mut [u8], usize) {
        match *whole {}
    }

    fn truncate(&mut self, whole: &Infallible, _: usize) {
        match *whole {}
    }

    fn release(&mut self, whole: Infallible) {
        match whole {}
    }

    fn occupied(&self) -> usize {
        0
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    fn handle_timeout<C, E, N>(&mut self, _: &mut Cx<'_, C, E, N>) -> Option<Infallible> {
        None
    }
}

/// Puts at most `PACKETS` packets together at a time, each in a buffer of `SIZE` bytes, of which 96 are for what stands
/// before the fragments. Hosts take packets of 1,500 bytes at least.
///
/// When all buffers are in use, the oldest packet that is not whole makes room: on a link that loses frames, it may never be.
/// Fragments that overlap end their packet ([RFC 5722](https://www.rfc-editor.org/rfc/rfc5722)).
pub struct Reassembler<const SIZE: usize, const PACKETS: usize> {
    places: [Assembly<SIZE>; PACKETS],
}

/// A packet that is whole, in its buffer.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "its buffer stays taken until it is released"]
pub struct Whole {
    place: u8,
    opened: bool,
}

struct Assembly<const SIZE: usize> {
    state: State,
    buffer: [u8; SIZE],
}

#[repr(u8)]
enum State {
    Free,
    Arriving(Arriving),
    /// The packet stands at these bytes.
    Whole {
        start: u16,
        end: u16,
    },
}

/// A packet of which some fragments are here: what they carry stands behind [`FRONT`] bytes.
#[derive(Clone, Copy)]
struct Arriving {
    name: DatagramKey,
    deadline: Instant,
    /// Where in the buffer it begins, once the first fragment is here, and behind that the field that names what follows the fragment
    /// header.
    start: Option<u16>,
    named_at: u16,
    /// How long it is, once the last fragment is here.
    length: Option<u16>,
    /// Where each fragment begins and ends, as many as there are.
    pieces: [(u16, u16); PIECES],
    count: u8,
}

/// What fragments of one packet have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
struct DatagramKey {
    ends: [u8; 32],
    identification: u32,
    opened: bool,
}

/// A fragment.
struct Piece<'a> {
    header: fragment::Header,
    /// What stands before its fragment header, and where the field is that names it.
    before: &'a [u8],
    named_at: usize,
    data: &'a [u8],
    range: (u16, u16),
}

/// What a fragment has done.
enum Outcome {
    /// More are missing.
    Incomplete,
    /// It was the last one missing: the packet stands at these bytes.
    Complete(Range<u16>),
    /// It does not go together with others, or there are too many.
    Conflict,
    /// There is no room for what it says.
    TooLong,
}

impl<'a> Piece<'a> {
    /// Parses a packet that is a fragment.
    fn parse(packet: &'a [u8]) -> Result<Self, Refusal> {
        let upper = extension::process(packet)?;
        if upper.protocol != next_header::FRAGMENT {
            return Err(Refusal::Silent);
        }
        let (_, payload) = Header::parse(packet).map_err(|_| Refusal::Silent)?;
        let packet = packet.get(..Header::LEN + payload.len()).ok_or(Refusal::Silent)?;
        let (before, rest) = packet.split_at_checked(upper.at).ok_or(Refusal::Silent)?;
        let (header, data) = fragment::Header::parse(rest).map_err(|_| Refusal::Silent)?;
        if header.more && data.len() % 8 != 0 {
            let pointer = Header::PAYLOAD_LENGTH_AT as u16;
            return Err(Refusal::Problem { problem: Problem::Field, pointer });
        }
        let end = usize::from(header.offset) + data.len();
        let Some(end) = u16::try_from(upper.at - Header::LEN + end).ok().and(u16::try_from(end).ok()) else {
            return Err(Refusal::Problem { problem: Problem::Field, pointer: upper.at as u16 + 2 });
        };
        if data.is_empty() {
            return Err(Refusal::Silent);
        }
        Ok(Self { header, before, named_at: upper.named_at, data, range: (header.offset, end) })
    }
}

impl Arriving {
    const fn new(name: DatagramKey, deadline: Instant) -> Self {
        Self { name, deadline, start: None, named_at: 0, length: None, pieces: [(0, 0); PIECES], count: 0 }
    }

    fn pieces(&self) -> &[(u16, u16)] {
        self.pieces.get(..usize::from(self.count)).unwrap_or_default()
    }

    fn add(&mut self, piece: &Piece<'_>, buffer: &mut [u8]) -> Outcome {
        let (begin, end) = piece.range;
        let Some(room) = buffer.get_mut(FRONT..).and_then(|data| data.get_mut(begin.into()..end.into()))
        else {
            return Outcome::TooLong;
        };
        if self.pieces().contains(&piece.range) && room == piece.data {
            // The network has made two of it.
            return Outcome::Incomplete;
        }
        let is_last = !piece.header.more;
        let farthest = self.pieces().iter().map(|&(_, end)| end).max().unwrap_or(0);
        let overlaps = self.pieces().iter().any(|&(from, to)| from < end && begin < to);
        let is_beyond =
            self.length.is_some_and(|length| is_last || end > length) || is_last && end < farthest;
        let Some(place) = self.pieces.get_mut(usize::from(self.count)).filter(|_| !overlaps && !is_beyond)
        else {
            return Outcome::Conflict;
        };
        *place = piece.range;
        self.count += 1;
        room.copy_from_slice(piece.data);
        if is_last {
            self.length = Some(end);
        }
        if begin == 0 {
            let Some(start) = FRONT.checked_sub(piece.before.len()) else { return Outcome::TooLong };
            let Some(packet) = buffer.get_mut(start..FRONT + usize::from(end)) else {
                return Outcome::TooLong;
            };
            let (before, _) = packet.split_at_mut(piece.before.len());
            before.copy_from_slice(piece.before);
            let Some(field) = before.get_mut(piece.named_at) else { return Outcome::Conflict };
            *field = piece.header.next_header;
            if !has_headers(packet) {
                return Outcome::Conflict;
            }
            (self.start, self.named_at) = (Some(start as u16), piece.named_at as u16);
        }
        let here: u16 = self.pieces().iter().map(|&(begin, end)| end - begin).sum();
        match (self.start, self.length) {
            (Some(start), Some(length)) if here == length => {
                let end = FRONT as u16 + length;
                let payload = end - start - Header::LEN as u16;
                let field = usize::from(start) + Header::PAYLOAD_LENGTH_AT;
                match buffer.get_mut(field..).and_then(|rest| rest.first_chunk_mut()) {
                    Some(field) => *field = payload.to_be_bytes(),
                    None => return Outcome::TooLong,
                }
                Outcome::Complete(start..end)
            }
            _ => Outcome::Incomplete,
        }
    }
}

impl Arriving {
    /// Writes the first fragment as it came; where it stands, if it is here.
    fn restore_first(&self, buffer: &mut [u8]) -> Option<Range<u16>> {
        let &(_, end) = self.pieces().iter().find(|&&(begin, _)| begin == 0)?;
        let before = usize::from(self.start?);
        let start = before.checked_sub(fragment::Header::LEN)?;
        buffer.copy_within(before..FRONT, start);
        let named = buffer.get_mut(start + usize::from(self.named_at))?;
        let next_header = core::mem::replace(named, next_header::FRAGMENT);
        let identification = self.name.identification;
        let header = fragment::Header { next_header, offset: 0, more: true, identification };
        header.emit(buffer.get_mut(FRONT - fragment::Header::LEN..FRONT)?).ok()?;
        Some(start as u16..FRONT as u16 + end)
    }
}

/// Whether what is there of a packet has all headers up to the upper layer's
/// ([RFC 7112 section 5](https://www.rfc-editor.org/rfc/rfc7112#section-5)).
fn has_headers(packet: &[u8]) -> bool {
    extension::skip(packet)
        .is_some_and(|upper| upper.protocol != next_header::FRAGMENT && upper.at + UPPER <= packet.len())
}

impl<const SIZE: usize, const PACKETS: usize> Reassembler<SIZE, PACKETS> {
    const SIZES: () = {
        assert!(
            SIZE >= FRONT + 1500 && SIZE <= 0x7fff,
            "a buffer holds a packet of 1,500 bytes, and what it knows fits"
        );
        assert!(PACKETS >= 1 && PACKETS <= 255, "there are 1 to 255 buffers");
    };

    /// Without packets. It is all zero bytes.
    pub const fn new() -> Self {
        let () = Self::SIZES;
        Self { places: [const { Assembly { state: State::Free, buffer: [0; SIZE] } }; PACKETS] }
    }

    /// The place of a packet's fragments; a new one if it has none.
    fn place<C, E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, name: &DatagramKey) -> Option<usize> {
        let mut states = self.places.iter().map(|place| &place.state);
        let known = |state: &State| matches!(state, State::Arriving(arriving) if arriving.name == *name);
        if let Some(at) = states.clone().position(known) {
            return Some(at);
        }
        let free = states.position(|state| matches!(state, State::Free)).or_else(|| {
            cx.counters.count(Counter::Ipv6ReassemblyFull);
            let deadlines = self.places.iter().enumerate().filter_map(|(at, place)| match &place.state {
                State::Arriving(arriving) => Some((at, arriving.deadline)),
                _ => None,
            });
            deadlines.reduce(|a, b| if b.1.has_reached(a.1) { a } else { b }).map(|(at, _)| at)
        })?;
        let deadline = cx.now + REASSEMBLY_TIMEOUT;
        self.places.get_mut(free)?.state = State::Arriving(Arriving::new(*name, deadline));
        Some(free)
    }
}

impl<const SIZE: usize, const PACKETS: usize> Default for Reassembler<SIZE, PACKETS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const SIZE: usize, const PACKETS: usize> New for Reassembler<SIZE, PACKETS> {
    const NEW: Self = Self::new();
}

impl<const SIZE: usize, const PACKETS: usize> Fragments for Reassembler<SIZE, PACKETS> {
    const ASSEMBLES: bool = true;

    type Whole = Whole;

    fn handle<C, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &[u8],
        opened: bool,
    ) -> Result<Option<Whole>, Refusal> {
        let piece = Piece::parse(packet)?;
        let ends = packet.get(8..).and_then(|rest| rest.first_chunk()).ok_or(Refusal::Silent)?;
        let name = DatagramKey { ends: *ends, identification: piece.header.identification, opened };
        let Some(at) = self.place(cx, &name) else { return Ok(None) };
        let Some(Assembly { state, buffer }) = self.places.get_mut(at) else { return Ok(None) };
        let State::Arriving(arriving) = state else { return Ok(None) };
        match arriving.add(&piece, buffer) {
            Outcome::Incomplete => Ok(None),
            Outcome::Complete(Range { start, end }) => {
                *state = State::Whole { start, end };
                Ok(Some(Whole { place: at as u8, opened }))
            }
            Outcome::Conflict => {
                *state = State::Free;
                cx.counters.count(Counter::Ipv6ReassemblyConflict);
                Ok(None)
            }
            Outcome::TooLong => {
                *state = State::Free;
                cx.counters.count(Counter::Ipv6ReassemblyFull);
                Ok(None)
            }
        }
    }

    fn handle_again<C, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        whole: Whole,
        opened: bool,
    ) -> Option<Whole> {
        let place = self.places.get_mut(usize::from(whole.place))?;
        let State::Whole { start, end } = core::mem::replace(&mut place.state, State::Free) else {
            return None;
        };
        // A copy: the one that it joins may stand in any buffer, also in this one.
        let buffer = place.buffer;
        let packet = buffer.get(usize::from(start)..usize::from(end))?;
        self.handle(cx, packet, opened).unwrap_or_else(|_| {
            cx.counters.count(Counter::Ipv6Malformed);
            None
        })
    }

    fn is_opened(&self, whole: &Whole) -> bool {
        whole.opened
    }

    fn buffer_mut(&mut self, whole: &Whole) -> (&mut [u8], usize) {
        match self.places.get_mut(usize::from(whole.place)) {
            Some(Assembly { state: State::Whole { start, end }, buffer }) => {
                (buffer.get_mut(usize::from(*start)..).unwrap_or_default(), usize::from(*end - *start))
            }
            _ => (&mut [], 0),
        }
    }

    fn truncate(&mut self, whole: &Whole, len: usize) {
        if let Some(Assembly { state: State::Whole { start, end }, .. }) =
            self.places.get_mut(usize::from(whole.place))
        {
            *end = u16::try_from(len).map_or(*end, |len| start.saturating_add(len).min(*end));
        }
    }

    fn release(&mut self, whole: Whole) {
        if let Some(place) = self.places.get_mut(usize::from(whole.place)) {
            place.state = State::Free;
        }
    }

    fn occupied(&self) -> usize {
        self.places.iter().filter(|place| !matches!(place.state, State::Free)).count()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.places.iter().fold(None, |earliest, place| match &place.state {
            State::Arriving(arriving) => Instant::earliest(earliest, Some(arriving.deadline)),
            _ => earliest,
        })
    }

    fn handle_timeout<C, E, N>(&mut self, cx: &mut Cx<'_, C, E, N>) -> Option<Whole> {
        for (at, Assembly { state, buffer }) in self.places.iter_mut().enumerate() {
            let State::Arriving(arriving) = state else { continue };
            if !cx.now.has_reached(arriving.deadline) {
                continue;
            }
            cx.counters.count(Counter::Ipv6ReassemblyTimeout);
            let (first, opened) = (arriving.restore_first(buffer), arriving.name.opened);
            *state = State::Free;
            if let Some(Range { start, end }) = first {
                *state = State::Whole { start, end };
                return Some(Whole { place: at as u8, opened });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;

//! Session tickets ([RFC 5077](https://www.rfc-editor.org/rfc/rfc5077)): what is left of a session, kept by its client, in a form
//! that only its server understands.

use sixlock_dtls_msg::{ExtensionType, Extensions, HandshakeHeader, NewSessionTicket};

use crate::OptionalPart;

/// The longest ticket, in bytes, that a host keeps as a client, and gives or looks at as a server.
pub const MAX_TICKET: usize = 1024;

/// The longest message that gives a ticket, in bytes.
pub(crate) const LONGEST_MESSAGE: u32 = NewSessionTicket::HEADER as u32 + u16::MAX as u32;

/// A ticket that is longer than its client has room for, of which this much was hashed: in order, as it came.
#[derive(Clone, Copy)]
struct PassedOver {
    message_seq: u16,
    length: u32,
    hashed: u32,
}

/// What a handshake keeps of tickets.
pub struct TicketParameters<B: ?Sized = [u8]> {
    /// The client takes tickets.
    pub(crate) wanted: bool,
    /// The client presents one. If that is too long for its server, it is not here.
    pub(crate) presented: bool,
    /// A server promises one.
    pub(crate) promises: bool,
    /// A client was promised one.
    pub(crate) promised: bool,
    /// The one here is the server's new one.
    pub(crate) made: bool,
    /// What a client has heard of the server's new one, if it has no room for that.
    passed_over: Option<PassedOver>,
    /// The transcript's mark stands before such a one, and no longer where the hello was sent.
    pub(crate) marked: bool,
    lifetime: u32,
    length: u16,
    /// At a client the ticket that it presents; at a server that, and in its place its own new one.
    bytes: B,
}

impl<const N: usize> OptionalPart<TicketParameters> for TicketParameters<[u8; N]> {
    const EMPTY: Self = Self {
        wanted: false,
        presented: false,
        promises: false,
        promised: false,
        made: false,
        passed_over: None,
        marked: false,
        lifetime: 0,
        length: 0,
        bytes: [0; N],
    };

    fn get(&self) -> Option<&TicketParameters> {
        Some(self)
    }

    fn get_mut(&mut self) -> Option<&mut TicketParameters> {
        Some(self)
    }
}

impl TicketParameters {
    /// Makes all of it what it was at first.
    pub(crate) fn clear(&mut self) {
        let Self {
            wanted,
            presented,
            promises,
            promised,
            made,
            passed_over,
            marked,
            lifetime,
            length,
            bytes: _,
        } = self;
        (*wanted, *presented, *promises, *promised) = (false, false, false, false);
        (*made, *passed_over, *marked, *lifetime, *length) = (false, None, false, 0, 0);
    }

    /// A client presents `ticket`, or none if that is empty, and takes another. Whether there is room for it.
    pub(crate) fn present(&mut self, ticket: &[u8]) -> bool {
        self.wanted = true;
        self.presented = !ticket.is_empty();
        self.put(ticket)
    }

    /// Takes note of what a client's hello says. Twice is as good as never.
    pub(crate) fn asked(&mut self, client: Extensions<'_>) {
        let kind = ExtensionType::SESSION_TICKET;
        if let Some(ticket) = client.find(kind).filter(|_| client.comes_once_at_most(kind)) {
            self.present(ticket);
        }
    }

    /// A server gives this one; one that is longer than there is room for becomes an empty one, which is none.
    pub(crate) fn give(&mut self, lifetime: u32, ticket: &[u8]) {
        (self.promises, self.made, self.lifetime) = (true, true, lifetime);
        self.put(ticket);
    }

    fn put(&mut self, ticket: &[u8]) -> bool {
        let room = self.bytes.get_mut(..ticket.len());
        let fits = room.map(|room| room.copy_from_slice(ticket)).is_some();
        self.length = if fits { ticket.len() as u16 } else { 0 };
        fits
    }

    /// Takes a fragment of the server's new one, for which there is no room: what is to be hashed of it next, and whether it is the
    /// first of its message. None if something before it is missing. One whose message looks different from what came before
    /// begins anew, so that a forged one costs a retransmission at most.
    pub(crate) fn pass_over<'f>(
        &mut self,
        header: &HandshakeHeader,
        fragment: &'f [u8],
    ) -> Option<(&'f [u8], bool)> {
        let HandshakeHeader { message_seq, length, fragment_offset, .. } = *header;
        let same = |there: &PassedOver| (there.message_seq, there.length) == (message_seq, length);
        let before = self.passed_over.filter(same);
        let passed = before.unwrap_or(PassedOver { message_seq, length, hashed: 0 });
        let known = passed.hashed.checked_sub(fragment_offset)?;
        let fresh = fragment.get(usize::try_from(known).ok()?..).unwrap_or_default();
        self.passed_over = Some(PassedOver { hashed: passed.hashed + fresh.len() as u32, ..passed });
        Some((fresh, before.is_none()))
    }

    /// Whether the whole of it came by.
    pub(crate) fn has_passed_over(&self) -> bool {
        self.passed_over.is_some_and(|passed| passed.hashed == passed.length)
    }

    /// Nothing came of it.
    pub(crate) fn pass_over_again(&mut self) {
        self.passed_over = None;
    }

    /// The ticket that is here.
    pub(crate) fn ticket(&self) -> &[u8] {
        self.bytes.get(..self.length.into()).unwrap_or_default()
    }

    /// The message that gives it.
    pub(crate) fn message(&self) -> NewSessionTicket<'_> {
        NewSessionTicket { lifetime_hint: self.lifetime, ticket: self.ticket() }
    }
}

//! Session tickets ([RFC 5077](https://www.rfc-editor.org/rfc/rfc5077)): what is left of a session, kept by its client, in a form
//! that only its server understands.

use core::marker::PhantomData;

use sixlock_dtls_msg::{ExtensionType, Extensions, NewSessionTicket};

use crate::room::{MessageRoom, message_room};
use crate::{Place, PublicKeys, Suite};

/// The longest ticket, in bytes, that a host keeps as a client, and gives or looks at as a server.
pub const MAX_TICKET: usize = 1024;

/// As `K`, with room for tickets of at most `TICKET` bytes; `MESSAGE` is what [`message_room`] says for such a message.
#[derive(Clone, Copy, Debug)]
pub struct WithTickets<
    K,
    const TICKET: usize = MAX_TICKET,
    const MESSAGE: usize = { message_room(NewSessionTicket::HEADER + MAX_TICKET) },
>(PhantomData<K>);

impl<K: PublicKeys, const TICKET: usize, const MESSAGE: usize> PublicKeys
    for WithTickets<K, TICKET, MESSAGE>
{
    type Facts = K::Facts;
    type Room = K::Room;
    const X_509: bool = K::X_509;
    const SUITE: Suite = K::SUITE;
    type Tickets = TicketFacts<[u8; TICKET]>;
    type NewTicket = MessageRoom<[u8; MESSAGE]>;
    const TICKETS: bool = true;
    type Name = K::Name;
}

/// What a handshake keeps of tickets.
pub struct TicketFacts<B: ?Sized = [u8]> {
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
    /// The server's new one was taken by the client that has no room for it.
    pub(crate) passed_over: bool,
    lifetime: u32,
    length: u16,
    /// At a client the ticket that it presents; at a server that, and in its place its own new one.
    bytes: B,
}

impl<const N: usize> Place<TicketFacts> for TicketFacts<[u8; N]> {
    const EMPTY: Self = Self {
        wanted: false,
        presented: false,
        promises: false,
        promised: false,
        made: false,
        passed_over: false,
        lifetime: 0,
        length: 0,
        bytes: [0; N],
    };

    fn get(&self) -> Option<&TicketFacts> {
        Some(self)
    }

    fn get_mut(&mut self) -> Option<&mut TicketFacts> {
        Some(self)
    }
}

impl TicketFacts {
    /// Makes all of it what it was at first.
    pub(crate) fn clear(&mut self) {
        let Self { wanted, presented, promises, promised, made, passed_over, lifetime, length, bytes: _ } =
            self;
        (*wanted, *presented, *promises, *promised) = (false, false, false, false);
        (*made, *passed_over, *lifetime, *length) = (false, false, 0, 0);
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

    /// The ticket that is here.
    pub(crate) fn ticket(&self) -> &[u8] {
        self.bytes.get(..self.length.into()).unwrap_or_default()
    }

    /// The message that gives it.
    pub(crate) fn message(&self) -> NewSessionTicket<'_> {
        NewSessionTicket { lifetime_hint: self.lifetime, ticket: self.ticket() }
    }
}

use crate::message_buffer::MessageBuffer;
use crate::server_name::ServerName;
use crate::ticket::TicketParameters;
use crate::{KeyParameters, OptionalPart, Suite};

/// What a handshake's memory has room for beside what every handshake needs: `()` for no more than pre-shared keys take,
/// [`RawPublicKeys`](crate::RawPublicKeys) or [`Certificates`](crate::Certificates); and any of these
/// [`WithTickets`](crate::WithTickets), or [`Named`](crate::Named).
pub trait Extras {
    /// What is kept of public keys.
    type KeyParameters: OptionalPart<KeyParameters>;
    /// Where the peer's certificates are.
    type CertificateBuffer: OptionalPart<MessageBuffer>;
    /// Whether certificates of X.509 may be shown and taken.
    const X_509: bool;
    /// The suite that every device with such keys has.
    const SUITE: Suite;
    /// What is kept of session tickets: `()` without them.
    type Tickets: OptionalPart<TicketParameters>;
    /// Where a client has the ticket that its server gives it.
    type NewTicket: OptionalPart<MessageBuffer>;
    /// Whether there are tickets.
    const TICKETS: bool;
    /// Where a client has its server's name: `()` without.
    type Name: OptionalPart<ServerName>;
}

/// Pre-shared keys alone.
impl Extras for () {
    type KeyParameters = ();
    type CertificateBuffer = ();
    const X_509: bool = false;
    const SUITE: Suite = Suite::PskAes128Ccm8;
    type Tickets = ();
    type NewTicket = ();
    const TICKETS: bool = false;
    type Name = ();
}

use core::marker::PhantomData;

use crate::message_buffer::MessageBuffer;
use crate::server_name::ServerName;
use crate::ticket::TicketParameters;
use crate::{KeyParameters, OptionalPart, Suite};

/// What a handshake has memory for beyond what pre-shared keys take; what it has no memory for is not linked. `Keys` is
/// [`RawPublicKeys`](crate::RawPublicKeys) or [`Certificates`](crate::Certificates), `Tickets` is
/// [`SessionTickets`](crate::SessionTickets) and `Name` is [`ServerName`](crate::ServerName); `()` is to do without.
#[derive(Clone, Copy, Debug)]
pub struct Features<Keys = (), Tickets = (), Name = ()>(PhantomData<(Keys, Tickets, Name)>);

/// A list of features: [`Features`].
pub trait FeatureSet {
    /// What a handshake keeps of public keys.
    type KeyParameters: OptionalPart<KeyParameters>;
    /// Holds the peer's certificates.
    type CertificateBuffer: OptionalPart<MessageBuffer>;
    /// Whether X.509 certificates may be shown and accepted.
    const X_509: bool;
    /// The suite that every device with such keys has.
    const SUITE: Suite;
    /// What a handshake keeps of session tickets.
    type TicketParameters: OptionalPart<TicketParameters>;
    /// Holds the ticket that a server gives its client.
    type TicketBuffer: OptionalPart<MessageBuffer>;
    /// Whether there are tickets.
    const TICKETS: bool;
    /// Holds the name by which a client asks for its server.
    type ServerName: OptionalPart<ServerName>;
}

impl<K: KeyFeature, T: TicketFeature, N: OptionalPart<ServerName>> FeatureSet for Features<K, T, N> {
    type KeyParameters = K::Parameters;
    type CertificateBuffer = K::Buffer;
    const X_509: bool = K::X_509;
    const SUITE: Suite = K::SUITE;
    type TicketParameters = T::Parameters;
    type TicketBuffer = T::Buffer;
    const TICKETS: bool = T::PRESENT;
    type ServerName = N;
}

/// Which keys prove who a side is; `()` for pre-shared ones.
pub trait KeyFeature {
    /// What a handshake keeps of public keys.
    type Parameters: OptionalPart<KeyParameters>;
    /// Holds the peer's certificates.
    type Buffer: OptionalPart<MessageBuffer>;
    /// Whether X.509 certificates may be shown and accepted.
    const X_509: bool;
    /// The suite that every device with such keys has.
    const SUITE: Suite;
}

impl KeyFeature for () {
    type Parameters = ();
    type Buffer = ();
    const X_509: bool = false;
    const SUITE: Suite = Suite::PskAes128Ccm8;
}

/// Whether there are session tickets; `()` for none.
pub trait TicketFeature {
    /// What a handshake keeps of them.
    type Parameters: OptionalPart<TicketParameters>;
    /// Holds the ticket that a server gives its client.
    type Buffer: OptionalPart<MessageBuffer>;
    /// Whether there are any.
    const PRESENT: bool;
}

impl TicketFeature for () {
    type Parameters = ();
    type Buffer = ();
    const PRESENT: bool = false;
}

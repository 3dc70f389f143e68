//! What a handshake of DTLS 1.2 may have beside pre-shared keys.

use core::marker::PhantomData;

use sixlock_dtls_msg::NewSessionTicket;
use sixlock_x509::PUBLIC_KEY_INFO;

use super::public_keys::{KeyParameters, MAX_CERTIFICATES};
use super::tickets::{MAX_TICKET, TicketParameters};
use crate::{MessageBuffer, OptionalPart, ServerName, Suite, message_buffer};

/// What a handshake has memory for beyond what pre-shared keys take; what it has no memory for is not linked. `Keys` is
/// [`RawPublicKeys`] or [`Certificates`], `Tickets` is
/// [`SessionTickets`] and `Indication` is [`ServerName`]; `()` is to do without.
#[derive(Clone, Copy, Debug)]
pub struct Features<Keys = (), Tickets = (), Indication = ()>(PhantomData<(Keys, Tickets, Indication)>);

/// A list of features: [`Features`].
pub trait FeatureSet {
    /// What a handshake keeps of public keys.
    type KeyParameters: OptionalPart<KeyParameters>;
    /// Holds the peer's certificates.
    type CertificateBuffer: OptionalPart<MessageBuffer>;
    /// Whether there are public keys.
    const PUBLIC_KEYS: bool;
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
    const PUBLIC_KEYS: bool = K::PRESENT;
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
    /// Whether there are any.
    const PRESENT: bool;
    /// Whether X.509 certificates may be shown and accepted.
    const X_509: bool;
    /// The suite that every device with such keys has.
    const SUITE: Suite;
}

impl KeyFeature for () {
    type Parameters = ();
    type Buffer = ();
    const PRESENT: bool = false;
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

/// With raw public keys.
#[derive(Clone, Copy, Debug)]
pub struct RawPublicKeys;

impl KeyFeature for RawPublicKeys {
    type Parameters = KeyParameters;
    // A key stands behind its length.
    type Buffer = MessageBuffer<[u8; message_buffer(3 + PUBLIC_KEY_INFO)]>;
    const PRESENT: bool = true;
    const X_509: bool = false;
    const SUITE: Suite = Suite::EcdheEcdsaAes128Ccm8;
}

/// With public keys, raw or in certificates, with `N` bytes ([`message_buffer`]) for those of the peer.
#[derive(Clone, Copy, Debug)]
pub struct Certificates<const N: usize = { message_buffer(MAX_CERTIFICATES) }>;

impl<const N: usize> KeyFeature for Certificates<N> {
    type Parameters = KeyParameters;
    type Buffer = MessageBuffer<[u8; N]>;
    const PRESENT: bool = true;
    const X_509: bool = true;
    const SUITE: Suite = Suite::EcdheEcdsaAes128Ccm8;
}

/// Session tickets of at most `TICKET` bytes; `MESSAGE` is what [`message_buffer`] says for the message that gives one.
#[derive(Clone, Copy, Debug)]
pub struct SessionTickets<
    const TICKET: usize = MAX_TICKET,
    const MESSAGE: usize = { message_buffer(NewSessionTicket::HEADER + MAX_TICKET) },
>;

impl<const TICKET: usize, const MESSAGE: usize> TicketFeature for SessionTickets<TICKET, MESSAGE> {
    type Parameters = TicketParameters<[u8; TICKET]>;
    type Buffer = MessageBuffer<[u8; MESSAGE]>;
    const PRESENT: bool = true;
}

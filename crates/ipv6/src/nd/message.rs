use core::net::Ipv6Addr;

use crate::control_message::Writer;
use crate::flag::flag;
use crate::nd::address_registration::{EncodedRegistration, Rovr, Status};
use crate::nd::border_router::BorderRouter;
use crate::nd::capabilities::EncodedCapabilities;
use crate::nd::context::Context;
use crate::nd::option::{self, NdOption, Options};
use crate::prefix_information::PrefixInformation;
use crate::{Error, Header, checksum, next_header};

/// The multicast address of all nodes on the link.
pub const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// The multicast address of all routers on the link.
pub const ALL_ROUTERS: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 2);

/// The hop limit of all messages but [`Message::DuplicateAddressRequest`] and its confirmation: no router has sent them on.
pub const HOP_LIMIT: u8 = 255;

/// The multicast address of those that may have `address`
/// ([RFC 4291 section 2.7.1](https://www.rfc-editor.org/rfc/rfc4291#section-2.7.1)).
pub const fn solicited_node(address: Ipv6Addr) -> Ipv6Addr {
    let [.., a, b, c] = address.octets();
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | a as u16, u16::from_be_bytes([b, c]))
}

/// A message; options follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// Asks routers to advertise themselves.
    RouterSolicitation,
    /// What a router says of itself and the link.
    RouterAdvertisement(RouterAdvertisement),
    /// Asks the node with an address whether it is there, or registers an address.
    NeighbourSolicitation {
        /// The address.
        target: Ipv6Addr,
    },
    /// The answer.
    NeighbourAdvertisement(NeighbourAdvertisement),
    /// Asks the border router whether an address is free, and registers it there.
    DuplicateAddressRequest(DuplicateAddress),
    /// The answer.
    DuplicateAddressConfirmation(DuplicateAddress),
}

/// What a router says of itself and the link ([RFC 4861 section 4.2](https://www.rfc-editor.org/rfc/rfc4861#section-4.2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterAdvertisement {
    /// The hop limit that packets are to begin with; 0 if the router does not say.
    pub hop_limit: u8,
    /// Whether addresses are given by DHCPv6 (M).
    pub managed: bool,
    /// Whether other configuration is given by DHCPv6 (O).
    pub other_configuration: bool,
    /// For how many seconds it is a default router; 0 if it is none.
    pub lifetime: u16,
    /// For how many milliseconds a neighbour counts as reachable; 0 if the router does not say.
    pub reachable_time: u32,
    /// After how many milliseconds a solicitation is sent again; 0 if the router does not say.
    pub retransmission_time: u32,
}

/// The answer to a neighbour solicitation ([RFC 4861 section 4.4](https://www.rfc-editor.org/rfc/rfc4861#section-4.4)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighbourAdvertisement {
    /// Whether the sender is a router.
    pub router: bool,
    /// Whether it answers a solicitation.
    pub solicited: bool,
    /// Whether the link-layer address in it replaces one that is known.
    pub overrides: bool,
    /// The address that it is about.
    pub target: Ipv6Addr,
}

/// A duplicate address request or confirmation, also in its extended form
/// ([RFC 6775 section 4.4](https://www.rfc-editor.org/rfc/rfc6775#section-4.4),
/// [RFC 8505 section 4.2](https://www.rfc-editor.org/rfc/rfc8505#section-4.2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuplicateAddress {
    /// What the border router says; [`Status::SUCCESS`] in a request.
    pub status: Status,
    /// The transaction id of the registration; `None` in the form of RFC 6775.
    pub transaction: Option<u8>,
    /// For how many minutes the address is registered; 0 ends the registration.
    pub lifetime: u16,
    /// Whose the address is.
    pub rovr: Rovr,
    /// The address.
    pub address: Ipv6Addr,
}

/// The type of a router solicitation.
pub const ROUTER_SOLICITATION: u8 = 133;
/// The type of a router advertisement.
pub const ROUTER_ADVERTISEMENT: u8 = 134;
/// The type of a neighbour solicitation.
pub const NEIGHBOUR_SOLICITATION: u8 = 135;
/// The type of a neighbour advertisement.
pub const NEIGHBOUR_ADVERTISEMENT: u8 = 136;
/// The type of a duplicate address request.
pub const DUPLICATE_ADDRESS_REQUEST: u8 = 157;
/// The type of a duplicate address confirmation.
pub const DUPLICATE_ADDRESS_CONFIRMATION: u8 = 158;

/// The code of the extended form with a registration ownership verifier of 64 bits.
const EXTENDED_64: u8 = 1;

/// Flags of a router advertisement.
const MANAGED: u8 = 0x80;
const OTHER_CONFIGURATION: u8 = 0x40;
/// Flags of a neighbour advertisement.
const ROUTER: u8 = 0x80;
const SOLICITED: u8 = 0x40;
const OVERRIDES: u8 = 0x20;

/// Whether `kind` is the ICMPv6 type of one of these messages.
pub const fn is_type(kind: u8) -> bool {
    matches!(
        kind,
        ROUTER_SOLICITATION
            ..=NEIGHBOUR_ADVERTISEMENT | DUPLICATE_ADDRESS_REQUEST | DUPLICATE_ADDRESS_CONFIRMATION
    )
}

/// A message that its receiver has not to discard, read where it stands.
#[derive(Clone, Copy, Debug)]
pub struct EncodedMessage<'a> {
    bytes: &'a [u8],
    /// Up to the four bytes behind the checksum.
    head: &'a [u8; 8],
    /// The 16 bytes before the options: the address that it is about, if it is about one.
    octets: &'a [u8; 16],
    options: Options<'a>,
}

impl<'a> EncodedMessage<'a> {
    /// Reads the ICMPv6 message `message`. It is refused if its receiver has to discard it
    /// ([RFC 4861 sections 6.1](https://www.rfc-editor.org/rfc/rfc4861#section-6.1) and
    /// [7.1](https://www.rfc-editor.org/rfc/rfc4861#section-7.1)); only the hop limit is not seen here.
    pub fn parse(source: Ipv6Addr, destination: Ipv6Addr, message: &'a [u8]) -> Result<Self, Error> {
        let &[kind, code, _, _, ..] = message else { return Err(Error::Truncated) };
        let (options_at, last_code) = match kind {
            ROUTER_SOLICITATION => (8, 0),
            ROUTER_ADVERTISEMENT => (16, 0),
            NEIGHBOUR_SOLICITATION | NEIGHBOUR_ADVERTISEMENT => (8 + 16, 0),
            DUPLICATE_ADDRESS_REQUEST | DUPLICATE_ADDRESS_CONFIRMATION => (16 + 16, EXTENDED_64),
            _ => return Err(Error::Unknown),
        };
        if checksum(source, destination, next_header::ICMPV6, message) != 0 {
            return Err(Error::Checksum);
        }
        if code > last_code {
            return Err(Error::Unknown);
        }
        let (fixed, options) = message.split_at_checked(options_at).ok_or(Error::Truncated)?;
        let head = fixed.first_chunk().ok_or(Error::Truncated)?;
        let octets = fixed.last_chunk().unwrap_or(&[0; 16]);
        let options = Options::parse(options)?;
        let parsed = Self { bytes: message, head, octets, options };
        let is_from_nowhere = source == Ipv6Addr::UNSPECIFIED;
        // Who has no address yet cannot be answered at a link-layer address.
        let tells_from_nowhere = is_from_nowhere && options.tells_source();
        let is_good = match kind {
            ROUTER_SOLICITATION => !tells_from_nowhere,
            ROUTER_ADVERTISEMENT => matches!(source.octets(), [0xfe, 0x80..=0xbf, ..]),
            NEIGHBOUR_SOLICITATION => {
                let goes_to_group = || destination == solicited_node(parsed.target());
                !is_from_nowhere || !tells_from_nowhere && goes_to_group()
            }
            NEIGHBOUR_ADVERTISEMENT => !(destination.is_multicast() && head[4] & SOLICITED != 0),
            // Both are sent from one unicast address to another (RFC 6775 sections 4.4 and 8.2).
            _ => !is_from_nowhere && !destination.is_multicast(),
        };
        let is_about_group = options_at > 16 && octets[0] == 0xff;
        if is_good && !is_about_group && !source.is_multicast() { Ok(parsed) } else { Err(Error::Address) }
    }

    /// The type.
    pub fn kind(&self) -> u8 {
        self.head[0]
    }

    /// The options.
    pub fn options(&self) -> Options<'a> {
        self.options
    }

    /// The address that a solicitation of a neighbour, its answer, or a message of a duplicate address is about.
    pub fn target(&self) -> Ipv6Addr {
        (*self.octets).into()
    }

    /// What a router advertisement says.
    #[inline]
    pub fn router_advertisement(&self) -> RouterAdvertisement {
        let &[_, _, _, _, hop_limit, flags, l0, l1] = self.head;
        let &[.., r0, r1, r2, r3, t0, t1, t2, t3] = self.octets;
        RouterAdvertisement {
            hop_limit,
            managed: flags & MANAGED != 0,
            other_configuration: flags & OTHER_CONFIGURATION != 0,
            lifetime: u16::from_be_bytes([l0, l1]),
            reachable_time: u32::from_be_bytes([r0, r1, r2, r3]),
            retransmission_time: u32::from_be_bytes([t0, t1, t2, t3]),
        }
    }

    fn neighbour_advertisement(&self) -> NeighbourAdvertisement {
        let flags = self.head[4];
        NeighbourAdvertisement {
            router: flags & ROUTER != 0,
            solicited: flags & SOLICITED != 0,
            overrides: flags & OVERRIDES != 0,
            target: self.target(),
        }
    }

    /// What a message of a duplicate address says of it, as its registration.
    #[inline(never)]
    pub fn registration(&self) -> EncodedRegistration {
        let &[_, code, _, _, status, transaction, ..] = self.head;
        let transaction = (code == EXTENDED_64).then_some(transaction);
        let lifetime_and_rovr = self.bytes.get(6..).and_then(<[u8]>::first_chunk).unwrap_or(&[0; 10]);
        EncodedRegistration::of_parts(Status(status), transaction, lifetime_and_rovr)
    }

    fn duplicate_address(&self) -> DuplicateAddress {
        let registration = self.registration();
        DuplicateAddress {
            status: registration.status(),
            transaction: registration.transaction(),
            lifetime: registration.lifetime(),
            rovr: Rovr(*registration.rovr()),
            address: self.target(),
        }
    }

    fn message(&self) -> Message {
        match self.kind() {
            ROUTER_SOLICITATION => Message::RouterSolicitation,
            ROUTER_ADVERTISEMENT => Message::RouterAdvertisement(self.router_advertisement()),
            NEIGHBOUR_SOLICITATION => Message::NeighbourSolicitation { target: self.target() },
            NEIGHBOUR_ADVERTISEMENT => Message::NeighbourAdvertisement(self.neighbour_advertisement()),
            DUPLICATE_ADDRESS_REQUEST => Message::DuplicateAddressRequest(self.duplicate_address()),
            _ => Message::DuplicateAddressConfirmation(self.duplicate_address()),
        }
    }
}

impl Message {
    /// Splits the ICMPv6 message `message` into its fixed part and the options, as [`EncodedMessage::parse`] reads it.
    pub fn parse(
        source: Ipv6Addr,
        destination: Ipv6Addr,
        message: &[u8],
    ) -> Result<(Self, Options<'_>), Error> {
        let encoded = EncodedMessage::parse(source, destination, message)?;
        Ok((encoded.message(), encoded.options()))
    }
}

/// Writes a message into a buffer: its fixed part, then options. What finds no room changes nothing.
#[derive(Debug)]
pub struct Builder<'a>(Writer<'a>);

impl<'a> Builder<'a> {
    /// Writes nothing yet to the front of `out`.
    pub fn empty(out: &'a mut [u8]) -> Self {
        Self(Writer::new(out))
    }

    /// Begins an ICMPv6 message at the front of `out`.
    pub fn new(out: &'a mut [u8], message: &Message) -> Result<Self, Error> {
        let mut builder = Self::empty(out);
        let registration = |message: &DuplicateAddress| {
            let mut registration = EncodedRegistration::new(message.lifetime, &message.rovr);
            registration.set_status(message.status);
            registration.set_transaction(message.transaction);
            registration
        };
        match message {
            Message::RouterSolicitation => builder.router_solicitation(),
            Message::RouterAdvertisement(advertisement) => builder.router_advertisement(advertisement),
            Message::NeighbourSolicitation { target } => builder.neighbour_solicitation(&target.octets()),
            Message::NeighbourAdvertisement(advertisement) => builder.neighbour_advertisement(advertisement),
            Message::DuplicateAddressRequest(message) => {
                builder.duplicate_address_request(&registration(message), &message.address.octets())
            }
            Message::DuplicateAddressConfirmation(message) => {
                builder.duplicate_address_confirmation(&registration(message), &message.address.octets())
            }
        }?;
        Ok(builder)
    }

    /// Begins the message, of a builder that has written nothing yet: its type and code, the four bytes behind the checksum, and the rest.
    #[inline(never)]
    fn begin(
        &mut self,
        [kind, code]: [u8; 2],
        head: [u8; 4],
        fixed: &[u8],
        rest: &[u8],
    ) -> Result<(), Error> {
        let [h0, h1, h2, h3] = head;
        self.0.put_parts(&[kind, code, 0, 0, h0, h1, h2, h3], fixed, rest)
    }

    /// Begins [`Message::RouterSolicitation`].
    pub fn router_solicitation(&mut self) -> Result<(), Error> {
        self.begin([ROUTER_SOLICITATION, 0], [0; 4], &[], &[])
    }

    /// Begins [`Message::RouterAdvertisement`].
    #[inline]
    pub fn router_advertisement(&mut self, advertisement: &RouterAdvertisement) -> Result<(), Error> {
        let flags = flag(advertisement.managed, MANAGED)
            | flag(advertisement.other_configuration, OTHER_CONFIGURATION);
        let [l0, l1] = advertisement.lifetime.to_be_bytes();
        let times = [advertisement.reachable_time, advertisement.retransmission_time].map(u32::to_be_bytes);
        self.begin(
            [ROUTER_ADVERTISEMENT, 0],
            [advertisement.hop_limit, flags, l0, l1],
            times.as_flattened(),
            &[],
        )
    }

    /// Begins [`Message::NeighbourSolicitation`] of the address with these octets.
    pub fn neighbour_solicitation(&mut self, target: &[u8; 16]) -> Result<(), Error> {
        self.begin([NEIGHBOUR_SOLICITATION, 0], [0; 4], &[], target)
    }

    /// Begins [`Message::NeighbourAdvertisement`].
    #[inline]
    pub fn neighbour_advertisement(&mut self, advertisement: &NeighbourAdvertisement) -> Result<(), Error> {
        let flags = flag(advertisement.router, ROUTER)
            | flag(advertisement.solicited, SOLICITED)
            | flag(advertisement.overrides, OVERRIDES);
        self.begin([NEIGHBOUR_ADVERTISEMENT, 0], [flags, 0, 0, 0], &[], &advertisement.target.octets())
    }

    /// Begins [`Message::DuplicateAddressRequest`] for the address with these octets.
    pub fn duplicate_address_request(
        &mut self,
        registration: &EncodedRegistration,
        address: &[u8; 16],
    ) -> Result<(), Error> {
        self.duplicate_address(DUPLICATE_ADDRESS_REQUEST, registration, address)
    }

    /// Begins [`Message::DuplicateAddressConfirmation`] for the address with these octets.
    pub fn duplicate_address_confirmation(
        &mut self,
        registration: &EncodedRegistration,
        address: &[u8; 16],
    ) -> Result<(), Error> {
        self.duplicate_address(DUPLICATE_ADDRESS_CONFIRMATION, registration, address)
    }

    fn duplicate_address(
        &mut self,
        kind: u8,
        registration: &EncodedRegistration,
        address: &[u8; 16],
    ) -> Result<(), Error> {
        let transaction = registration.transaction();
        let code = flag(transaction.is_some(), EXTENDED_64);
        let [l0, l1] = registration.lifetime().to_be_bytes();
        let head = [registration.status().0, transaction.unwrap_or(0), l0, l1];
        self.begin([kind, code], head, registration.rovr(), address)
    }

    /// Adds an option.
    pub fn option(&mut self, option: &NdOption) -> Result<(), Error> {
        option.write(&mut self.0)
    }

    /// Adds an option with the sender's EUI-64.
    pub fn source_link_layer_address(&mut self, eui: &[u8; 8]) -> Result<(), Error> {
        self.put_option(option::SOURCE_LINK_LAYER_ADDRESS, eui, &[0; 6])
    }

    /// Adds an option with the EUI-64 of the target.
    pub fn target_link_layer_address(&mut self, eui: &[u8; 8]) -> Result<(), Error> {
        self.put_option(option::TARGET_LINK_LAYER_ADDRESS, eui, &[0; 6])
    }

    /// Adds a registration of an address.
    pub fn address_registration(&mut self, registration: &EncodedRegistration) -> Result<(), Error> {
        self.put_option(option::ADDRESS_REGISTRATION, registration.bytes(), &[])
    }

    /// Adds what the sender can do.
    pub fn capabilities(&mut self, capabilities: EncodedCapabilities) -> Result<(), Error> {
        self.put_option(option::CAPABILITIES, &capabilities.bytes(), &[])
    }

    /// Adds a prefix of which nodes may make addresses, and which is valid and preferred for so many seconds.
    pub fn address_prefix(&mut self, prefix: &[u8; 8], seconds: u32) -> Result<(), Error> {
        option::put_address_prefix(&mut self.0, prefix, seconds)
    }

    /// Adds a prefix of the link.
    pub fn prefix_information(&mut self, information: &PrefixInformation) -> Result<(), Error> {
        self.put_option(option::PREFIX_INFORMATION, &information.to_bytes(), &[])
    }

    /// Adds a context of header compression.
    pub fn context(&mut self, context: &Context) -> Result<(), Error> {
        option::put_context(&mut self.0, context)
    }

    /// Adds the border router.
    pub fn border_router(&mut self, border_router: &BorderRouter) -> Result<(), Error> {
        option::put_border_router(&mut self.0, border_router)
    }

    fn put_option(&mut self, kind: u8, fixed: &[u8], rest: &[u8]) -> Result<(), Error> {
        option::put(&mut self.0, kind, fixed, rest)
    }

    /// Writes the checksum of a message with these addresses; the message's length.
    pub fn finish(self, source: Ipv6Addr, destination: Ipv6Addr) -> usize {
        self.0.finish(source, destination)
    }

    /// Writes the checksum of a message between the addresses that stand in `header`, and the rest of that header; the packet's length.
    /// `None` if the message is longer than a packet can be.
    pub fn finish_packet(self, header: &mut [u8; Header::LEN], hop_limit: u8) -> Option<usize> {
        self.0.finish_packet(header, hop_limit)
    }
}

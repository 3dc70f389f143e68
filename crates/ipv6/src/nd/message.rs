use core::net::Ipv6Addr;

use crate::control_message::{Writer, split_address};
use crate::flag::flag;
use crate::nd::address_registration::{Rovr, Status};
use crate::nd::option::{NdOption, Options};
use crate::{Error, checksum, next_header};

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

const ROUTER_SOLICITATION: u8 = 133;
/// The type of a router advertisement.
pub const ROUTER_ADVERTISEMENT: u8 = 134;
/// The type of a neighbour solicitation.
pub const NEIGHBOUR_SOLICITATION: u8 = 135;
/// The type of a neighbour advertisement.
pub const NEIGHBOUR_ADVERTISEMENT: u8 = 136;
const DUPLICATE_ADDRESS_REQUEST: u8 = 157;
const DUPLICATE_ADDRESS_CONFIRMATION: u8 = 158;

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

impl Message {
    /// Splits the ICMPv6 message `message` into its fixed part and the options. It is refused if its receiver has to discard it
    /// ([RFC 4861 sections 6.1](https://www.rfc-editor.org/rfc/rfc4861#section-6.1) and
    /// [7.1](https://www.rfc-editor.org/rfc/rfc4861#section-7.1)); only the hop limit is not seen here.
    pub fn parse(
        source: Ipv6Addr,
        destination: Ipv6Addr,
        message: &[u8],
    ) -> Result<(Self, Options<'_>), Error> {
        let (&[kind, code, _, _], body) = message.split_first_chunk().ok_or(Error::Truncated)?;
        if !is_type(kind) {
            return Err(Error::Unknown);
        }
        if checksum(source, destination, next_header::ICMPV6, message) != 0 {
            return Err(Error::Checksum);
        }
        let (message, options) = Self::parse_body(kind, code, body)?;
        let options = Options::parse(options)?;
        message.check(source, destination, options)?;
        Ok((message, options))
    }

    fn parse_body(kind: u8, code: u8, body: &[u8]) -> Result<(Self, &[u8]), Error> {
        let (&head, rest) = body.split_first_chunk::<4>().ok_or(Error::Truncated)?;
        Ok(match (kind, code) {
            (ROUTER_SOLICITATION, 0) => (Self::RouterSolicitation, rest),
            (ROUTER_ADVERTISEMENT, 0) => {
                let (&[r0, r1, r2, r3, t0, t1, t2, t3], options) =
                    rest.split_first_chunk().ok_or(Error::Truncated)?;
                let [hop_limit, flags, l0, l1] = head;
                let advertisement = RouterAdvertisement {
                    hop_limit,
                    managed: flags & MANAGED != 0,
                    other_configuration: flags & OTHER_CONFIGURATION != 0,
                    lifetime: u16::from_be_bytes([l0, l1]),
                    reachable_time: u32::from_be_bytes([r0, r1, r2, r3]),
                    retransmission_time: u32::from_be_bytes([t0, t1, t2, t3]),
                };
                (Self::RouterAdvertisement(advertisement), options)
            }
            (NEIGHBOUR_SOLICITATION, 0) => {
                let (target, options) = split_address(rest)?;
                (Self::NeighbourSolicitation { target }, options)
            }
            (NEIGHBOUR_ADVERTISEMENT, 0) => {
                let (target, options) = split_address(rest)?;
                let [flags, ..] = head;
                let advertisement = NeighbourAdvertisement {
                    router: flags & ROUTER != 0,
                    solicited: flags & SOLICITED != 0,
                    overrides: flags & OVERRIDES != 0,
                    target,
                };
                (Self::NeighbourAdvertisement(advertisement), options)
            }
            (DUPLICATE_ADDRESS_REQUEST | DUPLICATE_ADDRESS_CONFIRMATION, 0 | EXTENDED_64) => {
                let (rovr, rest) = rest.split_first_chunk().ok_or(Error::Truncated)?;
                let (address, options) = split_address(rest)?;
                let [status, transaction, l0, l1] = head;
                let message = DuplicateAddress {
                    status: Status(status),
                    transaction: (code == EXTENDED_64).then_some(transaction),
                    lifetime: u16::from_be_bytes([l0, l1]),
                    rovr: Rovr(*rovr),
                    address,
                };
                let message = match kind {
                    DUPLICATE_ADDRESS_REQUEST => Self::DuplicateAddressRequest(message),
                    _ => Self::DuplicateAddressConfirmation(message),
                };
                (message, options)
            }
            _ => return Err(Error::Unknown),
        })
    }

    /// Whether the message may have these addresses and name those that it does.
    fn check(&self, source: Ipv6Addr, destination: Ipv6Addr, options: Options<'_>) -> Result<(), Error> {
        // Who has no address yet cannot be answered at a link-layer address.
        let tells_from_nowhere = source.is_unspecified() && options.tells_source();
        let is_good = match self {
            Self::RouterSolicitation => !tells_from_nowhere,
            Self::RouterAdvertisement(_) => source.is_unicast_link_local(),
            Self::NeighbourSolicitation { target } => {
                let goes_to_group = destination == solicited_node(*target);
                !target.is_multicast() && !tells_from_nowhere && (goes_to_group || !source.is_unspecified())
            }
            Self::NeighbourAdvertisement(advertisement) => {
                let answers_all = destination.is_multicast() && advertisement.solicited;
                !advertisement.target.is_multicast() && !answers_all
            }
            // Both are sent from one unicast address to another (RFC 6775 sections 4.4 and 8.2).
            Self::DuplicateAddressRequest(message) | Self::DuplicateAddressConfirmation(message) => {
                !message.address.is_multicast() && !source.is_unspecified() && !destination.is_multicast()
            }
        };
        if is_good && !source.is_multicast() { Ok(()) } else { Err(Error::Address) }
    }

    /// The type, the code and the four bytes behind the checksum.
    fn head(&self) -> (u8, u8, [u8; 4]) {
        let duplicate = |kind: u8, message: &DuplicateAddress| {
            let [l0, l1] = message.lifetime.to_be_bytes();
            let code = flag(message.transaction.is_some(), EXTENDED_64);
            (kind, code, [message.status.0, message.transaction.unwrap_or(0), l0, l1])
        };
        match self {
            Self::RouterSolicitation => (ROUTER_SOLICITATION, 0, [0; 4]),
            Self::RouterAdvertisement(advertisement) => {
                let flags = flag(advertisement.managed, MANAGED)
                    | flag(advertisement.other_configuration, OTHER_CONFIGURATION);
                let [l0, l1] = advertisement.lifetime.to_be_bytes();
                (ROUTER_ADVERTISEMENT, 0, [advertisement.hop_limit, flags, l0, l1])
            }
            Self::NeighbourSolicitation { .. } => (NEIGHBOUR_SOLICITATION, 0, [0; 4]),
            Self::NeighbourAdvertisement(advertisement) => {
                let flags = flag(advertisement.router, ROUTER)
                    | flag(advertisement.solicited, SOLICITED)
                    | flag(advertisement.overrides, OVERRIDES);
                (NEIGHBOUR_ADVERTISEMENT, 0, [flags, 0, 0, 0])
            }
            Self::DuplicateAddressRequest(message) => duplicate(DUPLICATE_ADDRESS_REQUEST, message),
            Self::DuplicateAddressConfirmation(message) => duplicate(DUPLICATE_ADDRESS_CONFIRMATION, message),
        }
    }
}

/// Writes a message into a buffer: its fixed part, then options.
#[derive(Debug)]
pub struct Builder<'a>(Writer<'a>);

impl<'a> Builder<'a> {
    /// Begins an ICMPv6 message at the front of `out`.
    pub fn new(out: &'a mut [u8], message: &Message) -> Result<Self, Error> {
        let (kind, code, head) = message.head();
        let mut writer = Writer::new(out);
        writer.put(&[kind, code, 0, 0])?;
        writer.put(&head)?;
        match message {
            Message::RouterSolicitation => {}
            Message::RouterAdvertisement(advertisement) => {
                writer.put(&advertisement.reachable_time.to_be_bytes())?;
                writer.put(&advertisement.retransmission_time.to_be_bytes())?;
            }
            Message::NeighbourSolicitation { target } => writer.put(&target.octets())?,
            Message::NeighbourAdvertisement(advertisement) => writer.put(&advertisement.target.octets())?,
            Message::DuplicateAddressRequest(message) | Message::DuplicateAddressConfirmation(message) => {
                writer.put(&message.rovr.0)?;
                writer.put(&message.address.octets())?;
            }
        }
        Ok(Self(writer))
    }

    /// Adds an option. One for which there is no room changes nothing.
    pub fn option(&mut self, option: &NdOption) -> Result<(), Error> {
        let length = option.emit(self.0.rest())?;
        self.0.advance(length);
        Ok(())
    }

    /// Writes the checksum of a message with these addresses; the message's length.
    pub fn finish(self, source: Ipv6Addr, destination: Ipv6Addr) -> usize {
        self.0.finish(source, destination)
    }
}

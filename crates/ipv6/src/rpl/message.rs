use core::net::Ipv6Addr;

use crate::control_message::{Writer, split_address};
use crate::flag::flag;
use crate::rpl::option::{Options, RplOption};
use crate::{Error, checksum, next_header};

/// The ICMPv6 type of RPL's control messages.
pub const ICMPV6_TYPE: u8 = 155;

/// The multicast address of all nodes on the link that speak RPL.
pub const ALL_RPL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x1a);

/// The rank of a node that is no way to the root.
pub const INFINITE_RANK: u16 = 0xffff;

/// The base object of a control message; options follow it
/// ([RFC 6550 section 6](https://www.rfc-editor.org/rfc/rfc6550#section-6)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A DODAG information solicitation.
    Dis,
    /// A DODAG information object.
    Dio(Dio),
    /// A destination advertisement object.
    Dao(Dao),
    /// What became of a DAO.
    DaoAck(DaoAck),
    /// A destination cleanup object.
    Dco(Dco),
    /// What became of a DCO.
    DcoAck(DcoAck),
}

/// A DODAG information object: what a router says of the DODAG that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dio {
    /// The RPL instance.
    pub instance: u8,
    /// The DODAG's version.
    pub version: u8,
    /// The router's rank.
    pub rank: u16,
    /// Whether the DODAG leads to where the application wants to go.
    pub grounded: bool,
    /// Whether and how there are routes downwards.
    pub mode: ModeOfOperation,
    /// How much the root is preferred to others, 0 to 7.
    pub preference: u8,
    /// The number by whose change the router asks for DAOs.
    pub dtsn: u8,
    /// The address of the root.
    pub dodag: Ipv6Addr,
}

/// A destination advertisement object: what it reaches, its options say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dao {
    /// The RPL instance.
    pub instance: u8,
    /// Whether a [`DaoAck`] is asked for.
    pub wants_ack: bool,
    /// Names the DAO in its [`DaoAck`].
    pub sequence: u8,
    /// The address of the root, if it is told.
    pub dodag: Option<Ipv6Addr>,
}

/// What became of a DAO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DaoAck {
    /// The RPL instance.
    pub instance: u8,
    /// The sequence of the DAO.
    pub sequence: u8,
    /// What became of it.
    pub status: Status,
    /// The address of the root, if it is told.
    pub dodag: Option<Ipv6Addr>,
}

/// A destination cleanup object: which routes are no more, its options say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dco {
    /// The RPL instance.
    pub instance: u8,
    /// Whether a [`DcoAck`] is asked for.
    pub wants_ack: bool,
    /// Why.
    pub status: Status,
    /// Names the DCO in its [`DcoAck`].
    pub sequence: u8,
    /// The address of the root, if it is told.
    pub dodag: Option<Ipv6Addr>,
}

/// What became of a DCO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DcoAck {
    /// The RPL instance.
    pub instance: u8,
    /// The sequence of the DCO.
    pub sequence: u8,
    /// What became of it.
    pub status: Status,
    /// The address of the root, if it is told.
    pub dodag: Option<Ipv6Addr>,
}

/// Whether and how a DODAG has routes downwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeOfOperation(pub u8);

impl ModeOfOperation {
    /// There are none.
    pub const NO_DOWNWARD: Self = Self(0);
    /// The root knows them and writes them into packets.
    pub const NON_STORING: Self = Self(1);
    /// Each router knows those below it.
    pub const STORING: Self = Self(2);
    /// The same, and there is multicast.
    pub const STORING_MULTICAST: Self = Self(3);
}

/// The status of an acknowledgement or a DCO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub u8);

impl Status {
    /// It was accepted.
    pub const ACCEPTED: Self = Self(0);
    /// Of a [`DcoAck`]: there is no such route.
    pub const NO_ROUTING_ENTRY: Self = Self(1);
    /// It is rejected, for no reason that has a number.
    pub const REJECTED: Self = Self(0x80);

    /// Whether it rejects: another parent is to be chosen.
    pub const fn is_rejection(self) -> bool {
        self.0 >= 0x80
    }
}

const GROUNDED: u8 = 0x80;
/// In a DAO and a DCO.
const WANTS_ACK: u8 = 0x80;
/// In a DAO and a DCO.
const HAS_DODAG: u8 = 0x40;
/// In their acknowledgements.
const ACK_HAS_DODAG: u8 = 0x80;

impl Message {
    /// Splits the ICMPv6 message `message` into its base object and the options, all of which are well-formed.
    pub fn parse(
        source: Ipv6Addr,
        destination: Ipv6Addr,
        message: &[u8],
    ) -> Result<(Self, Options<'_>), Error> {
        let (&[kind, code, _, _], body) = message.split_first_chunk().ok_or(Error::Truncated)?;
        if kind != ICMPV6_TYPE {
            return Err(Error::Unknown);
        }
        if checksum(source, destination, next_header::ICMPV6, message) != 0 {
            return Err(Error::Checksum);
        }
        let (message, options) = Self::parse_body(code, body)?;
        Ok((message, Options::parse(options)?))
    }

    fn parse_body(code: u8, body: &[u8]) -> Result<(Self, &[u8]), Error> {
        if code == 0 {
            let (_, options) = body.split_first_chunk::<2>().ok_or(Error::Truncated)?;
            return Ok((Self::Dis, options));
        }
        let (&[instance, b1, b2, b3], rest) = body.split_first_chunk().ok_or(Error::Truncated)?;
        Ok(match code {
            1 => {
                let (&[mode, dtsn, _, _], rest) = rest.split_first_chunk().ok_or(Error::Truncated)?;
                let (dodag, options) = split_address(rest)?;
                let dio = Dio {
                    instance,
                    version: b1,
                    rank: u16::from_be_bytes([b2, b3]),
                    grounded: mode & GROUNDED != 0,
                    mode: ModeOfOperation(mode >> 3 & 7),
                    preference: mode & 7,
                    dtsn,
                    dodag,
                };
                (Self::Dio(dio), options)
            }
            2 => {
                let (dodag, options) = optional_address(b1 & HAS_DODAG != 0, rest)?;
                (Self::Dao(Dao { instance, wants_ack: b1 & WANTS_ACK != 0, sequence: b3, dodag }), options)
            }
            3 => {
                let (dodag, options) = optional_address(b1 & ACK_HAS_DODAG != 0, rest)?;
                (Self::DaoAck(DaoAck { instance, sequence: b2, status: Status(b3), dodag }), options)
            }
            7 => {
                let (dodag, options) = optional_address(b1 & HAS_DODAG != 0, rest)?;
                let wants_ack = b1 & WANTS_ACK != 0;
                (Self::Dco(Dco { instance, wants_ack, status: Status(b2), sequence: b3, dodag }), options)
            }
            8 => {
                let (dodag, options) = optional_address(b1 & ACK_HAS_DODAG != 0, rest)?;
                (Self::DcoAck(DcoAck { instance, sequence: b2, status: Status(b3), dodag }), options)
            }
            _ => return Err(Error::Unknown),
        })
    }

    /// The code, the first four bytes of the base object and the address behind them.
    fn head(&self) -> (u8, [u8; 4], Option<Ipv6Addr>) {
        let flags = |wants_ack: bool, dodag: Option<Ipv6Addr>| {
            flag(wants_ack, WANTS_ACK) | flag(dodag.is_some(), HAS_DODAG)
        };
        let ack_flags = |dodag: Option<Ipv6Addr>| flag(dodag.is_some(), ACK_HAS_DODAG);
        match *self {
            Self::Dis => (0, [0; 4], None),
            Self::Dio(Dio { instance, version, rank, .. }) => {
                let [high, low] = rank.to_be_bytes();
                (1, [instance, version, high, low], None)
            }
            Self::Dao(Dao { instance, wants_ack, sequence, dodag }) => {
                (2, [instance, flags(wants_ack, dodag), 0, sequence], dodag)
            }
            Self::DaoAck(DaoAck { instance, sequence, status, dodag }) => {
                (3, [instance, ack_flags(dodag), sequence, status.0], dodag)
            }
            Self::Dco(Dco { instance, wants_ack, status, sequence, dodag }) => {
                (7, [instance, flags(wants_ack, dodag), status.0, sequence], dodag)
            }
            Self::DcoAck(DcoAck { instance, sequence, status, dodag }) => {
                (8, [instance, ack_flags(dodag), sequence, status.0], dodag)
            }
        }
    }
}

fn optional_address(is_there: bool, bytes: &[u8]) -> Result<(Option<Ipv6Addr>, &[u8]), Error> {
    if !is_there {
        return Ok((None, bytes));
    }
    split_address(bytes).map(|(address, rest)| (Some(address), rest))
}

/// Writes a control message into a buffer: its base object, then options.
#[derive(Debug)]
pub struct Builder<'a>(Writer<'a>);

impl<'a> Builder<'a> {
    /// Begins an ICMPv6 message at the front of `out`.
    pub fn new(out: &'a mut [u8], message: &Message) -> Result<Self, Error> {
        let (code, head, dodag) = message.head();
        let mut writer = Writer::new(out);
        writer.put(&[ICMPV6_TYPE, code, 0, 0])?;
        match message {
            Message::Dis => writer.put(&[0; 2])?,
            Message::Dio(dio) => {
                writer.put(&head)?;
                let grounded = flag(dio.grounded, GROUNDED);
                writer.put(&[grounded | (dio.mode.0 & 7) << 3 | dio.preference & 7, dio.dtsn, 0, 0])?;
                writer.put(&dio.dodag.octets())?;
            }
            _ => writer.put(&head)?,
        }
        if let Some(dodag) = dodag {
            writer.put(&dodag.octets())?;
        }
        Ok(Self(writer))
    }

    /// Adds an option. One for which there is no room changes nothing.
    #[inline(always)]
    pub fn option(&mut self, option: &RplOption<'_>) -> Result<(), Error> {
        let length = option.emit(self.0.rest())?;
        self.0.advance(length);
        Ok(())
    }

    /// Bytes that there is room for.
    pub fn room(&self) -> usize {
        self.0.room()
    }

    /// Writes the checksum of a message with these addresses; the message's length.
    pub fn finish(self, source: Ipv6Addr, destination: Ipv6Addr) -> usize {
        self.0.finish(source, destination)
    }
}

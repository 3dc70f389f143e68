use core::net::Ipv6Addr;

use crate::control_message::Writer;
use crate::flag::flag;
use crate::rpl::option::{CONFIGURATION, Configuration, Options, RplOption, TARGET, TRANSIT, Transit};
use crate::{Error, Header, checksum, next_header};

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

/// The mode of operation, the preference, and whether the DODAG is grounded, as a DIO has them in one octet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing(u8);

impl Standing {
    /// The octet of these.
    pub const fn new(grounded: bool, mode: ModeOfOperation, preference: u8) -> Self {
        Self(flag(grounded, GROUNDED) | (mode.0 & 7) << 3 | preference & 7)
    }

    /// The mode of operation.
    pub const fn mode(self) -> ModeOfOperation {
        ModeOfOperation(self.0 >> 3 & 7)
    }
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

/// Codes of control messages.
const DIS: u8 = 0;
const DIO: u8 = 1;
const DAO: u8 = 2;
const DAO_ACK: u8 = 3;
const DCO: u8 = 7;
const DCO_ACK: u8 = 8;

const GROUNDED: u8 = 0x80;
/// Beside it and the mode of operation.
const RESERVED: u8 = 0x40;
/// In a DAO and a DCO.
const WANTS_ACK: u8 = 0x80;
/// In a DAO and a DCO.
const HAS_DODAG: u8 = 0x40;
/// In their acknowledgements.
const ACK_HAS_DODAG: u8 = 0x80;

/// A control message as it stands in its packet, whose length is that of its code, and whose options are well-formed.
///
/// What it says, [`ControlMessage::message`] reads as a whole; who needs little of it reads that alone, and its code is smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlMessage<'a> {
    kind: Kind,
    /// The base object before the address of the root. Two bytes of a DIS, all of a DIO, and four of the others: then come zeros.
    base: [u8; 8],
    dodag: Option<&'a [u8; 16]>,
    options: Options<'a>,
}

/// Which control message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A DODAG information solicitation.
    Dis,
    /// A DODAG information object.
    Dio,
    /// A destination advertisement object.
    Dao,
    /// An acknowledgement of one.
    DaoAck,
    /// A destination cleanup object.
    Dco,
    /// An acknowledgement of one.
    DcoAck,
}

impl<'a> ControlMessage<'a> {
    /// Reads the ICMPv6 message `message`.
    pub fn parse(source: Ipv6Addr, destination: Ipv6Addr, message: &'a [u8]) -> Result<Self, Error> {
        let (&[kind, code, _, _], body) = message.split_first_chunk().ok_or(Error::Truncated)?;
        if kind != ICMPV6_TYPE {
            return Err(Error::Unknown);
        }
        if checksum(source, destination, next_header::ICMPV6, message) != 0 {
            return Err(Error::Checksum);
        }
        let (kind, length, has_dodag) = match code {
            DIS => (Kind::Dis, 2, 0),
            DIO => (Kind::Dio, 8, 0),
            DAO => (Kind::Dao, 4, HAS_DODAG),
            DAO_ACK => (Kind::DaoAck, 4, ACK_HAS_DODAG),
            DCO => (Kind::Dco, 4, HAS_DODAG),
            DCO_ACK => (Kind::DcoAck, 4, ACK_HAS_DODAG),
            _ => return Err(Error::Unknown),
        };
        let (fixed, mut options) = body.split_at_checked(length).ok_or(Error::Truncated)?;
        let mut base = [0; 8];
        base[..length].copy_from_slice(fixed);
        let mut dodag = None;
        if kind == Kind::Dio || base[1] & has_dodag != 0 {
            let (octets, behind) = options.split_first_chunk().ok_or(Error::Truncated)?;
            (dodag, options) = (Some(octets), behind);
        }
        Ok(Self { kind, base, dodag, options: Options::parse(options)? })
    }

    /// Which it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The RPL instance; none in a DIS.
    pub fn instance(&self) -> u8 {
        self.base[0]
    }

    /// The octets of the root's address, if it is told: it always is in a DIO.
    pub fn dodag(&self) -> Option<&'a [u8; 16]> {
        self.dodag
    }

    /// Its options.
    pub fn options(&self) -> Options<'a> {
        self.options
    }

    /// Of a DIO, the DODAG's version.
    pub fn version(&self) -> u8 {
        self.base[1]
    }

    /// Of a DIO, the router's rank.
    pub fn rank(&self) -> u16 {
        u16::from_be_bytes([self.base[2], self.base[3]])
    }

    /// Of a DIO, the mode of operation, the preference, and whether the DODAG is grounded.
    pub fn standing(&self) -> Standing {
        Standing(self.base[4] & !RESERVED)
    }

    /// Of a DIO, the DTSN.
    pub fn dtsn(&self) -> u8 {
        self.base[5]
    }

    /// Of an acknowledgement, the sequence of what it is of.
    pub fn acknowledged(&self) -> u8 {
        self.base[2]
    }

    /// Of an acknowledgement, the status.
    pub fn status(&self) -> Status {
        Status(self.base[3])
    }

    /// What it says.
    pub fn message(&self) -> Message {
        let [instance, flags, b2, b3, ..] = self.base;
        let dodag = self.dodag.map(|octets| Ipv6Addr::from(*octets));
        let wants_ack = flags & WANTS_ACK != 0;
        match self.kind {
            Kind::Dis => Message::Dis,
            Kind::Dio => Message::Dio(Dio {
                instance,
                version: self.version(),
                rank: self.rank(),
                grounded: self.base[4] & GROUNDED != 0,
                mode: self.standing().mode(),
                preference: self.base[4] & 7,
                dtsn: self.base[5],
                dodag: dodag.unwrap_or(Ipv6Addr::UNSPECIFIED),
            }),
            Kind::Dao => Message::Dao(Dao { instance, wants_ack, sequence: b3, dodag }),
            Kind::DaoAck => Message::DaoAck(DaoAck { instance, sequence: b2, status: Status(b3), dodag }),
            Kind::Dco => Message::Dco(Dco { instance, wants_ack, status: Status(b2), sequence: b3, dodag }),
            Kind::DcoAck => Message::DcoAck(DcoAck { instance, sequence: b2, status: Status(b3), dodag }),
        }
    }
}

impl Message {
    /// Splits the ICMPv6 message `message` into its base object and the options, all of which are well-formed.
    pub fn parse(
        source: Ipv6Addr,
        destination: Ipv6Addr,
        message: &[u8],
    ) -> Result<(Self, Options<'_>), Error> {
        let control = ControlMessage::parse(source, destination, message)?;
        Ok((control.message(), control.options()))
    }

    /// The code, the first four bytes of the base object and the address behind them.
    #[inline(always)]
    fn head(&self) -> (u8, [u8; 4], Option<Ipv6Addr>) {
        let flags = |wants_ack: bool, dodag: Option<Ipv6Addr>| {
            flag(wants_ack, WANTS_ACK) | flag(dodag.is_some(), HAS_DODAG)
        };
        let ack_flags = |dodag: Option<Ipv6Addr>| flag(dodag.is_some(), ACK_HAS_DODAG);
        match *self {
            Self::Dis => (DIS, [0; 4], None),
            Self::Dio(Dio { instance, version, rank, .. }) => {
                let [high, low] = rank.to_be_bytes();
                (DIO, [instance, version, high, low], None)
            }
            Self::Dao(Dao { instance, wants_ack, sequence, dodag }) => {
                (DAO, [instance, flags(wants_ack, dodag), 0, sequence], dodag)
            }
            Self::DaoAck(DaoAck { instance, sequence, status, dodag }) => {
                (DAO_ACK, [instance, ack_flags(dodag), sequence, status.0], dodag)
            }
            Self::Dco(Dco { instance, wants_ack, status, sequence, dodag }) => {
                (DCO, [instance, flags(wants_ack, dodag), status.0, sequence], dodag)
            }
            Self::DcoAck(DcoAck { instance, sequence, status, dodag }) => {
                (DCO_ACK, [instance, ack_flags(dodag), sequence, status.0], dodag)
            }
        }
    }
}

/// Writes a control message into a buffer: its base object, then options.
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
        builder.begin(message)?;
        Ok(builder)
    }

    /// Begins the ICMPv6 message, of a builder that has written nothing yet.
    // Of those that a device writes, each knows its kind.
    #[inline(always)]
    pub fn begin(&mut self, message: &Message) -> Result<(), Error> {
        match message {
            Message::Dis => self.put_base(DIS, &[0; 2], &[]),
            Message::Dio(dio) => {
                let (code, [b0, b1, b2, b3], _) = message.head();
                let Standing(standing) = Standing::new(dio.grounded, dio.mode, dio.preference);
                self.put_base(code, &[b0, b1, b2, b3, standing, dio.dtsn, 0, 0], &dio.dodag.octets())
            }
            _ => {
                let (code, head, dodag) = message.head();
                let dodag = dodag.map(|dodag| dodag.octets());
                self.put_base(code, &head, dodag.as_ref().map_or(&[], |octets| octets))
            }
        }
    }

    /// Begins a DIO of the instance and the version, with this rank and DTSN, of the DODAG whose root has the address `dodag`.
    pub fn begin_dio(
        &mut self,
        [instance, version, dtsn]: [u8; 3],
        rank: u16,
        standing: Standing,
        dodag: &[u8; 16],
    ) -> Result<(), Error> {
        let [high, low] = rank.to_be_bytes();
        self.put_base(DIO, &[instance, version, high, low, standing.0, dtsn, 0, 0], dodag)
    }

    #[inline(never)]
    fn put_base(&mut self, code: u8, fixed: &[u8], dodag: &[u8]) -> Result<(), Error> {
        self.0.put(&[ICMPV6_TYPE, code, 0, 0])?;
        self.0.put(fixed)?;
        self.0.put(dodag)
    }

    /// Adds an option. One for which there is no room changes nothing.
    #[inline(always)]
    pub fn option(&mut self, option: &RplOption<'_>) -> Result<(), Error> {
        option.write(&mut self.0)
    }

    /// Adds a target that is a host, by the octets of its address.
    pub fn host(&mut self, octets: &[u8; 16]) -> Result<(), Error> {
        self.0.put_option(TARGET, &[0, 128], octets)
    }

    /// Adds a transit information; its parent is `parent`, the octets of an address, if there is one.
    pub fn transit(&mut self, transit: &Transit, parent: Option<&[u8; 16]>) -> Result<(), Error> {
        self.0.put_option(TRANSIT, &transit.front(), parent.map_or(&[], |octets| octets))
    }

    /// Adds a configuration, which [`EncodedConfiguration`] reads.
    pub fn configuration(&mut self, bytes: &[u8; Configuration::LEN]) -> Result<(), Error> {
        self.0.put_option(CONFIGURATION, bytes, &[])
    }

    /// Bytes that there is room for.
    pub fn room(&self) -> usize {
        self.0.room()
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

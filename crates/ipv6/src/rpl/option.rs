use core::net::Ipv6Addr;

use crate::Error;
use crate::control_message::Writer;
use crate::flag::flag;
use crate::prefix::Prefix;
use crate::prefix_information::PrefixInformation;
use crate::rpl::metric::Metrics;

/// A lifetime, in the units of the DODAG, that does not end.
pub const INFINITE_LIFETIME: u8 = 0xff;

/// An option of a control message ([RFC 6550 section 6.7](https://www.rfc-editor.org/rfc/rfc6550#section-6.7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RplOption<'a> {
    /// Padding of that many bytes, at least one.
    Pad(u8),
    /// A DAG metric container.
    Metrics(Metrics<'a>),
    /// A route to a prefix outside of the DODAG.
    RouteInformation {
        /// Where it leads.
        prefix: Prefix,
        /// Its preference, two bits.
        preference: u8,
        /// For how many seconds it is good.
        lifetime: u32,
    },
    /// What all nodes of the DODAG agree on.
    Configuration(Configuration),
    /// What a DAO or DCO is about: the prefix, and flags.
    Target {
        /// What is reached.
        prefix: Prefix,
        /// What other documents than RFC 6550 say of it.
        flags: u8,
    },
    /// How the targets before it are reached.
    Transit(Transit),
    /// What a DIS asks for.
    Solicited(Solicited),
    /// A prefix of the link or of the DODAG.
    PrefixInformation(PrefixInformation),
    /// A number that goes with the target before it.
    TargetDescriptor(u32),
    /// One that is not known here.
    Unknown {
        /// Its type.
        kind: u8,
        /// What is in it.
        data: &'a [u8],
    },
}

/// What all nodes of a DODAG agree on ([RFC 6550 section 6.7.6](https://www.rfc-editor.org/rfc/rfc6550#section-6.7.6)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Four flags; [`Configuration::SKIPPABLE_OPTION`] is one of them.
    pub flags: u8,
    /// Whether a node needs a key of an authority to be a router.
    pub authenticated: bool,
    /// Bits of the path control field that count, minus one.
    pub path_control_size: u8,
    /// How often the Trickle interval may double.
    pub interval_doublings: u8,
    /// The exponent of the least Trickle interval: 2^n milliseconds.
    pub interval_minimum: u8,
    /// After how many consistent DIOs one is not sent; 0: after none.
    pub redundancy: u8,
    /// How far a rank may rise within a version; 0: as far as it wants.
    pub max_rank_increase: u16,
    /// By how much a rank is at least higher than that of the parent.
    pub min_hop_rank_increase: u16,
    /// The code point of the objective function.
    pub objective: u16,
    /// The lifetime of routes, in units.
    pub default_lifetime: u8,
    /// The unit of lifetimes, in seconds.
    pub lifetime_unit: u16,
}

impl Configuration {
    /// The flag by which all nodes put 0x23 into data packets, the type of option that who does not know it skips
    /// ([RFC 9008 section 4.1.3](https://www.rfc-editor.org/rfc/rfc9008#section-4.1.3)).
    pub const SKIPPABLE_OPTION: u8 = 0x1;
}

/// How the targets before it are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transit {
    /// Whether the targets are outside of RPL.
    pub external: bool,
    /// Whether who finds an older route for them is to invalidate it
    /// ([RFC 9009 section 4.2](https://www.rfc-editor.org/rfc/rfc9009#section-4.2)).
    pub invalidate: bool,
    /// Which of several parents it prefers.
    pub path_control: u8,
    /// Orders what is said of the targets.
    pub path_sequence: u8,
    /// For how long the targets are reached, in units of the DODAG: 0 says that they are no more.
    pub path_lifetime: u8,
    /// The parent of the targets, where the root collects them.
    pub parent: Option<Ipv6Addr>,
}

/// What a DIS asks for: an answer only from those that agree in each part that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solicited {
    /// The RPL instance.
    pub instance: Option<u8>,
    /// The address of the root.
    pub dodag: Option<Ipv6Addr>,
    /// The DODAG's version.
    pub version: Option<u8>,
}

const PAD_1: u8 = 0;
const PAD_N: u8 = 1;
const METRICS: u8 = 2;
const ROUTE_INFORMATION: u8 = 3;
pub(super) const CONFIGURATION: u8 = 4;
pub(super) const TARGET: u8 = 5;
pub(super) const TRANSIT: u8 = 6;
const SOLICITED: u8 = 7;
const PREFIX_INFORMATION: u8 = 8;
const TARGET_DESCRIPTOR: u8 = 9;

/// Flags of a transit information.
const EXTERNAL: u8 = 0x80;
const INVALIDATE: u8 = 0x40;
/// Flags of a solicited information.
const BY_VERSION: u8 = 0x80;
const BY_INSTANCE: u8 = 0x40;
const BY_DODAG: u8 = 0x20;
impl<'a> RplOption<'a> {
    /// Whether `data` is well-formed in an option of that type: whether it can be read, without reading it.
    #[inline(always)]
    fn is_well_formed(kind: u8, data: &'a [u8]) -> bool {
        match (kind, data) {
            (ROUTE_INFORMATION, &[length, _, _, _, _, _, ref prefix @ ..])
            | (TARGET, &[_, length, ref prefix @ ..]) => Prefix::fits(length, prefix),
            (ROUTE_INFORMATION | TARGET, _) => false,
            _ => Self::parse_data(kind, data).is_ok(),
        }
    }

    // Where options are only judged, nothing of what they say is kept then.
    #[inline(always)]
    fn parse_data(kind: u8, data: &'a [u8]) -> Result<Self, Error> {
        Ok(match kind {
            PAD_1 => Self::Pad(1),
            // The longest is as long as its length says, and two bytes more than can be told.
            PAD_N => match u8::try_from(data.len() + 2) {
                Ok(length) => Self::Pad(length),
                Err(_) => Self::Unknown { kind, data },
            },
            METRICS => Self::Metrics(Metrics::parse(data)?),
            ROUTE_INFORMATION => {
                let (&[length, preference, l0, l1, l2, l3], prefix) =
                    data.split_first_chunk().ok_or(Error::Length)?;
                Self::RouteInformation {
                    prefix: Prefix::parse(length, prefix)?,
                    preference: preference >> 3 & 3,
                    lifetime: u32::from_be_bytes([l0, l1, l2, l3]),
                }
            }
            CONFIGURATION => Self::Configuration(EncodedConfiguration::parse(data)?.decode()),
            TARGET => {
                let (&[flags, length], prefix) = data.split_first_chunk().ok_or(Error::Length)?;
                Self::Target { prefix: Prefix::parse(length, prefix)?, flags }
            }
            TRANSIT => Self::Transit(Transit::parse(data)?),
            SOLICITED => Self::Solicited(EncodedSolicited::parse(data)?.decode()),
            PREFIX_INFORMATION => Self::PrefixInformation(PrefixInformation::parse(data)?),
            TARGET_DESCRIPTOR => {
                Self::TargetDescriptor(u32::from_be_bytes(data.try_into().map_err(|_| Error::Length)?))
            }
            _ => Self::Unknown { kind, data },
        })
    }

    /// Writes the option to the start of `out`; its length.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        let mut writer = Writer::new(out);
        self.write(&mut writer)?;
        Ok(writer.len())
    }

    /// Writes the option behind what `writer` has written. One for which there is no room changes nothing.
    // Of those that a device writes, each knows its kind.
    #[inline(always)]
    pub(crate) fn write(&self, writer: &mut Writer<'_>) -> Result<(), Error> {
        match self {
            Self::Pad(0) => Err(Error::Length),
            Self::Pad(1) => writer.put(&[PAD_1]),
            Self::Pad(length) => {
                let zeros = [0; u8::MAX as usize];
                writer.put_option(PAD_N, zeros.get(2..(*length).into()).unwrap_or_default(), &[])
            }
            Self::Metrics(metrics) => writer.put_option(METRICS, metrics.bytes(), &[]),
            Self::RouteInformation { prefix, preference, lifetime } => {
                let [l0, l1, l2, l3] = lifetime.to_be_bytes();
                let fixed = [prefix.length(), (preference & 3) << 3, l0, l1, l2, l3];
                writer.put_option(ROUTE_INFORMATION, &fixed, prefix.octets())
            }
            Self::Configuration(configuration) => {
                writer.put_option(CONFIGURATION, &configuration.to_bytes(), &[])
            }
            Self::Target { prefix, flags } => {
                writer.put_option(TARGET, &[*flags, prefix.length()], prefix.octets())
            }
            Self::Transit(transit) => {
                let parent = transit.parent.map(|parent| parent.octets());
                writer.put_option(TRANSIT, &transit.front(), parent.as_ref().map_or(&[], |octets| octets))
            }
            Self::Solicited(solicited) => writer.put_option(SOLICITED, &solicited.to_bytes(), &[]),
            Self::PrefixInformation(information) => {
                writer.put_option(PREFIX_INFORMATION, &information.to_bytes(), &[])
            }
            Self::TargetDescriptor(descriptor) => {
                writer.put_option(TARGET_DESCRIPTOR, &descriptor.to_be_bytes(), &[])
            }
            Self::Unknown { kind, data } => writer.put_option(*kind, data, &[]),
        }
    }
}

/// An option that is not looked into, and what is behind it.
struct Split<'a> {
    kind: u8,
    data: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Split<'a> {
    #[inline(never)]
    fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let (&kind, rest) = bytes.split_first().ok_or(Error::Truncated)?;
        if kind == PAD_1 {
            return Ok(Self { kind, data: &[], rest });
        }
        let (&length, rest) = rest.split_first().ok_or(Error::Truncated)?;
        let (data, rest) = rest.split_at_checked(length.into()).ok_or(Error::Truncated)?;
        Ok(Self { kind, data, rest })
    }

    /// The first of that kind in `bytes`.
    fn find(kind: u8, mut bytes: &'a [u8]) -> Option<Self> {
        loop {
            let split = Self::parse(bytes).ok()?;
            if split.kind == kind {
                return Some(split);
            }
            bytes = split.rest;
        }
    }
}

/// A configuration as it stands in its option: what it says is read when it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedConfiguration<'a>(&'a [u8; Configuration::LEN]);

impl<'a> EncodedConfiguration<'a> {
    /// Where its fields stand.
    const MAX_RANK_INCREASE: usize = 4;
    const MIN_HOP_RANK_INCREASE: usize = 6;
    const OBJECTIVE: usize = 8;
    const LIFETIME_UNIT: usize = 12;

    /// The one that [`Configuration::to_bytes`] wrote.
    pub const fn new(bytes: &'a [u8; Configuration::LEN]) -> Self {
        Self(bytes)
    }

    #[inline(always)]
    fn parse(data: &'a [u8]) -> Result<Self, Error> {
        data.try_into().map(Self).map_err(|_| Error::Length)
    }

    /// Its bytes; what is reserved in it is left out.
    pub fn to_bytes(self) -> [u8; Configuration::LEN] {
        let mut bytes = *self.0;
        bytes[10] = 0;
        bytes
    }

    fn number(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.0[at], self.0[at + 1]])
    }

    /// The flags: [`Configuration::flags`].
    pub fn flags(&self) -> u8 {
        self.0[0] >> 4
    }

    /// [`Configuration::interval_doublings`].
    pub fn interval_doublings(&self) -> u8 {
        self.0[1]
    }

    /// [`Configuration::interval_minimum`].
    pub fn interval_minimum(&self) -> u8 {
        self.0[2]
    }

    /// [`Configuration::redundancy`].
    pub fn redundancy(&self) -> u8 {
        self.0[3]
    }

    /// [`Configuration::max_rank_increase`].
    pub fn max_rank_increase(&self) -> u16 {
        self.number(Self::MAX_RANK_INCREASE)
    }

    /// [`Configuration::min_hop_rank_increase`].
    pub fn min_hop_rank_increase(&self) -> u16 {
        self.number(Self::MIN_HOP_RANK_INCREASE)
    }

    /// [`Configuration::objective`].
    pub fn objective(&self) -> u16 {
        self.number(Self::OBJECTIVE)
    }

    /// [`Configuration::default_lifetime`].
    pub fn default_lifetime(&self) -> u8 {
        self.0[11]
    }

    /// [`Configuration::lifetime_unit`].
    pub fn lifetime_unit(&self) -> u16 {
        self.number(Self::LIFETIME_UNIT)
    }

    /// All that it says.
    pub fn decode(self) -> Configuration {
        let [flags, ..] = self.0;
        Configuration {
            flags: self.flags(),
            authenticated: flags & 8 != 0,
            path_control_size: flags & 7,
            interval_doublings: self.interval_doublings(),
            interval_minimum: self.interval_minimum(),
            redundancy: self.redundancy(),
            max_rank_increase: self.max_rank_increase(),
            min_hop_rank_increase: self.min_hop_rank_increase(),
            objective: self.objective(),
            default_lifetime: self.default_lifetime(),
            lifetime_unit: self.lifetime_unit(),
        }
    }
}

impl Configuration {
    /// How many bytes it takes.
    pub const LEN: usize = 14;

    /// The same as it stands in an option.
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let flags = self.flags << 4 | u8::from(self.authenticated) << 3 | self.path_control_size & 7;
        let [m0, m1] = self.max_rank_increase.to_be_bytes();
        let [h0, h1] = self.min_hop_rank_increase.to_be_bytes();
        let [o0, o1] = self.objective.to_be_bytes();
        let [u0, u1] = self.lifetime_unit.to_be_bytes();
        let Self { interval_doublings, interval_minimum, redundancy, default_lifetime, .. } = self;
        [
            flags,
            interval_doublings,
            interval_minimum,
            redundancy,
            m0,
            m1,
            h0,
            h1,
            o0,
            o1,
            0,
            default_lifetime,
            u0,
            u1,
        ]
    }
}

impl Transit {
    /// What it begins with, before the parent.
    pub(super) const fn front(&self) -> [u8; 4] {
        let flags = flag(self.external, EXTERNAL) | flag(self.invalidate, INVALIDATE);
        [flags, self.path_control, self.path_sequence, self.path_lifetime]
    }

    fn parse(data: &[u8]) -> Result<Self, Error> {
        let (&[flags, path_control, path_sequence, path_lifetime], parent) =
            data.split_first_chunk().ok_or(Error::Length)?;
        let parent = match parent {
            [] => None,
            parent => Some(<[u8; 16]>::try_from(parent).map_err(|_| Error::Length)?.into()),
        };
        Ok(Self {
            external: flags & EXTERNAL != 0,
            invalidate: flags & INVALIDATE != 0,
            path_control,
            path_sequence,
            path_lifetime,
            parent,
        })
    }
}

impl Solicited {
    const LEN: usize = 19;

    fn to_bytes(self) -> [u8; Self::LEN] {
        let by_version = flag(self.version.is_some(), BY_VERSION);
        let by_instance = flag(self.instance.is_some(), BY_INSTANCE);
        let by_dodag = flag(self.dodag.is_some(), BY_DODAG);
        let mut bytes = [0; Self::LEN];
        bytes[0] = self.instance.unwrap_or(0);
        bytes[1] = by_version | by_instance | by_dodag;
        bytes[2..18].copy_from_slice(&self.dodag.unwrap_or(Ipv6Addr::UNSPECIFIED).octets());
        bytes[18] = self.version.unwrap_or(0);
        bytes
    }
}

/// What a DIS asks for as it stands in its option: what it says is read when it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedSolicited<'a>(&'a [u8; Solicited::LEN]);

impl<'a> EncodedSolicited<'a> {
    #[inline(always)]
    fn parse(data: &'a [u8]) -> Result<Self, Error> {
        data.try_into().map(Self).map_err(|_| Error::Length)
    }

    /// Whether it asks for the DODAG of that instance and version whose root's address has these octets.
    pub fn asks_for(&self, instance: u8, dodag: &[u8; 16], version: u8) -> bool {
        let [asked_instance, flags, asked_dodag @ .., asked_version] = self.0;
        (flags & BY_INSTANCE == 0 || *asked_instance == instance)
            && (flags & BY_DODAG == 0 || asked_dodag == dodag)
            && (flags & BY_VERSION == 0 || *asked_version == version)
    }

    /// All that it says.
    pub fn decode(self) -> Solicited {
        let &[instance, flags, dodag @ .., version] = self.0;
        Solicited {
            instance: (flags & BY_INSTANCE != 0).then_some(instance),
            dodag: (flags & BY_DODAG != 0).then_some(dodag.into()),
            version: (flags & BY_VERSION != 0).then_some(version),
        }
    }
}

/// The options of a message, all of which are well-formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options<'a>(&'a [u8]);

impl<'a> Options<'a> {
    /// Those in `bytes`; an error if one of them is malformed.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let split = Split::parse(rest)?;
            if !RplOption::is_well_formed(split.kind, split.data) {
                return Err(Error::Length);
            }
            rest = split.rest;
        }
        Ok(Self(bytes))
    }

    /// Each of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = RplOption<'a>> + Clone + use<'a> {
        let mut rest = self.0;
        core::iter::from_fn(move || {
            let split = Split::parse(rest).ok()?;
            rest = split.rest;
            RplOption::parse_data(split.kind, split.data).ok()
        })
    }

    /// What all nodes of the DODAG agree on, if it is told.
    pub fn configuration(&self) -> Option<EncodedConfiguration<'a>> {
        let Split { data, .. } = Split::find(CONFIGURATION, self.0)?;
        EncodedConfiguration::parse(data).ok()
    }

    /// What a DIS asks for, each of it.
    pub fn solicited(&self) -> impl Iterator<Item = EncodedSolicited<'a>> + use<'a> {
        self.of(SOLICITED).filter_map(|data| EncodedSolicited::parse(data).ok())
    }

    /// The DAG metric containers.
    pub fn metrics(&self) -> impl Iterator<Item = Metrics<'a>> + use<'a> {
        self.of(METRICS).filter_map(|data| Metrics::parse(data).ok())
    }

    /// What options of one kind hold.
    fn of(&self, kind: u8) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut left = self.0;
        core::iter::from_fn(move || {
            let Split { data, rest, .. } = Split::find(kind, left)?;
            left = rest;
            Some(data)
        })
    }
}

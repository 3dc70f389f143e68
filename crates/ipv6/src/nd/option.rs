use crate::Error;
use crate::control_message::Writer;
use crate::nd::address_registration::{AddressRegistration, EncodedRegistration};
use crate::nd::border_router::{BorderRouter, EncodedBorderRouter};
use crate::nd::capabilities::{Capabilities, EncodedCapabilities};
use crate::nd::context::Context;
use crate::nd::link_layer_address::LinkLayerAddress;
use crate::prefix_information::{AUTONOMOUS, EncodedPrefixInformation, PrefixInformation};

/// An option of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NdOption {
    /// The sender's link-layer address.
    SourceLinkLayerAddress(LinkLayerAddress),
    /// The link-layer address of the target.
    TargetLinkLayerAddress(LinkLayerAddress),
    /// A prefix of the link.
    PrefixInformation(PrefixInformation),
    /// The longest packet that the link carries.
    Mtu(u32),
    /// The registration of an address, or what became of it.
    AddressRegistration(AddressRegistration),
    /// A context of header compression.
    Context(Context),
    /// Whose prefixes and contexts these are.
    BorderRouter(BorderRouter),
    /// What the sender can do.
    Capabilities(Capabilities),
}

pub(super) const SOURCE_LINK_LAYER_ADDRESS: u8 = 1;
pub(super) const TARGET_LINK_LAYER_ADDRESS: u8 = 2;
pub(super) const PREFIX_INFORMATION: u8 = 3;
const MTU: u8 = 5;
pub(super) const ADDRESS_REGISTRATION: u8 = 33;
const CONTEXT: u8 = 34;
const BORDER_ROUTER: u8 = 35;
pub(super) const CAPABILITIES: u8 = 36;

/// The unit of an option's length, in bytes.
const UNIT: usize = 8;

impl NdOption {
    /// An option of the type `kind` that holds `data`. An error if it is of an unknown type, or of a wrong length for its type.
    fn parse(kind: u8, data: &[u8]) -> Result<Self, Error> {
        match kind {
            SOURCE_LINK_LAYER_ADDRESS => LinkLayerAddress::parse(data).map(Self::SourceLinkLayerAddress),
            TARGET_LINK_LAYER_ADDRESS => LinkLayerAddress::parse(data).map(Self::TargetLinkLayerAddress),
            PREFIX_INFORMATION => PrefixInformation::parse(data).map(Self::PrefixInformation),
            MTU => match data {
                &[_, _, m0, m1, m2, m3] => Ok(Self::Mtu(u32::from_be_bytes([m0, m1, m2, m3]))),
                _ => Err(Error::Length),
            },
            ADDRESS_REGISTRATION => {
                let mut registration = EncodedRegistration::NONE;
                registration.read(data).map(|()| Self::AddressRegistration(registration.decode()))
            }
            CONTEXT => Context::parse(data).map(Self::Context),
            BORDER_ROUTER => BorderRouter::parse(data).map(Self::BorderRouter),
            CAPABILITIES => match data.len() {
                EncodedCapabilities::LEN => Ok(Self::Capabilities(EncodedCapabilities::of(data).decode())),
                _ => Err(Error::Length),
            },
            _ => Err(Error::Unknown),
        }
    }

    /// Writes the option to the start of `out`; its length.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        let mut writer = Writer::new(out);
        self.write(&mut writer)?;
        Ok(writer.len())
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) -> Result<(), Error> {
        match self {
            Self::SourceLinkLayerAddress(address) => {
                let (data, length) = address.to_bytes();
                put(writer, SOURCE_LINK_LAYER_ADDRESS, &data[..length], &[])
            }
            Self::TargetLinkLayerAddress(address) => {
                let (data, length) = address.to_bytes();
                put(writer, TARGET_LINK_LAYER_ADDRESS, &data[..length], &[])
            }
            Self::PrefixInformation(information) => {
                put(writer, PREFIX_INFORMATION, &information.to_bytes(), &[])
            }
            Self::Mtu(mtu) => put(writer, MTU, &[0; 2], &mtu.to_be_bytes()),
            Self::AddressRegistration(registration) => {
                put(writer, ADDRESS_REGISTRATION, &registration.to_bytes(), &[])
            }
            Self::Context(context) => put_context(writer, context),
            Self::BorderRouter(border_router) => put_border_router(writer, border_router),
            Self::Capabilities(capabilities) => {
                put(writer, CAPABILITIES, &capabilities.encode().bytes(), &[])
            }
        }
    }
}

/// Adds an option whose data are `fixed` and then `rest`.
#[inline(never)]
pub(super) fn put(writer: &mut Writer<'_>, kind: u8, fixed: &[u8], rest: &[u8]) -> Result<(), Error> {
    let units = (fixed.len() + rest.len() + 2) / UNIT;
    writer.put_parts(&[kind, units as u8], fixed, rest)
}

/// Adds a prefix of which nodes may make addresses, and which is valid and preferred for so many seconds.
pub(super) fn put_address_prefix(
    writer: &mut Writer<'_>,
    prefix: &[u8; 8],
    seconds: u32,
) -> Result<(), Error> {
    let units = ((PrefixInformation::LEN + 2) / UNIT) as u8;
    let [s0, s1, s2, s3] = seconds.to_be_bytes();
    let front = [PREFIX_INFORMATION, units, 64, AUTONOMOUS, s0, s1, s2, s3, s0, s1, s2, s3, 0, 0, 0, 0];
    writer.put_parts(&front, prefix, &[0; 8])
}

/// A prefix of up to 64 bits takes half as many bytes as a longer one.
pub(super) fn put_context(writer: &mut Writer<'_>, context: &Context) -> Result<(), Error> {
    let octets = context.prefix.address().octets();
    let length = if context.prefix.length() > 64 { 16 } else { 8 };
    put(writer, CONTEXT, &context.front(), &octets[..length])
}

pub(super) fn put_border_router(writer: &mut Writer<'_>, border_router: &BorderRouter) -> Result<(), Error> {
    put(writer, BORDER_ROUTER, &border_router.front(), &border_router.address.octets())
}

/// The options of a message, each of which ends where its length says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options<'a>(&'a [u8]);

impl<'a> Options<'a> {
    /// Those in `bytes`; an error if one of them has no length, or ends behind them
    /// ([RFC 4861 section 4.6](https://www.rfc-editor.org/rfc/rfc4861#section-4.6)).
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut rest = bytes;
        while !rest.is_empty() {
            (_, _, rest) = split(rest)?;
        }
        Ok(Self(bytes))
    }

    /// Takes the next one away: its type and its data.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (kind, data, rest) = split(self.0).ok()?;
        self.0 = rest;
        Some((kind, data))
    }

    /// Takes those away up to the next one of the type `kind`: its data.
    #[inline(never)]
    fn next_of(&mut self, kind: u8) -> Option<&'a [u8]> {
        while let Some((found, data)) = self.next() {
            if found == kind {
                return Some(data);
            }
        }
        None
    }

    /// The data of each of the type `kind`, in order.
    fn all_of(mut self, kind: u8) -> impl Iterator<Item = &'a [u8]> {
        core::iter::from_fn(move || self.next_of(kind))
    }

    /// Each of them that is known, in order. The others are ignored, and those whose length is wrong for their type.
    pub fn iter(&self) -> impl Iterator<Item = NdOption> + Clone + use<'a> {
        let mut options = *self;
        core::iter::from_fn(move || options.next())
            .filter_map(|(kind, data)| NdOption::parse(kind, data).ok())
    }

    /// Whether there is an option with the sender's link-layer address, also one that is ignored.
    pub(super) fn tells_source(mut self) -> bool {
        self.next_of(SOURCE_LINK_LAYER_ADDRESS).is_some()
    }

    /// The data of the first one of the type `kind` of this length.
    fn find(self, kind: u8, length: usize) -> Option<&'a [u8]> {
        self.all_of(kind).find(|data| data.len() == length)
    }

    /// Whether the sender tells its link-layer address.
    pub fn has_source_link_layer_address(self) -> bool {
        self.all_of(SOURCE_LINK_LAYER_ADDRESS)
            .any(|data| matches!(data.len(), LinkLayerAddress::SHORT | LinkLayerAddress::EXTENDED))
    }

    /// Reads the registration of an address into `registration`; whether there is one. An error if its verifier has more than 64 bits, or
    /// its length is wrong.
    // Returned, it would be copied twice.
    pub fn address_registration(mut self, registration: &mut EncodedRegistration) -> Result<bool, Error> {
        match self.next_of(ADDRESS_REGISTRATION) {
            Some(data) => registration.read(data).map(|()| true),
            None => Ok(false),
        }
    }

    /// What the sender can do; nothing, if it does not say.
    pub fn capabilities(self) -> EncodedCapabilities {
        let data = self.find(CAPABILITIES, EncodedCapabilities::LEN);
        data.map_or(EncodedCapabilities::NONE, EncodedCapabilities::of)
    }

    /// Whose prefixes and contexts these are.
    pub fn border_router(self) -> Option<EncodedBorderRouter<'a>> {
        EncodedBorderRouter::parse(self.find(BORDER_ROUTER, BorderRouter::LEN)?).ok()
    }

    /// The contexts of header compression.
    pub fn contexts(self) -> impl Iterator<Item = Context> {
        self.all_of(CONTEXT).filter_map(|data| Context::parse(data).ok())
    }

    /// The prefixes of the link.
    pub fn prefixes(self) -> impl Iterator<Item = EncodedPrefixInformation<'a>> {
        self.all_of(PREFIX_INFORMATION).filter_map(|data| EncodedPrefixInformation::parse(data).ok())
    }
}

/// The type and the data of the option at the front of `bytes`, and the rest.
fn split(bytes: &[u8]) -> Result<(u8, &[u8], &[u8]), Error> {
    let &[kind, units, ..] = bytes else { return Err(Error::Truncated) };
    if units == 0 {
        return Err(Error::Length);
    }
    let (option, rest) = bytes.split_at_checked(usize::from(units) * UNIT).ok_or(Error::Truncated)?;
    Ok((kind, option.get(2..).unwrap_or_default(), rest))
}

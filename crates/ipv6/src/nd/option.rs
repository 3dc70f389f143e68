use crate::Error;
use crate::nd::address_registration::AddressRegistration;
use crate::nd::border_router::BorderRouter;
use crate::nd::capabilities::Capabilities;
use crate::nd::context::Context;
use crate::nd::link_layer_address::LinkLayerAddress;
use crate::prefix_information::PrefixInformation;

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

const SOURCE_LINK_LAYER_ADDRESS: u8 = 1;
const TARGET_LINK_LAYER_ADDRESS: u8 = 2;
const PREFIX_INFORMATION: u8 = 3;
const MTU: u8 = 5;
const ADDRESS_REGISTRATION: u8 = 33;
const CONTEXT: u8 = 34;
const BORDER_ROUTER: u8 = 35;
const CAPABILITIES: u8 = 36;

/// The unit of an option's length, in bytes.
const UNIT: usize = 8;

/// The longest option: a prefix information.
const MAX_LEN: usize = PrefixInformation::LEN + 2;

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
            ADDRESS_REGISTRATION => AddressRegistration::parse(data).map(Self::AddressRegistration),
            CONTEXT => Context::parse(data).map(Self::Context),
            BORDER_ROUTER => BorderRouter::parse(data).map(Self::BorderRouter),
            CAPABILITIES => Capabilities::parse(data).map(Self::Capabilities),
            _ => Err(Error::Unknown),
        }
    }

    /// Writes the option to the start of `out`; its length.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        let mut bytes = [0; MAX_LEN];
        let mut put = |kind: u8, data: &[u8]| {
            let length = data.len() + 2;
            bytes[..2].copy_from_slice(&[kind, (length / UNIT) as u8]);
            bytes[2..length].copy_from_slice(data);
            length
        };
        let length = match *self {
            Self::SourceLinkLayerAddress(address) => {
                let (data, length) = address.to_bytes();
                put(SOURCE_LINK_LAYER_ADDRESS, &data[..length])
            }
            Self::TargetLinkLayerAddress(address) => {
                let (data, length) = address.to_bytes();
                put(TARGET_LINK_LAYER_ADDRESS, &data[..length])
            }
            Self::PrefixInformation(information) => put(PREFIX_INFORMATION, &information.to_bytes()),
            Self::Mtu(mtu) => {
                let [m0, m1, m2, m3] = mtu.to_be_bytes();
                put(MTU, &[0, 0, m0, m1, m2, m3])
            }
            Self::AddressRegistration(registration) => put(ADDRESS_REGISTRATION, &registration.to_bytes()),
            Self::Context(context) => {
                let (data, length) = context.to_bytes();
                put(CONTEXT, &data[..length])
            }
            Self::BorderRouter(border_router) => put(BORDER_ROUTER, &border_router.to_bytes()),
            Self::Capabilities(capabilities) => put(CAPABILITIES, &capabilities.to_bytes()),
        };
        let option = bytes.get(..length).ok_or(Error::Length)?;
        out.get_mut(..length).ok_or(Error::Truncated)?.copy_from_slice(option);
        Ok(length)
    }
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

    /// The type and the data of each of them, in order.
    fn raw(&self) -> impl Iterator<Item = (u8, &'a [u8])> + Clone + use<'a> {
        let mut rest = self.0;
        core::iter::from_fn(move || {
            let (kind, data, left) = split(rest).ok()?;
            rest = left;
            Some((kind, data))
        })
    }

    /// Each of them that is known, in order. The others are ignored, and those whose length is wrong for their type.
    pub fn iter(&self) -> impl Iterator<Item = NdOption> + Clone + use<'a> {
        self.raw().filter_map(|(kind, data)| NdOption::parse(kind, data).ok())
    }

    /// Whether there is an option with the sender's link-layer address, also one that is ignored.
    pub(super) fn tells_source(&self) -> bool {
        self.raw().any(|(kind, _)| kind == SOURCE_LINK_LAYER_ADDRESS)
    }

    /// The sender's link-layer address.
    pub fn source_link_layer_address(&self) -> Option<LinkLayerAddress> {
        self.iter().find_map(|option| match option {
            NdOption::SourceLinkLayerAddress(address) => Some(address),
            _ => None,
        })
    }

    /// The registration of an address; an error if its verifier has more than 64 bits, or its length is wrong.
    pub fn address_registration(&self) -> Result<Option<AddressRegistration>, Error> {
        let registration = self.raw().find(|(kind, _)| *kind == ADDRESS_REGISTRATION);
        registration.map(|(_, data)| AddressRegistration::parse(data)).transpose()
    }

    /// What the sender can do.
    pub fn capabilities(&self) -> Option<Capabilities> {
        self.iter().find_map(|option| match option {
            NdOption::Capabilities(capabilities) => Some(capabilities),
            _ => None,
        })
    }

    /// Whose prefixes and contexts these are.
    pub fn border_router(&self) -> Option<BorderRouter> {
        self.iter().find_map(|option| match option {
            NdOption::BorderRouter(border_router) => Some(border_router),
            _ => None,
        })
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

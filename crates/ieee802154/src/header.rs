use sixlock_base::Eui64;

use crate::fields::{Reader, Writer};
use crate::{AuxiliaryHeader, Error};

/// The broadcast PAN id and the broadcast short address.
pub const BROADCAST: u16 = 0xffff;

/// What a frame is for (7.2.1.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameType {
    /// A coordinator's announcement.
    Beacon,
    /// Data of the next higher layer.
    Data,
    /// An acknowledgement.
    Ack,
    /// A MAC command.
    Command,
}

impl FrameType {
    /// The type that the three low bits of frame control name.
    #[inline(always)]
    pub(crate) const fn from_bits(control: u16) -> Result<Self, Error> {
        match control & 7 {
            0 => Ok(Self::Beacon),
            1 => Ok(Self::Data),
            2 => Ok(Self::Ack),
            3 => Ok(Self::Command),
            _ => Err(Error::FrameType),
        }
    }
}

/// The earliest version of IEEE 802.15.4 a frame can be read by (7.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Version {
    /// IEEE 802.15.4-2003.
    V2003,
    /// IEEE 802.15.4-2006: a secured frame, or one with a payload beyond
    /// [`MAX_SAFE_PAYLOAD`](crate::MAX_SAFE_PAYLOAD).
    V2006,
}

/// A device's address inside its PAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// 16 bits; [`BROADCAST`] is everybody.
    Short(u16),
    /// 64 bits.
    Extended(Eui64),
}

impl Address {
    pub(crate) const fn mode(self) -> Mode {
        match self {
            Self::Short(_) => Mode::Short,
            Self::Extended(_) => Mode::Extended,
        }
    }

    pub(crate) const fn len(self) -> usize {
        match self {
            Self::Short(_) => 2,
            Self::Extended(_) => 8,
        }
    }

    pub(crate) fn read(mode: Mode, fields: &mut Reader<'_>) -> Result<Self, Error> {
        match mode {
            Mode::Short => fields.u16().map(Self::Short),
            Mode::Extended => fields.take().map(|sent| Self::Extended(Eui64(reversed(sent)))),
        }
    }

    pub(crate) fn write(self, fields: &mut Writer<'_>) -> Result<(), Error> {
        match self {
            Self::Short(address) => fields.put(address.to_le_bytes()),
            Self::Extended(Eui64(address)) => fields.put(reversed(address)),
        }
    }
}

/// An EUI-64 is sent least significant byte first.
fn reversed(mut bytes: [u8; 8]) -> [u8; 8] {
    bytes.reverse();
    bytes
}

/// How an address that is there is written.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mode {
    Short = 2,
    Extended,
}

impl Mode {
    pub(crate) fn from_bits(bits: u16) -> Result<Option<Self>, Error> {
        match bits & 3 {
            0 => Ok(None),
            2 => Ok(Some(Self::Short)),
            3 => Ok(Some(Self::Extended)),
            _ => Err(Error::AddressingMode),
        }
    }
}

/// One side of a frame: a device, or several, in a PAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The PAN.
    pub pan_id: u16,
    /// The device.
    pub address: Address,
}

/// A frame's MAC header (7.2.1), with the auxiliary security header if there is one.
///
/// Whether the source PAN id is left out is no choice: it is exactly when both PAN ids are
/// the same (7.5.6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the frame is for.
    pub frame_type: FrameType,
    /// Whether the sender has more for the receiver.
    pub pending: bool,
    /// Whether the receiver is to acknowledge the frame.
    pub ack_request: bool,
    /// The version needed to read the frame.
    pub version: Version,
    /// The sequence number.
    pub sequence: u8,
    /// To whom; `None` is the PAN coordinator or, in beacons and acknowledgements, nobody.
    pub destination: Option<Endpoint>,
    /// From whom; `None` is the PAN coordinator or, in acknowledgements, nobody.
    pub source: Option<Endpoint>,
    /// How the frame is secured.
    pub security: Option<AuxiliaryHeader>,
}

pub(crate) const SECURITY: u16 = 1 << 3;
pub(crate) const PENDING: u16 = 1 << 4;
pub(crate) const ACK_REQUEST: u16 = 1 << 5;
pub(crate) const PAN_ID_COMPRESSION: u16 = 1 << 6;

impl Header {
    /// The header at the front of `frame`, and its length.
    ///
    /// Reserved bits are ignored. The FCS is not looked at: see [`check_fcs`](crate::check_fcs).
    pub fn parse(frame: &[u8]) -> Result<(Self, usize), Error> {
        let mut fields = Reader(frame);
        let control = fields.u16()?;
        let frame_type = FrameType::from_bits(control)?;
        let version = match control >> 12 & 3 {
            0 => Version::V2003,
            1 => Version::V2006,
            _ => return Err(Error::Version),
        };
        let secured = control & SECURITY != 0;
        if secured && version == Version::V2003 {
            return Err(Error::LegacySecurity);
        }
        let sequence = fields.u8()?;
        let destination = match Mode::from_bits(control >> 10)? {
            None => None,
            Some(mode) => {
                Some(Endpoint { pan_id: fields.u16()?, address: Address::read(mode, &mut fields)? })
            }
        };
        let compressed = control & PAN_ID_COMPRESSION != 0;
        let source = match Mode::from_bits(control >> 14)? {
            None if compressed => return Err(Error::PanIdCompression),
            None => None,
            Some(mode) => {
                let pan_id = match (compressed, destination) {
                    (false, _) => fields.u16()?,
                    (true, Some(destination)) => destination.pan_id,
                    (true, None) => return Err(Error::PanIdCompression),
                };
                Some(Endpoint { pan_id, address: Address::read(mode, &mut fields)? })
            }
        };
        let security = if secured { Some(AuxiliaryHeader::read(&mut fields)?) } else { None };
        let header = Self {
            frame_type,
            pending: control & PENDING != 0,
            ack_request: control & ACK_REQUEST != 0,
            version,
            sequence,
            destination,
            source,
            security,
        };
        Ok((header, frame.len() - fields.0.len()))
    }

    /// Length of the header when emitted, in bytes.
    pub const fn emitted_len(&self) -> usize {
        let mut len = 3;
        if let Some(destination) = self.destination {
            len += 2 + destination.address.len();
        }
        if let Some(source) = self.source {
            len += if self.elides_source_pan_id() { 0 } else { 2 } + source.address.len();
        }
        if let Some(security) = &self.security {
            len += security.len();
        }
        len
    }

    /// Writes the header to the front of `out` and returns its length.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        if self.security.is_some() && self.version == Version::V2003 {
            return Err(Error::LegacySecurity);
        }
        let room = out.len();
        let elided = self.elides_source_pan_id();
        let mut control = self.frame_type as u16 | (self.version as u16) << 12;
        let flag = |set: bool, flag: u16| if set { flag } else { 0 };
        control |= flag(self.security.is_some(), SECURITY);
        control |= flag(self.pending, PENDING);
        control |= flag(self.ack_request, ACK_REQUEST);
        control |= flag(elided, PAN_ID_COMPRESSION);
        control |= self.destination.map_or(0, |to| (to.address.mode() as u16) << 10);
        control |= self.source.map_or(0, |from| (from.address.mode() as u16) << 14);

        let mut fields = Writer(out);
        fields.put(control.to_le_bytes())?;
        fields.put([self.sequence])?;
        if let Some(Endpoint { pan_id, address }) = self.destination {
            fields.put(pan_id.to_le_bytes())?;
            address.write(&mut fields)?;
        }
        if let Some(Endpoint { pan_id, address }) = self.source {
            if !elided {
                fields.put(pan_id.to_le_bytes())?;
            }
            address.write(&mut fields)?;
        }
        if let Some(security) = &self.security {
            security.write(&mut fields)?;
        }
        Ok(room - fields.0.len())
    }

    const fn elides_source_pan_id(&self) -> bool {
        match (self.destination, self.source) {
            (Some(destination), Some(source)) => destination.pan_id == source.pan_id,
            _ => false,
        }
    }
}

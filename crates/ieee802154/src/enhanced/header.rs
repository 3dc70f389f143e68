use super::Security;
use crate::fields::{Reader, Writer};
use crate::header::{ACK_REQUEST, Mode, PAN_ID_COMPRESSION, PENDING, SECURITY};
use crate::{Address, Error, FrameType};

const SEQUENCE_SUPPRESSION: u16 = 1 << 8;
const ELEMENTS: u16 = 1 << 9;
/// Version 2 in frame control.
const VERSION: u16 = 2 << 12;
const VERSION_MASK: u16 = 3 << 12;

/// The MAC header of a frame of version 2 (7.2), with the auxiliary security header if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the frame is for.
    pub frame_type: FrameType,
    /// Whether the sender has more for the receiver.
    pub pending: bool,
    /// Whether the receiver is to acknowledge the frame.
    pub ack_request: bool,
    /// The sequence number, if it is not left out.
    pub sequence: Option<u8>,
    /// The PAN of the receiver, or of both, if it is not left out.
    pub destination_pan_id: Option<u16>,
    /// To whom.
    pub destination: Option<Address>,
    /// The PAN of the sender, if it is not left out.
    pub source_pan_id: Option<u16>,
    /// From whom.
    pub source: Option<Address>,
    /// How the frame is secured.
    pub security: Option<Security>,
    /// Whether information elements follow.
    pub elements: bool,
}

/// Whether the PAN ids of the destination and of the source are there, by how their addresses are written and by the bit of PAN id
/// compression (table 7-2).
const fn pan_ids(destination: Option<Mode>, source: Option<Mode>, compressed: bool) -> (bool, bool) {
    match (destination, source) {
        (None, None) => (compressed, false),
        (Some(_), None) | (Some(Mode::Extended), Some(Mode::Extended)) => (!compressed, false),
        (None, Some(_)) => (false, !compressed),
        (Some(_), Some(_)) => (true, !compressed),
    }
}

impl Header {
    /// The header at the front of `frame`, and its length.
    ///
    /// Reserved bits are ignored. The FCS is not looked at: see [`check_fcs`](crate::check_fcs).
    pub fn parse(frame: &[u8]) -> Result<(Self, usize), Error> {
        let mut fields = Reader(frame);
        let control = fields.u16()?;
        let frame_type = FrameType::from_bits(control)?;
        if control & VERSION_MASK != VERSION {
            return Err(Error::Version);
        }
        let has = |flag: u16| control & flag != 0;
        let (destination, source) = (Mode::from_bits(control >> 10)?, Mode::from_bits(control >> 14)?);
        let (has_destination_pan_id, has_source_pan_id) =
            pan_ids(destination, source, has(PAN_ID_COMPRESSION));
        let sequence = if has(SEQUENCE_SUPPRESSION) { None } else { Some(fields.u8()?) };
        let destination_pan_id = if has_destination_pan_id { Some(fields.u16()?) } else { None };
        let destination = destination.map(|mode| Address::read(mode, &mut fields)).transpose()?;
        let source_pan_id = if has_source_pan_id { Some(fields.u16()?) } else { None };
        let source = source.map(|mode| Address::read(mode, &mut fields)).transpose()?;
        let security = if has(SECURITY) { Some(Security::read(&mut fields)?) } else { None };
        let header = Self {
            frame_type,
            pending: has(PENDING),
            ack_request: has(ACK_REQUEST),
            sequence,
            destination_pan_id,
            destination,
            source_pan_id,
            source,
            security,
            elements: has(ELEMENTS),
        };
        Ok((header, frame.len() - fields.0.len()))
    }

    /// Length of the header when emitted, in bytes.
    pub fn emitted_len(&self) -> usize {
        2 + self.sequence.map_or(0, |_| 1)
            + self.destination_pan_id.map_or(0, |_| 2)
            + self.destination.map_or(0, Address::len)
            + self.source_pan_id.map_or(0, |_| 2)
            + self.source.map_or(0, Address::len)
            + self.security.map_or(0, |security| security.len())
    }

    /// Writes the header to the front of `out` and returns its length; refuses PAN ids of which no frame has as many, or as few, beside
    /// its addresses.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        let (destination, source) = (self.destination.map(Address::mode), self.source.map(Address::mode));
        let wanted = (self.destination_pan_id.is_some(), self.source_pan_id.is_some());
        let compressed = [false, true]
            .into_iter()
            .find(|&compressed| pan_ids(destination, source, compressed) == wanted)
            .ok_or(Error::PanIdCompression)?;
        let flag = |set: bool, flag: u16| if set { flag } else { 0 };
        let bits = |mode: Option<Mode>| mode.map_or(0, |mode| mode as u16);
        let control = self.frame_type as u16
            | VERSION
            | flag(self.security.is_some(), SECURITY)
            | flag(self.pending, PENDING)
            | flag(self.ack_request, ACK_REQUEST)
            | flag(compressed, PAN_ID_COMPRESSION)
            | flag(self.sequence.is_none(), SEQUENCE_SUPPRESSION)
            | flag(self.elements, ELEMENTS)
            | bits(destination) << 10
            | bits(source) << 14;

        let room = out.len();
        let mut fields = Writer(out);
        fields.put(control.to_le_bytes())?;
        self.sequence.map_or(Ok(()), |sequence| fields.put([sequence]))?;
        self.destination_pan_id.map_or(Ok(()), |pan_id| fields.put(pan_id.to_le_bytes()))?;
        self.destination.map_or(Ok(()), |address| address.write(&mut fields))?;
        self.source_pan_id.map_or(Ok(()), |pan_id| fields.put(pan_id.to_le_bytes()))?;
        self.source.map_or(Ok(()), |address| address.write(&mut fields))?;
        self.security.map_or(Ok(()), |security| security.write(&mut fields))?;
        Ok(room - fields.0.len())
    }
}

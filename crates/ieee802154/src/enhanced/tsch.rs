//! The elements of TSCH.

use super::Asn;
use crate::Error;
use crate::fields::Reader;

/// The header element of an acknowledgement that says how early or late a frame came (7.4.2.7).
pub const TIME_CORRECTION: u8 = 0x1e;
/// The nested element with a [`Synchronization`].
pub const SYNCHRONIZATION: u8 = 0x1a;
/// The nested element with [`Slotframes`].
pub const SLOTFRAME_AND_LINK: u8 = 0x1b;
/// The nested element with a [`Timeslot`].
pub const TIMESLOT: u8 = 0x1c;
/// The nested element, of the long kind, whose first byte is the number of the channel hopping sequence (7.4.4.31). What follows if the
/// receiver is not to know the sequence is not read.
pub const CHANNEL_HOPPING: u8 = 0x9;

/// How early or late a frame came, as its receiver saw it, and whether it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeCorrection {
    /// What the sender is to add to its clock, in microseconds, -2048 to 2047.
    pub microseconds: i16,
    /// Whether the frame was not taken though it came.
    pub is_nack: bool,
}

impl TimeCorrection {
    const NACK: u16 = 1 << 15;

    /// The content of the element [`TIME_CORRECTION`]; a time beyond what it can say is the largest that it can.
    pub fn emit(self) -> [u8; 2] {
        let time = self.microseconds.clamp(-2048, 2047).cast_unsigned() & 0x0fff;
        (time | if self.is_nack { Self::NACK } else { 0 }).to_le_bytes()
    }

    /// The same, read.
    pub fn parse(content: &[u8]) -> Result<Self, Error> {
        let content = content.try_into().map_err(|_| Error::InformationElement)?;
        let bits = u16::from_le_bytes(content);
        // The sign is the highest of twelve bits.
        Ok(Self { microseconds: (bits << 4).cast_signed() >> 4, is_nack: bits & Self::NACK != 0 })
    }
}

/// When a beacon was sent, and how near its sender is to the coordinator (7.4.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synchronization {
    /// The slot in which the beacon was sent.
    pub asn: Asn,
    /// How near: 0 is the coordinator.
    pub join_metric: u8,
}

impl Synchronization {
    /// The content of the element [`SYNCHRONIZATION`].
    pub const fn emit(self) -> [u8; 6] {
        let [a, b, c, d, e] = self.asn.to_le_bytes();
        [a, b, c, d, e, self.join_metric]
    }

    /// The same, read.
    pub fn parse(content: &[u8]) -> Result<Self, Error> {
        match *content {
            [a, b, c, d, e, join_metric] => {
                Ok(Self { asn: Asn::from_le_bytes([a, b, c, d, e]), join_metric })
            }
            _ => Err(Error::InformationElement),
        }
    }
}

/// The times inside a timeslot, in microseconds from its begin where nothing else is said (8.4.3.3.4, macTimeslotTemplate).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeslotTimes {
    /// When the assessment of the channel begins (macTsCcaOffset).
    pub cca_offset: u16,
    /// How long it is (macTsCca).
    pub cca: u16,
    /// When the frame begins (macTsTxOffset).
    pub tx_offset: u16,
    /// When its receiver begins to listen (macTsRxOffset).
    pub rx_offset: u16,
    /// From the end of the frame until its sender listens for the acknowledgement (macTsRxAckDelay).
    pub rx_ack_delay: u16,
    /// From the end of the frame to the acknowledgement (macTsTxAckDelay).
    pub tx_ack_delay: u16,
    /// How long a frame is waited for (macTsRxWait).
    pub rx_wait: u16,
    /// How long an acknowledgement is waited for (macTsAckWait).
    pub ack_wait: u16,
    /// From receiving to sending (macTsRxTx).
    pub rx_tx: u16,
    /// The longest acknowledgement (macTsMaxAck).
    pub max_ack: u16,
    /// The longest frame (macTsMaxTx).
    pub max_tx: u16,
    /// The timeslot itself (macTsTimeslotLength).
    pub timeslot_length: u16,
}

impl TimeslotTimes {
    /// Those of template 0 at 2.4 GHz.
    pub const DEFAULT: Self = Self {
        cca_offset: 1800,
        cca: 128,
        tx_offset: 2120,
        rx_offset: 1020,
        rx_ack_delay: 800,
        tx_ack_delay: 1000,
        rx_wait: 2200,
        ack_wait: 400,
        rx_tx: 192,
        max_ack: 2400,
        max_tx: 4256,
        timeslot_length: 10_000,
    };
}

/// The template of the times inside a timeslot (7.4.4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeslot {
    /// The template's number.
    pub template: u8,
    /// Its times, if the receiver is not to know them.
    pub times: Option<TimeslotTimes>,
}

impl Timeslot {
    /// Length of the content with times, in bytes.
    pub const MAX_LEN: usize = 25;

    /// Writes the content of the element [`TIMESLOT`] to the front of `out`, and returns it.
    pub fn emit(self, out: &mut [u8; Self::MAX_LEN]) -> &[u8] {
        out[0] = self.template;
        let Some(times) = self.times else { return &out[..1] };
        let TimeslotTimes { cca_offset, cca, tx_offset, rx_offset, rx_ack_delay, tx_ack_delay, .. } = times;
        let TimeslotTimes { rx_wait, ack_wait, rx_tx, max_ack, max_tx, timeslot_length, .. } = times;
        let first = [cca_offset, cca, tx_offset, rx_offset, rx_ack_delay, tx_ack_delay];
        let last = [rx_wait, ack_wait, rx_tx, max_ack, max_tx, timeslot_length];
        for (place, time) in out[1..].as_chunks_mut().0.iter_mut().zip(first.into_iter().chain(last)) {
            *place = time.to_le_bytes();
        }
        out
    }

    /// The same, read. The form whose two last times are of three bytes is refused, as slots longer than 65,535 µs are.
    pub fn parse(content: &[u8]) -> Result<Self, Error> {
        let (&template, times) = content.split_first().ok_or(Error::InformationElement)?;
        if times.is_empty() {
            return Ok(Self { template, times: None });
        }
        let times: &[u8; Self::MAX_LEN - 1] = times.try_into().map_err(|_| Error::InformationElement)?;
        let mut fields = Reader(times);
        let times = TimeslotTimes {
            cca_offset: fields.u16()?,
            cca: fields.u16()?,
            tx_offset: fields.u16()?,
            rx_offset: fields.u16()?,
            rx_ack_delay: fields.u16()?,
            tx_ack_delay: fields.u16()?,
            rx_wait: fields.u16()?,
            ack_wait: fields.u16()?,
            rx_tx: fields.u16()?,
            max_ack: fields.u16()?,
            max_tx: fields.u16()?,
            timeslot_length: fields.u16()?,
        };
        Ok(Self { template, times: Some(times) })
    }
}

/// Of a link's options: its device may send in it.
pub const LINK_TRANSMIT: u8 = 1 << 0;
/// Its device listens in it.
pub const LINK_RECEIVE: u8 = 1 << 1;
/// Several may send in it, and back off.
pub const LINK_SHARED: u8 = 1 << 2;
/// Time may be kept by what is received in it.
pub const LINK_TIMEKEEPING: u8 = 1 << 3;
/// It goes before others at the same time.
pub const LINK_PRIORITY: u8 = 1 << 4;

/// A cell of a slotframe in which a device sends or listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The timeslot inside the slotframe.
    pub timeslot: u16,
    /// The offset that is added to the slot's number where the channel is looked up.
    pub channel_offset: u16,
    /// What it is for: the sum of what begins with `LINK_`.
    pub options: u8,
}

/// A slotframe: so many timeslots, again and again, with the links in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slotframe<'f> {
    /// Its number.
    pub handle: u8,
    /// How many timeslots it has.
    pub size: u16,
    links: &'f [[u8; 5]],
}

impl<'f> Slotframe<'f> {
    /// Its links.
    pub const fn links(&self) -> Links<'f> {
        Links(self.links)
    }
}

/// The links of a slotframe, one after the other.
#[derive(Clone, Debug)]
pub struct Links<'f>(&'f [[u8; 5]]);

impl Iterator for Links<'_> {
    type Item = Link;

    fn next(&mut self) -> Option<Link> {
        let (&[a, b, c, d, options], rest) = self.0.split_first()?;
        self.0 = rest;
        let (timeslot, channel_offset) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        Some(Link { timeslot, channel_offset, options })
    }
}

/// The slotframes that a beacon tells of (7.4.4.3), one after the other.
#[derive(Clone, Debug)]
pub struct Slotframes<'f> {
    left: u8,
    rest: Reader<'f>,
}

impl<'f> Slotframes<'f> {
    /// Those of this content of the element [`SLOTFRAME_AND_LINK`].
    pub fn parse(content: &'f [u8]) -> Result<Self, Error> {
        let mut rest = Reader(content);
        let left = rest.u8().map_err(|_| Error::InformationElement)?;
        Ok(Self { left, rest })
    }

    /// The content of the element with one slotframe and one link, as the minimal schedule has them
    /// ([RFC 8180 section 4.1](https://www.rfc-editor.org/rfc/rfc8180#section-4.1)).
    pub const fn emit_minimal(handle: u8, size: u16, link: Link) -> [u8; 10] {
        let [size_low, size_high] = size.to_le_bytes();
        let [slot_low, slot_high] = link.timeslot.to_le_bytes();
        let [channel_low, channel_high] = link.channel_offset.to_le_bytes();
        [1, handle, size_low, size_high, 1, slot_low, slot_high, channel_low, channel_high, link.options]
    }

    fn read(&mut self) -> Result<Slotframe<'f>, Error> {
        let fields = &mut self.rest;
        let (handle, size, links) = (fields.u8()?, fields.u16()?, fields.u8()?);
        let links = fields.slice(usize::from(links) * 5)?.as_chunks().0;
        Ok(Slotframe { handle, size, links })
    }
}

impl<'f> Iterator for Slotframes<'f> {
    type Item = Result<Slotframe<'f>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let read = self.read();
        if read.is_err() {
            self.left = 0;
        }
        Some(read)
    }
}

//! Information elements of frames of version 2: those of TSCH by their fields, all others by their number and bytes.

use std::fmt;

use serde::{Serialize, Serializer};
use sixlock_ieee802154::Error;
use sixlock_ieee802154::enhanced::{
    self, CHANNEL_HOPPING, Follows, HeaderElements, LINK_PRIORITY, LINK_RECEIVE, LINK_SHARED,
    LINK_TIMEKEEPING, LINK_TRANSMIT, MLME, NestedElements, PayloadElements, SLOTFRAME_AND_LINK,
    SYNCHRONIZATION, Slotframes, TIME_CORRECTION, TIMESLOT, TimeslotTimes,
};

use crate::shown::Hex;

/// The information elements of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Elements {
    /// Their bytes, with those that end them.
    pub bytes: usize,
    /// Those of the header, then those of the payload.
    pub elements: Vec<Element>,
}

/// An information element.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Element {
    /// How early or late a frame came.
    TimeCorrection {
        /// The time that its sender is to add to its clock.
        microseconds: i16,
        /// Whether it was not taken.
        nack: bool,
    },
    /// When a beacon was sent.
    Synchronization {
        /// The number of its slot.
        asn: u64,
        /// How near to the coordinator.
        join_metric: u8,
    },
    /// The times inside a slot.
    Timeslot {
        /// The template's number.
        template: u8,
        /// Its times in microseconds, if they are told.
        #[serde(serialize_with = "serialize_times", skip_serializing_if = "Option::is_none")]
        times: Option<TimeslotTimes>,
    },
    /// The hopping sequence.
    ChannelHopping {
        /// Its number.
        sequence: u8,
    },
    /// Slotframes and the links in them.
    SlotframeAndLink {
        /// The slotframes.
        slotframes: Vec<Slotframe>,
    },
    /// Another one of the header.
    Header(Unknown),
    /// Another one of the payload.
    Payload(Unknown),
    /// Another one inside one of the payload.
    Nested(Unknown),
}

/// An element that is not known here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// Its number among those of its place.
    pub id: u8,
    /// Its content.
    pub content: Hex,
}

/// A slotframe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Slotframe {
    /// Its number.
    pub handle: u8,
    /// How many slots it has.
    pub size: u16,
    /// The links in it.
    pub links: Vec<Link>,
}

/// A link of a slotframe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// The slot inside the slotframe.
    pub timeslot: u16,
    /// The channel offset.
    pub channel_offset: u16,
    /// Its uses: `transmit`, `receive`, `shared`, `timekeeping`, `priority`.
    pub options: Vec<&'static str>,
}

const LINK_OPTIONS: [(u8, &str); 5] = [
    (LINK_TRANSMIT, "transmit"),
    (LINK_RECEIVE, "receive"),
    (LINK_SHARED, "shared"),
    (LINK_TIMEKEEPING, "timekeeping"),
    (LINK_PRIORITY, "priority"),
];

impl Elements {
    /// Adds the header elements at the front of `bytes`; what follows them, and of what kind it is.
    pub(crate) fn read_header<'f>(&mut self, bytes: &'f [u8]) -> Result<(Follows, &'f [u8]), Error> {
        let mut elements = HeaderElements::new(bytes);
        for element in elements.by_ref() {
            self.elements.push(Element::of_header(element?));
        }
        let (follows, rest) = elements.follows().unwrap_or((Follows::Payload, &[]));
        self.bytes += bytes.len() - rest.len();
        Ok((follows, rest))
    }

    /// Adds the payload elements at the front of `bytes`, if that is what `follows`; the payload behind them.
    pub(crate) fn read_payload<'f>(&mut self, follows: Follows, bytes: &'f [u8]) -> Result<&'f [u8], Error> {
        if follows == Follows::Payload {
            return Ok(bytes);
        }
        let mut elements = PayloadElements::new(bytes);
        for element in elements.by_ref() {
            let element = element?;
            if element.id != MLME {
                self.elements.push(Element::Payload(element.into()));
                continue;
            }
            for nested in NestedElements::new(element.content) {
                self.elements.push(Element::nested(nested?));
            }
        }
        let payload = elements.payload().unwrap_or_default();
        self.bytes += bytes.len() - payload.len();
        Ok(payload)
    }

    /// The number of the slot of the beacon with these elements.
    pub(crate) fn asn(&self) -> Option<enhanced::Asn> {
        self.elements.iter().find_map(|element| match element {
            Element::Synchronization { asn, .. } => enhanced::Asn::new(*asn),
            _ => None,
        })
    }

    /// The times inside slots that they tell.
    pub(crate) fn times(&self) -> Option<TimeslotTimes> {
        self.elements.iter().find_map(|element| match element {
            Element::Timeslot { times, .. } => *times,
            _ => None,
        })
    }
}

impl Element {
    fn of_header(element: enhanced::Element<'_>) -> Self {
        match (element.id, enhanced::TimeCorrection::parse(element.content)) {
            (TIME_CORRECTION, Ok(enhanced::TimeCorrection { microseconds, is_nack: nack })) => {
                Self::TimeCorrection { microseconds, nack }
            }
            _ => Self::Header(element.into()),
        }
    }

    /// A nested element. One whose content is of a form that is not read is one that is not known.
    fn nested(element: enhanced::Element<'_>) -> Self {
        let known = match element.id {
            SYNCHRONIZATION => enhanced::Synchronization::parse(element.content)
                .ok()
                .map(|told| Self::Synchronization { asn: told.asn.number(), join_metric: told.join_metric }),
            TIMESLOT => enhanced::Timeslot::parse(element.content)
                .ok()
                .map(|enhanced::Timeslot { template, times }| Self::Timeslot { template, times }),
            CHANNEL_HOPPING => match *element.content {
                [sequence] => Some(Self::ChannelHopping { sequence }),
                _ => None,
            },
            SLOTFRAME_AND_LINK => {
                slotframes(element.content).map(|slotframes| Self::SlotframeAndLink { slotframes })
            }
            _ => None,
        };
        known.unwrap_or_else(|| Self::Nested(element.into()))
    }
}

fn slotframes(content: &[u8]) -> Option<Vec<Slotframe>> {
    let slotframes = Slotframes::parse(content).ok()?.map(|read| {
        let slotframe = read.ok()?;
        let links = slotframe.links().map(|link| Link {
            timeslot: link.timeslot,
            channel_offset: link.channel_offset,
            options: LINK_OPTIONS
                .iter()
                .filter_map(|&(option, name)| (link.options & option != 0).then_some(name))
                .collect(),
        });
        Some(Slotframe { handle: slotframe.handle, size: slotframe.size, links: links.collect() })
    });
    slotframes.collect()
}

impl From<enhanced::Element<'_>> for Unknown {
    fn from(element: enhanced::Element<'_>) -> Self {
        Self { id: element.id, content: Hex(element.content.to_vec()) }
    }
}

/// Writes the times by the names that the standard has for them.
fn serialize_times<S: Serializer>(times: &Option<TimeslotTimes>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(times.iter().flat_map(|times| {
        [
            ("cca_offset", times.cca_offset),
            ("cca", times.cca),
            ("tx_offset", times.tx_offset),
            ("rx_offset", times.rx_offset),
            ("rx_ack_delay", times.rx_ack_delay),
            ("tx_ack_delay", times.tx_ack_delay),
            ("rx_wait", times.rx_wait),
            ("ack_wait", times.ack_wait),
            ("rx_tx", times.rx_tx),
            ("max_ack", times.max_ack),
            ("max_tx", times.max_tx),
            ("timeslot_length", times.timeslot_length),
        ]
    }))
}

impl fmt::Display for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("elements")?;
        self.elements
            .iter()
            .enumerate()
            .try_for_each(|(place, element)| write!(f, "{}{element}", if place == 0 { " " } else { ", " }))
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeCorrection { microseconds, nack } => {
                write!(f, "time correction {microseconds} µs")?;
                if *nack { f.write_str(" nack") } else { Ok(()) }
            }
            Self::Synchronization { asn, join_metric } => write!(f, "ASN {asn} join metric {join_metric}"),
            Self::Timeslot { template, times } => {
                write!(f, "timeslot {template}")?;
                times.map_or(Ok(()), |times| write!(f, " of {} µs", times.timeslot_length))
            }
            Self::ChannelHopping { sequence } => write!(f, "hopping sequence {sequence}"),
            Self::SlotframeAndLink { slotframes } => {
                if slotframes.is_empty() {
                    return f.write_str("no slotframe");
                }
                slotframes.iter().enumerate().try_for_each(|(place, Slotframe { handle, size, links })| {
                    let between = if place == 0 { "" } else { ", " };
                    write!(f, "{between}slotframe {handle} of {size} slots")?;
                    links
                        .iter()
                        .try_for_each(|link| write!(f, " link {}/{}", link.timeslot, link.channel_offset))
                })
            }
            Self::Header(Unknown { id, content }) => write!(f, "header 0x{id:02x} of {}", content.0.len()),
            Self::Payload(Unknown { id, content }) => write!(f, "payload 0x{id:x} of {}", content.0.len()),
            Self::Nested(Unknown { id, content }) => write!(f, "nested 0x{id:02x} of {}", content.0.len()),
        }
    }
}

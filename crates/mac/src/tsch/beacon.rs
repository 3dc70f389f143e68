//! Enhanced beacons ([RFC 8180 section 4.5.2](https://www.rfc-editor.org/rfc/rfc8180#section-4.5.2)).

use sixlock_base::{Cx, Entropy, Eui64, Nv, Symbols};
use sixlock_crypto::Crypto;
use sixlock_ieee802154::enhanced::{
    Asn, CHANNEL_HOPPING, ElementWriter, Follows, Header, HeaderElements, LINK_RECEIVE, LINK_SHARED,
    LINK_TIMEKEEPING, LINK_TRANSMIT, Link, MLME, NestedElements, PayloadElements, SLOTFRAME_AND_LINK,
    SYNCHRONIZATION, Slotframes, Synchronization, TIMESLOT, Timeslot, TimeslotTimes,
};
use sixlock_ieee802154::{Address, BROADCAST as BROADCAST_SHORT, FrameType};

use super::slot::Tsch;
use crate::LinkLayer;
use crate::airtime::airtime;

/// The one link of the minimal schedule.
const SHARED: Link = Link {
    timeslot: 0,
    channel_offset: 0,
    options: LINK_TRANSMIT | LINK_RECEIVE | LINK_SHARED | LINK_TIMEKEEPING,
};

/// What a beacon says of its network.
pub(super) struct Beacon {
    pub(super) synchronization: Synchronization,
    timeslot: Timeslot,
    /// The length of the slotframe with the shared link.
    slotframe: u16,
}

impl Beacon {
    /// Reads what follows the header of a beacon. `None` if it is none of a network of the minimal schedule.
    pub(super) fn read(elements: &[u8]) -> Option<Self> {
        let mut headers = HeaderElements::new(elements);
        if headers.by_ref().any(|element| element.is_err()) {
            return None;
        }
        let (Follows::PayloadElements, rest) = headers.follows()? else { return None };
        let (mut synchronization, mut slotframe) = (None, None);
        let mut timeslot = Timeslot { template: 0, times: None };
        for element in PayloadElements::new(rest) {
            let element = element.ok()?;
            if element.id != MLME {
                continue;
            }
            for nested in NestedElements::new(element.content) {
                let nested = nested.ok()?;
                match nested.id {
                    SYNCHRONIZATION => synchronization = Some(Synchronization::parse(nested.content).ok()?),
                    TIMESLOT => timeslot = Timeslot::parse(nested.content).ok()?,
                    CHANNEL_HOPPING if nested.content != [0] => return None,
                    SLOTFRAME_AND_LINK => {
                        let first = Slotframes::parse(nested.content).ok()?.next()?.ok()?;
                        slotframe = first.links().any(|link| link == SHARED).then_some(first.size);
                    }
                    _ => {}
                }
            }
        }
        let times = match timeslot {
            Timeslot { times: Some(times), .. } => times,
            Timeslot { template: 0, .. } => TimeslotTimes::DEFAULT,
            // A template that is not told is not known.
            _ => return None,
        };
        let is_usable = times.tx_offset < times.timeslot_length
            && times.rx_offset < times.tx_offset
            && times.timeslot_length >= TimeslotTimes::DEFAULT.timeslot_length / 2;
        let slotframe = slotframe.filter(|&size| size > 0 && is_usable)?;
        Some(Self { synchronization: synchronization?, timeslot, slotframe })
    }
}

impl<C: Crypto, L: LinkLayer> Tsch<C, L> {
    /// Writes a beacon of this slot to `out`.
    pub(super) fn write_beacon<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, asn: Asn) -> bool {
        let Some(join_metric) = self.join_metric else { return false };
        let header = Header {
            frame_type: FrameType::Beacon,
            pending: false,
            ack_request: false,
            sequence: None,
            destination_pan_id: Some(self.pan_id),
            destination: Some(Address::Short(BROADCAST_SHORT)),
            source_pan_id: None,
            source: Some(Address::Extended(self.address)),
            security: self.security().map(|security| security.header(true)),
            elements: true,
        };
        let (timeslot, size) = (self.timeslot, self.slotframes.shared);
        let Ok(header_len) = header.emit(&mut self.out) else { return false };
        let mut writer = ElementWriter::new(&mut self.out[header_len..]);
        let written = writer.end_header(Follows::PayloadElements).and_then(|()| {
            writer.mlme(|nested| {
                nested.short(SYNCHRONIZATION, &Synchronization { asn, join_metric }.emit())?;
                nested.short(TIMESLOT, timeslot.emit(&mut [0; Timeslot::MAX_LEN]))?;
                nested.long(CHANNEL_HOPPING, &[0])?;
                nested.short(SLOTFRAME_AND_LINK, &Slotframes::emit_minimal(0, size, SHARED))
            })
        });
        let len = header_len + writer.len();
        written.is_ok() && self.close(cx, asn, header.security, len, len)
    }

    /// Joins by an authentic beacon of `len` bytes, whose last symbol came in at `at`.
    pub(super) fn join_by(&mut self, at: Symbols, len: usize, from: Eui64, beacon: &Beacon) {
        self.set_timeslot(beacon.timeslot);
        self.slotframes.shared = beacon.slotframe;
        let begin = at.before(airtime(len)).before(self.times.transmit_offset);
        self.join(at, (beacon.synchronization.asn, begin), from);
        self.hear_metric(from, beacon.synchronization.join_metric);
    }
}

//! Frames in time slots, as a sniffer hears them a second apart.

use sixlock_crypto::{BlockCiphers, CcmNonce, CcmTag, Soft, Tag};
use sixlock_ieee802154::enhanced::{
    Asn, CHANNEL_HOPPING, ElementWriter, Follows, Header, LINK_RECEIVE, LINK_SHARED, LINK_TRANSMIT, Link,
    NonceCounter, SLOTFRAME_AND_LINK, SYNCHRONIZATION, Security, Slotframes, Synchronization,
    TIME_CORRECTION, TIMESLOT, TimeCorrection, Timeslot, TimeslotTimes,
};
use sixlock_ieee802154::{Address, BROADCAST, FrameType, KeyId, MAX_FRAME, SecurityLevel};

use crate::link::{KEY, KEY_INDEX, NEIGHBOUR, OWN, PAN};

/// Slots in a second.
const SLOTS: u64 = 100;

/// A beacon, a frame with `payload` and its acknowledgement, without FCS.
pub(crate) fn frames(is_secured: bool, payload: &[u8]) -> Vec<Vec<u8>> {
    let header = |frame_type| Header {
        frame_type,
        pending: false,
        ack_request: false,
        sequence: Some(1),
        destination_pan_id: Some(PAN),
        destination: Some(Address::Extended(OWN)),
        source_pan_id: None,
        source: Some(Address::Extended(NEIGHBOUR)),
        security: is_secured.then_some(Security {
            level: SecurityLevel::EncMic64,
            key_id: KeyId::Index(KEY_INDEX),
            counter: NonceCounter::Asn { frame_counter: None },
        }),
        elements: false,
    };
    let asn = |second| Asn::new(SLOTS * second).expect("it is not late");

    let mut beacon = header(FrameType::Beacon);
    (beacon.sequence, beacon.destination, beacon.elements) = (None, Some(Address::Short(BROADCAST)), true);
    if let Some(security) = &mut beacon.security {
        security.level = SecurityLevel::Mic64;
    }
    let link = Link { timeslot: 0, channel_offset: 0, options: LINK_TRANSMIT | LINK_RECEIVE | LINK_SHARED };
    let elements = written(|writer| {
        writer.end_header(Follows::PayloadElements).expect("room");
        let timeslot = Timeslot { template: 1, times: Some(TimeslotTimes::DEFAULT) };
        writer
            .mlme(|nested| {
                nested.short(SYNCHRONIZATION, &Synchronization { asn: asn(0), join_metric: 0 }.emit())?;
                nested.short(TIMESLOT, timeslot.emit(&mut [0; Timeslot::MAX_LEN]))?;
                nested.long(CHANNEL_HOPPING, &[0])?;
                nested.short(SLOTFRAME_AND_LINK, &Slotframes::emit_minimal(0, 101, link))
            })
            .expect("room");
    });

    let mut data = header(FrameType::Data);
    data.ack_request = true;

    let mut ack = header(FrameType::Ack);
    (ack.destination, ack.source, ack.elements) = (data.source, None, true);
    let correction = TimeCorrection { microseconds: -7, is_nack: false };
    let corrected = written(|writer| writer.header(TIME_CORRECTION, &correction.emit()).expect("room"));

    vec![
        sealed(&beacon, asn(0), &elements, &[]),
        sealed(&data, asn(1), &[], payload),
        sealed(&ack, asn(2), &corrected, &[]),
    ]
}

fn written(write: impl FnOnce(&mut ElementWriter<'_>)) -> Vec<u8> {
    let mut out = [0; MAX_FRAME];
    let mut writer = ElementWriter::new(&mut out);
    write(&mut writer);
    let length = writer.len();
    out[..length].to_vec()
}

/// The frame with this header, what stands behind that in the clear and what is encrypted, if it is secured.
fn sealed(header: &Header, asn: Asn, clear: &[u8], private: &[u8]) -> Vec<u8> {
    let mut front = vec![0; header.emitted_len()];
    header.emit(&mut front).expect("its length");
    front.extend(clear);
    let mut private = private.to_vec();
    let Some(security) = &header.security else { return [front, private].concat() };
    let sender = if header.frame_type == FrameType::Ack { OWN } else { NEIGHBOUR };
    let mut mic = Tag::empty(CcmTag::Eight);
    let nonce = security.nonce(sender, asn);
    Soft.ccm_seal(&Soft.aes_128(KEY), CcmNonce::Thirteen(&nonce), &front, &mut private, &mut mic);
    [&front, &private[..], mic.bytes()].concat()
}

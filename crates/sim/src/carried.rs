//! What a frame carries, and what it takes to read that.

use sixlock_ieee802154::{FCS, FrameType, Header};
use sixlock_sixlowpan::FragmentHeader;

use crate::costs::{Step, Work};

/// The header and the payload of a data frame, FCS included, without its MIC.
pub(crate) fn of_data_frame(frame: &[u8]) -> Option<(Header, &[u8])> {
    let body = frame.get(..frame.len().checked_sub(FCS)?)?;
    let (header, header_len) = Header::parse(body).ok()?;
    let mic = header.security.map_or(0, |security| security.level.mic_len());
    let payload = body.get(header_len..body.len().checked_sub(mic)?)?;
    (header.frame_type == FrameType::Data).then_some((header, payload))
}

/// Adds what it takes to read the payload of a data frame: a whole datagram, or a fragment with this header.
pub(crate) fn read<'p>(payload: &'p [u8], work: &mut Work) -> Option<(Option<FragmentHeader>, &'p [u8])> {
    let (fragment, datagram) = FragmentHeader::parse(payload).ok()?;
    match fragment {
        None => work.add(Step::WholeDatagram, datagram.len()),
        Some(fragment) => {
            work.add(Step::Fragment, datagram.len());
            if fragment.offset == 0 {
                work.add(Step::FirstFragment, 0);
            }
        }
    }
    Some((fragment, datagram))
}

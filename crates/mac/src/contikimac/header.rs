//! What a frame says by which its receiver may sleep again; and the header in front of its payload, which tells that from padding: `struct hdr` of
//! `contikimac.c`.

/// The length of the header in front of a payload, in bytes.
pub const LENGTH: usize = 2;
/// Its first byte (`CONTIKIMAC_ID`). In 6LoWPAN that is no dispatch of its own.
const ID: u8 = 0;

/// Set in the first byte of a frame that another follows, to the same neighbour (7.2.1.1.3).
pub(super) const PENDING: u8 = 1 << 4;
/// The frame type, and that of data, in that byte (7.2.1.1.1).
const FRAME_TYPE: u8 = 0b111;
const DATA: u8 = 1;

/// Whether a frame says to be followed by another.
pub(crate) fn is_pending(frame: &[u8]) -> bool {
    frame.first().is_some_and(|control| control & PENDING != 0)
}

/// Whether a frame carries data.
pub(crate) fn is_data(frame: &[u8]) -> bool {
    frame.first().is_some_and(|control| control & FRAME_TYPE == DATA)
}

/// Writes the header, `payload` and padding, which fill `room`.
pub(crate) fn padded(room: &mut [u8], payload: &[u8]) {
    if let [id, len, rest @ ..] = room
        && let Some((own, padding)) = rest.split_at_mut_checked(payload.len())
    {
        (*id, *len) = (ID, payload.len() as u8);
        own.copy_from_slice(payload);
        padding.fill(0);
    }
}

/// The payload behind the header, without padding; none if there is no such header, or not so much payload.
pub fn unpadded(received: &[u8]) -> Option<&[u8]> {
    match received {
        [ID, len, rest @ ..] => rest.get(..usize::from(*len)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_told_from_the_payload() {
        let mut room = [0xff; 9];
        padded(&mut room, b"abc");
        assert_eq!(room, [0, 3, b'a', b'b', b'c', 0, 0, 0, 0]);
        assert_eq!(unpadded(&room), Some(&b"abc"[..]));
        for wrong in [&[][..], &[0], &[1, 0], &[0, 3, 1, 2]] {
            assert_eq!(unpadded(wrong), None);
        }
    }
}

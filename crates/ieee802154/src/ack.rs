use crate::fcs::fcs;

/// Length of an acknowledgement frame, FCS included.
pub const ACK_FRAME: usize = 5;

/// The acknowledgement of the frame numbered `sequence`, FCS included (7.2.2.3).
pub const fn ack(sequence: u8) -> [u8; ACK_FRAME] {
    emit(0x02, sequence)
}

/// The same from a device that holds a frame for the one that asked for it: its frame pending bit is set (7.2.1.1.3).
pub const fn ack_pending(sequence: u8) -> [u8; ACK_FRAME] {
    emit(0x12, sequence)
}

const fn emit(control: u8, sequence: u8) -> [u8; ACK_FRAME] {
    let [low, high] = fcs(&[control, 0, sequence]).to_le_bytes();
    [control, 0, sequence, low, high]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FrameType, Header, Version, check_fcs};

    #[test]
    fn an_acknowledgement_is_a_frame_of_its_own_type() {
        for sequence in [0, 0x6a, 0xff] {
            let frame = ack(sequence);
            let (header, len) = Header::parse(check_fcs(&frame).unwrap()).unwrap();
            assert_eq!((header.frame_type, header.sequence, len), (FrameType::Ack, sequence, 3));
            assert_eq!((header.version, header.pending), (Version::V2003, false));
            let frame = ack_pending(sequence);
            let (header, _) = Header::parse(check_fcs(&frame).unwrap()).unwrap();
            let told = (header.frame_type, header.sequence, header.pending);
            assert_eq!(told, (FrameType::Ack, sequence, true));
        }
    }
}

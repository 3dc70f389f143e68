use crate::Error;

/// Length of the frame check sequence.
pub const FCS: usize = 2;

/// The frame check sequence of `frame`: CRC-16 ITU-T, sent low byte first (7.2.1.9).
///
/// Microcontrollers shift; processors of 64 bits, which have 4 KiB to spare, look eight bytes up at a time.
pub const fn fcs(frame: &[u8]) -> u16 {
    if cfg!(target_pointer_width = "64") { by_tables(frame) } else { by_shifts(0, frame) }
}

/// A byte's eight polynomial steps are folded into shifts of the whole byte: as fast as a
/// small table without its 32 bytes, which AVR would keep in RAM.
const fn by_shifts(mut crc: u16, frame: &[u8]) -> u16 {
    let mut rest = frame;
    while let [byte, tail @ ..] = rest {
        let mut x = *byte ^ crc as u8;
        x ^= x << 4;
        let wide = x as u16;
        crc = (wide << 8 | crc >> 8) ^ (wide >> 4) ^ (wide << 3);
        rest = tail;
    }
    crc
}

/// The CRC of each byte with so many zeros behind it.
const TABLES: [[u16; 256]; 8] = {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = by_shifts(0, &[byte as u8]);
        let mut zeros = 0;
        while zeros < 8 {
            tables[zeros][byte] = crc;
            crc = by_shifts(crc, &[0]);
            zeros += 1;
        }
        byte += 1;
    }
    tables
};

/// Eight bytes at a time are independent look-ups.
const fn by_tables(frame: &[u8]) -> u16 {
    let (mut crc, mut rest) = (0u16, frame);
    while let [a, b, c, d, e, f, g, h, tail @ ..] = rest {
        let [a, b] = [*a ^ crc as u8, *b ^ (crc >> 8) as u8];
        crc = TABLES[7][a as usize]
            ^ TABLES[6][b as usize]
            ^ TABLES[5][*c as usize]
            ^ TABLES[4][*d as usize]
            ^ TABLES[3][*e as usize]
            ^ TABLES[2][*f as usize]
            ^ TABLES[1][*g as usize]
            ^ TABLES[0][*h as usize];
        rest = tail;
    }
    by_shifts(crc, rest)
}

/// `frame` without its frame check sequence, if that fits.
pub fn check_fcs(frame: &[u8]) -> Result<&[u8], Error> {
    let (body, received) = frame.split_last_chunk::<FCS>().ok_or(Error::Truncated)?;
    if fcs(body) == u16::from_le_bytes(*received) { Ok(body) } else { Err(Error::Fcs) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, bit by bit.
    fn by_definition(frame: &[u8]) -> u16 {
        let mut crc = 0u16;
        for bit in frame.iter().flat_map(|byte| (0..8).map(move |n| u16::from(byte >> n & 1))) {
            let feedback = (crc & 1) ^ bit;
            crc = (crc >> 1) ^ (feedback * 0x8408);
        }
        crc
    }

    #[test]
    fn published_values() {
        // The check value of CRC-16/KERMIT, which is this CRC.
        assert_eq!(fcs(b"123456789"), 0x2189);
        // IEEE 802.15.4-2006, 7.2.1.9: an acknowledgement numbered 0x6a has the FCS
        // 0010 0111 1001 1110, first bit sent first.
        assert_eq!(fcs(&[0x02, 0x00, 0x6a]), 0b0010_0111_1001_1110u16.reverse_bits());
    }

    #[test]
    fn a_frame_too_short_for_an_fcs_is_truncated() {
        assert_eq!(check_fcs(&[0]), Err(Error::Truncated));
    }

    proptest! {
        #[test]
        fn it_is_the_crc_of_the_definition(frame in proptest::collection::vec(any::<u8>(), 0..130)) {
            let expected = by_definition(&frame);
            prop_assert_eq!([fcs(&frame), by_shifts(0, &frame), by_tables(&frame)], [expected; 3]);
        }

        #[test]
        fn one_flipped_bit_is_noticed(mut frame in proptest::collection::vec(any::<u8>(), 0..126), bit in 0usize..8, at: prop::sample::Index) {
            frame.extend(fcs(&frame).to_le_bytes());
            prop_assert_eq!(check_fcs(&frame).map(<[u8]>::len), Ok(frame.len() - FCS));
            let at = at.index(frame.len());
            frame[at] ^= 1 << bit;
            prop_assert_eq!(check_fcs(&frame), Err(Error::Fcs));
        }
    }
}

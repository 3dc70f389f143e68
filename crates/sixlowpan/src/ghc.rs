//! Generic header compression ([RFC 7400 section 2](https://www.rfc-editor.org/rfc/rfc7400#section-2)): a bytecode whose
//! instructions append bytes to what is restored.
//!
//! | code | appends |
//! |---|---|
//! | 0kkkkkkk | the k bytes that follow, fewer than 96 |
//! | 1000nnnn | n + 2 zeros |
//! | 10010000 | nothing: it ends an extension header |
//! | 101nssss | nothing: it adds 8 n to the next reference's length, and 8 s to its distance |
//! | 11nnnkkk | n + 2 bytes that stand as many and k bytes before its own place |
//!
//! A reference may reach into the dictionary, which stands before what is restored: the packet's addresses and
//! [`STATIC_DICTIONARY`].

use crate::Error;
use crate::cursor::{Reader, Writer};
use crate::nhc::{EXTENSION, EXTENSION_GHC, extension_protocol, protocol};

/// Beginnings of records and messages of DTLS 1.2.
const STATIC_DICTIONARY: [u8; 16] = [0x16, 0xfe, 0xfd, 0x17, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0];

/// Length of the packet's addresses, and of the whole dictionary.
const ENDS_LEN: usize = 32;
const DICTIONARY_LEN: usize = ENDS_LEN + STATIC_DICTIONARY.len();

/// The most bytes that one instruction carries.
const MAX_COPY: usize = 95;
const ZEROS: u8 = 0b1000_0000;
const ZEROS_MASK: u8 = 0b1111_0000;
const MIN_ZEROS: usize = 2;
const MAX_ZEROS: usize = 17;
const STOP: u8 = 0b1001_0000;
const EXTENDED: u8 = 0b1010_0000;
const EXTENDED_MASK: u8 = 0b1110_0000;
const REFERENCE: u8 = 0b1100_0000;
const MIN_REFERENCE: usize = 2;

/// What one byte of extended arguments adds at most, to the length and to the distance.
const EXTENDED_LENGTH: usize = 8;
const EXTENDED_DISTANCE: usize = 15 * 8;

/// How far back a compressor looks, in bytes: a bound to its work.
const WINDOW: usize = 255;

/// The byte `back` before the byte at `at` of `bytes`, in the dictionary if it stands before them all.
fn before(ends: &[u8; ENDS_LEN], bytes: &[u8], at: usize, back: usize) -> Option<u8> {
    match at.checked_sub(back) {
        Some(place) => bytes.get(place).copied(),
        None => {
            let place = (DICTIONARY_LEN + at).checked_sub(back)?;
            match place.checked_sub(ENDS_LEN) {
                Some(place) => STATIC_DICTIONARY.get(place).copied(),
                None => ends.get(place).copied(),
            }
        }
    }
}

/// An instruction that spares bytes.
#[derive(Clone, Copy)]
struct Instruction {
    /// How many bytes it appends.
    length: usize,
    /// How far back they stand; zeros stand nowhere.
    distance: Option<usize>,
    /// Bytes of extended arguments before it.
    extended: usize,
}

impl Instruction {
    /// How many bytes it spares.
    fn spared(&self) -> usize {
        self.length.saturating_sub(1 + self.extended)
    }

    fn reference(length: usize, distance: usize) -> Self {
        let by_length = (length - MIN_REFERENCE) / EXTENDED_LENGTH;
        let by_distance = ((distance - length) & !7).div_ceil(EXTENDED_DISTANCE);
        Self { length, distance: Some(distance), extended: by_length.max(by_distance) }
    }

    /// The one that spares most of what stands at `at`, if one spares anything.
    fn best(ends: &[u8; ENDS_LEN], input: &[u8], at: usize) -> Option<Self> {
        let rest = input.get(at..)?;
        let zeros = rest.iter().take(MAX_ZEROS).take_while(|&&byte| byte == 0).count();
        let mut best = Self { length: zeros, distance: None, extended: 0 };
        for distance in MIN_REFERENCE..=WINDOW.min(DICTIONARY_LEN + at) {
            let is_same = |&(n, &byte): &(usize, &u8)| before(ends, input, at + n, distance) == Some(byte);
            // What is referred to ends before the reference's own place.
            let length = rest.iter().enumerate().take(distance).take_while(is_same).count();
            if length >= MIN_REFERENCE {
                let reference = Self::reference(length, distance);
                if reference.spared() > best.spared() {
                    best = reference;
                }
            }
        }
        (best.spared() > 0).then_some(best)
    }

    fn emit(&self, out: &mut Writer<'_>) {
        let Some(distance) = self.distance else {
            out.put(&[ZEROS | (self.length - MIN_ZEROS) as u8]);
            return;
        };
        let (mut length, mut distance) = (self.length - MIN_REFERENCE, distance - self.length);
        for _ in 0..self.extended {
            let n = (length / EXTENDED_LENGTH).min(1);
            let s = (distance / 8).min(EXTENDED_DISTANCE / 8);
            out.put(&[EXTENDED | (n << 4) as u8 | s as u8]);
            (length, distance) = (length - n * EXTENDED_LENGTH, distance - s * 8);
        }
        out.put(&[REFERENCE | (length << 3) as u8 | distance as u8]);
    }
}

/// Compresses `input`. If not all of it fits, returns how much of it did.
///
/// The work is bounded by the length of the input times that of the window.
pub(crate) fn compress(ends: &[u8; ENDS_LEN], input: &[u8], out: &mut Writer<'_>) -> Result<(), usize> {
    let (mut at, mut copied) = (0, 0);
    loop {
        let instruction = Instruction::best(ends, input, at);
        let is_end = at == input.len();
        if instruction.is_some() || is_end {
            for piece in input.get(copied..at).unwrap_or_default().chunks(MAX_COPY) {
                let free = out.free().saturating_sub(1);
                if free < piece.len() {
                    return Err(copied + free);
                }
                out.put(&[piece.len() as u8]);
                out.put(piece);
                copied += piece.len();
            }
        }
        if is_end {
            return Ok(());
        }
        at += match instruction {
            Some(instruction) => {
                if out.free() < 1 + instruction.extended {
                    return Err(at);
                }
                instruction.emit(out);
                copied = at + instruction.length;
                instruction.length
            }
            // No more than this fits.
            None if at - copied > out.free() => return Err(at),
            None => 1,
        };
    }
}

/// Compresses the extension header at `start` of `out`, of which the bytes before its length are written. Returns false if it would not
/// become shorter, or could not be restored
/// ([RFC 7400 section 3.2](https://www.rfc-editor.org/rfc/rfc7400#section-3.2)).
pub(crate) fn emit_extension(
    ends: &[u8; ENDS_LEN],
    id: u8,
    start: usize,
    body: &[u8],
    padding: usize,
    out: &mut Writer<'_>,
) -> bool {
    let before = out.at();
    // The header of a fragment has no length to restore.
    let is_shorter = extension_protocol(id).is_some_and(is_length_elided)
        && compress(ends, body, out).is_ok()
        && out.at() - before < body.len() - padding
        && out.free() > 0;
    if is_shorter {
        out.put(&[STOP]);
        out.exchange(start, EXTENSION, EXTENSION_GHC);
    } else {
        out.truncate(before);
    }
    is_shorter
}

/// Whether an extension header's length is elided, and restored.
pub(crate) fn is_length_elided(kind: u8) -> bool {
    matches!(kind, protocol::HOP_BY_HOP | protocol::ROUTING | protocol::DESTINATION)
}

/// Where a bytecode ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With the payload that it is in.
    Payload,
    /// At the instruction to stop, which another header follows.
    Stop,
}

/// Appends what was compressed to `out`.
pub(crate) fn restore(
    ends: &[u8; ENDS_LEN],
    reader: &mut Reader<'_>,
    end: End,
    out: &mut Writer<'_>,
) -> Result<(), Error> {
    let start = out.at();
    let (mut more_length, mut more_distance) = (0usize, 0usize);
    while end == End::Stop || !reader.is_empty() {
        let code = reader.byte();
        reader.consumed()?;
        if usize::from(code) <= MAX_COPY {
            out.put(reader.take(usize::from(code)));
            reader.consumed()?;
        } else if code & ZEROS_MASK == ZEROS {
            let zeros = [0; MAX_ZEROS];
            out.put(zeros.get(..usize::from(code & !ZEROS_MASK) + MIN_ZEROS).unwrap_or_default());
        } else if code == STOP && end == End::Stop {
            return Ok(());
        } else if code & EXTENDED_MASK == EXTENDED {
            // No buffer is longer than what a few of them add.
            more_length = more_length.saturating_add(usize::from(code >> 4 & 1) * EXTENDED_LENGTH);
            more_distance = more_distance.saturating_add(usize::from(code & 0x0f) * 8);
        } else if code & REFERENCE == REFERENCE {
            let length = more_length.saturating_add(usize::from(code >> 3 & 7) + MIN_REFERENCE);
            let distance = more_distance.saturating_add(usize::from(code & 7)).saturating_add(length);
            (more_length, more_distance) = (0, 0);
            for _ in 0..length {
                let at = out.at() - start;
                let byte = before(ends, out.since(start), at, distance).ok_or(Error::Bytecode)?;
                out.put(&[byte]);
                out.written()?;
            }
        } else {
            return Err(Error::Bytecode);
        }
        out.written()?;
    }
    Ok(())
}

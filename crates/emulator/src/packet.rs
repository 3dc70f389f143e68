//! The packets of the
//! [GDB remote serial protocol](https://sourceware.org/gdb/current/onlinedocs/gdb.html/Overview.html).

/// The longest packet that is taken in, in bytes: an emulator's longest answer is that of a memory read.
const MAX_PACKET: usize = 16 * 1024;

/// `payload` as a packet.
pub(crate) fn encode(payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![b'$'];
    for &byte in payload {
        match byte {
            b'$' | b'#' | b'}' | b'*' => packet.extend([b'}', byte ^ 0x20]),
            _ => packet.push(byte),
        }
    }
    let checksum = sum(&packet[1..]);
    packet.push(b'#');
    packet.extend(hex(&[checksum]));
    packet
}

/// `bytes` as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> Vec<u8> {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| b"0123456789abcdef"[usize::from(digit)])
        .collect()
}

/// The bytes that hexadecimal digits stand for, unless there is something else among them.
pub(crate) fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_chunks::<2>();
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    match rest {
        [] => pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect(),
        _ => None,
    }
}

fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

/// What an emulator sends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// It has our packet.
    Ack,
    /// It wants our packet again.
    Nack,
    /// A packet.
    Packet(Vec<u8>),
    /// A packet whose checksum is wrong, or that is longer than any answer.
    Garbled,
}

/// Takes packets out of a stream of bytes.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    state: State,
    /// As it came, escapes included.
    raw: Vec<u8>,
    too_long: bool,
}

#[derive(Debug, Default, Clone, Copy)]
enum State {
    #[default]
    Between,
    Inside,
    Checksum,
    ChecksumLow(u8),
}

impl Decoder {
    /// Takes the next byte in.
    pub(crate) fn push(&mut self, byte: u8) -> Option<Item> {
        match (self.state, byte) {
            (State::Between, b'+') => return Some(Item::Ack),
            (State::Between, b'-') => return Some(Item::Nack),
            // A packet that begins inside another: the first was cut short.
            (State::Between | State::Inside, b'$') => {
                self.raw.clear();
                self.too_long = false;
                self.state = State::Inside;
            }
            (State::Between, _) => {}
            (State::Inside, b'#') => self.state = State::Checksum,
            (State::Inside, _) if self.raw.len() == MAX_PACKET => self.too_long = true,
            (State::Inside, _) => self.raw.push(byte),
            (State::Checksum, high) => self.state = State::ChecksumLow(high),
            (State::ChecksumLow(high), low) => {
                self.state = State::Between;
                let right =
                    !self.too_long && unhex(&[high, low]).is_some_and(|digits| digits == [sum(&self.raw)]);
                return Some(right.then(|| expand(&self.raw)).flatten().map_or(Item::Garbled, Item::Packet));
            }
        }
        None
    }
}

/// Undoes escapes (`}`) and run-length encoding (`*`).
fn expand(raw: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(raw.len());
    let mut bytes = raw.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'}' => out.push(bytes.next()? ^ 0x20),
            b'*' => {
                let (last, count) = (*out.last()?, bytes.next()?.checked_sub(29)?);
                out.extend(core::iter::repeat_n(last, count.into()));
            }
            _ => out.push(byte),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(bytes: &[u8]) -> Vec<Item> {
        let mut decoder = Decoder::default();
        bytes.iter().filter_map(|byte| decoder.push(*byte)).collect()
    }

    #[test]
    fn the_examples_of_the_protocol_s_description_are_understood() {
        assert_eq!(encode(b"OK"), b"$OK#9a");
        assert_eq!(decode(b"+$OK#9a"), [Item::Ack, Item::Packet(b"OK".to_vec())]);
        // "0* " is "0000": a space is 29 + 3.
        assert_eq!(decode(b"$0* #7a"), [Item::Packet(b"0000".to_vec())]);
        assert_eq!(decode(b"-noise$OK#9b"), [Item::Nack, Item::Garbled]);
        assert_eq!(decode(b"$cut$OK#9a"), [Item::Packet(b"OK".to_vec())]);
        assert_eq!(decode(b"$*a#8b"), [Item::Garbled], "a run of nothing");
    }

    #[test]
    fn a_packet_longer_than_any_answer_is_not_kept() {
        let mut long = vec![b'$'];
        long.resize(3 * MAX_PACKET, b'a');
        long.extend(b"#00$OK#9a");
        assert_eq!(decode(&long), [Item::Garbled, Item::Packet(b"OK".to_vec())]);
    }

    proptest! {
        #[test]
        fn what_was_encoded_decodes_to_the_same(payload: Vec<u8>) {
            prop_assert_eq!(decode(&encode(&payload)), [Item::Packet(payload)]);
        }

        #[test]
        fn hexadecimal_digits_stand_for_the_bytes_they_were_made_of(bytes: Vec<u8>) {
            prop_assert_eq!(unhex(&hex(&bytes)), Some(bytes));
        }

        #[test]
        fn any_bytes_at_all_do_not_panic(bytes: Vec<u8>, digits: Vec<u8>) {
            decode(&bytes);
            unhex(&digits);
        }

        #[test]
        fn any_payload_of_any_packet_does_not_panic(payload in "[a-f0-9}*# ]{0,40}") {
            let raw = payload.replace('#', "");
            let packet = [b"$", raw.as_bytes(), b"#", &hex(&[sum(raw.as_bytes())])].concat();
            prop_assert_eq!(decode(&packet).len(), 1);
        }
    }
}

//! The packets of MQTT 3.1.1 that are sent by a client which only publishes, and those that it is sent.
//!
//! What a broker sends such a client has four bytes at most, so nothing that comes is long, or kept.

/// The longest topic, user name or other text of a packet, in bytes: its length is told in two.
pub(super) const LONGEST_TEXT: usize = u16::MAX as usize;
/// Asks for a sign of life.
pub(super) const PING: [u8; 2] = [0xc0, 0];
/// Ends a connection in order.
pub(super) const DISCONNECT: [u8; 2] = [0xe0, 0];

/// Begins a session of which nothing is remembered.
pub(super) struct Connect<'a> {
    pub(super) client_id: &'a str,
    pub(super) username: Option<&'a str>,
    pub(super) password: Option<&'a [u8]>,
    /// After how many seconds without a packet the broker may take the client for gone.
    pub(super) keep_alive: u16,
}

/// A message for a topic.
pub(super) struct Publish<'a> {
    pub(super) topic: &'a str,
    /// By which its acknowledgement names it; nothing: it is not acknowledged.
    pub(super) id: Option<u16>,
    pub(super) retain: bool,
    pub(super) payload: &'a [u8],
}

/// What a broker sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Whether the session has begun: 0, or why not.
    Connected(u8),
    /// The message with this id was taken.
    Published(u16),
    /// It lives.
    Pong,
}

/// What came is nothing that a broker sends a client which only publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotMqtt;

/// Appends the length of what follows ([MQTT 3.1.1 section 2.2.3](https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/os/mqtt-v3.1.1-os.html)). Texts
/// are bounded, and payloads ours, so it is far below the greatest one.
fn length(to: &mut Vec<u8>, mut length: usize) {
    loop {
        let seven = (length & 0x7f) as u8;
        length >>= 7;
        to.push(if length > 0 { seven | 0x80 } else { seven });
        if length == 0 {
            return;
        }
    }
}

/// Appends a text, or bytes, with its length before it. What is longer than can be is cut: whoever takes settings on refuses it.
fn text(to: &mut Vec<u8>, bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(LONGEST_TEXT)];
    to.extend((bytes.len() as u16).to_be_bytes());
    to.extend(bytes);
}

impl Connect<'_> {
    /// The packet.
    pub(super) fn packet(&self) -> Vec<u8> {
        let mut rest = Vec::new();
        text(&mut rest, b"MQTT");
        // Section 3.1.2.9: there is no password without a user name.
        let password = self.password.filter(|_| self.username.is_some());
        let clean_session = 0x02;
        let flags = clean_session
            | if self.username.is_some() { 0x80 } else { 0 }
            | if password.is_some() { 0x40 } else { 0 };
        rest.extend([4, flags]);
        rest.extend(self.keep_alive.to_be_bytes());
        text(&mut rest, self.client_id.as_bytes());
        self.username.into_iter().for_each(|username| text(&mut rest, username.as_bytes()));
        password.into_iter().for_each(|password| text(&mut rest, password));
        let mut packet = vec![0x10];
        length(&mut packet, rest.len());
        packet.extend(rest);
        packet
    }
}

impl Publish<'_> {
    /// Appends the packet.
    pub(super) fn append(&self, to: &mut Vec<u8>) {
        let topic = self.topic.len().min(LONGEST_TEXT);
        to.push(0x30 | u8::from(self.id.is_some()) << 1 | u8::from(self.retain));
        length(to, 2 + topic + if self.id.is_some() { 2 } else { 0 } + self.payload.len());
        text(to, self.topic.as_bytes());
        to.extend(self.id.into_iter().flat_map(u16::to_be_bytes));
        to.extend(self.payload);
    }
}

/// The packet that `bytes` begin with, and its length; nothing if it is not whole yet.
pub(super) fn read(bytes: &[u8]) -> Result<Option<(Answer, usize)>, NotMqtt> {
    match *bytes {
        [] | [0x20 | 0x40 | 0xd0] | [0x20 | 0x40, 2] | [0x20 | 0x40, 2, _] => Ok(None),
        // A session that is clean is not present at the broker (section 3.2.2.2).
        [0x20, 2, 0, code, ..] => Ok(Some((Answer::Connected(code), 4))),
        [0x40, 2, high, low, ..] => Ok(Some((Answer::Published(u16::from_be_bytes([high, low])), 4))),
        [0xd0, 0, ..] => Ok(Some((Answer::Pong, 2))),
        _ => Err(NotMqtt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_those_of_the_standard() {
        let connect = Connect { client_id: "a", username: None, password: Some(b"p"), keep_alive: 60 };
        // Figure 3.6 of the standard, without will, user and password.
        let plain = [&[0x10, 13, 0, 4][..], b"MQTT", &[4, 0x02, 0, 60, 0, 1], b"a"].concat();
        assert_eq!(connect.packet(), plain);
        let connect = Connect { username: Some("u"), ..connect };
        let signed = [&[0x10, 19, 0, 4][..], b"MQTT", &[4, 0xc2, 0, 60, 0, 1], b"a\0\x01u\0\x01p"].concat();
        assert_eq!(connect.packet(), signed);

        let mut packets = Vec::new();
        let publish = Publish { topic: "a/b", id: Some(10), retain: false, payload: b"x" };
        publish.append(&mut packets);
        Publish { id: None, retain: true, ..publish }.append(&mut packets);
        let expected = [&[0x32, 8, 0, 3][..], b"a/b", &[0, 10], b"x", &[0x31, 6, 0, 3], b"a/bx"].concat();
        assert_eq!(packets, expected);
    }

    #[test]
    fn lengths_have_seven_bits_a_byte() {
        // Table 2.4 of the standard.
        for (number, bytes) in [
            (0, &[0][..]),
            (127, &[0x7f]),
            (128, &[0x80, 0x01]),
            (16_383, &[0xff, 0x7f]),
            (16_384, &[0x80, 0x80, 0x01]),
            (2_097_152, &[0x80, 0x80, 0x80, 0x01]),
        ] {
            let mut written = Vec::new();
            length(&mut written, number);
            assert_eq!(written, bytes, "{number}");
        }
    }

    #[test]
    fn answers_are_read_whole_and_all_else_is_refused() {
        let answers = [
            (&[0x20, 2, 0, 5][..], Answer::Connected(5)),
            (&[0x40, 2, 1, 2], Answer::Published(0x102)),
            (&[0xd0, 0], Answer::Pong),
        ];
        for (bytes, answer) in answers {
            for length in 0..bytes.len() {
                assert_eq!(read(&bytes[..length]), Ok(None), "{:?}", &bytes[..length]);
            }
            assert_eq!(read(bytes), Ok(Some((answer, bytes.len()))));
            assert_eq!(read(&[bytes, b"more"].concat()), Ok(Some((answer, bytes.len()))));
        }
        // Every beginning of two bytes but those of these three is refused at once, whatever length it states.
        let known = [[0x20, 2], [0x40, 2], [0xd0, 0]];
        for first in 0..=u8::MAX {
            for second in 0..=u8::MAX {
                let is_known = known.contains(&[first, second]);
                assert_eq!(read(&[first, second, 0, 0]).is_ok(), is_known, "{first:#x} {second:#x}");
            }
        }
        assert_eq!(read(&[0x20, 2, 1, 0]), Err(NotMqtt), "a session that was there before");
    }
}

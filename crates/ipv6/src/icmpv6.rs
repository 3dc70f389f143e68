//! ICMPv6 ([RFC 4443](https://www.rfc-editor.org/rfc/rfc4443)): echo and errors.

use core::net::Ipv6Addr;

use crate::{Error, Header, checksum, next_header};

/// The first 8 bytes of an ICMPv6 message; what follows is echo data, or as much as fits of
/// the packet that an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// The packet cannot be delivered.
    DestinationUnreachable(Unreachable),
    /// The packet is longer than the next link carries.
    PacketTooBig {
        /// What the link carries.
        mtu: u32,
    },
    /// The packet's time is over.
    TimeExceeded(Exceeded),
    /// A header could not be processed.
    ParameterProblem {
        /// What is wrong with it.
        problem: Problem,
        /// Where in the packet.
        pointer: u32,
    },
    /// Asks for an [`Message::EchoReply`] with the same numbers and data.
    EchoRequest(Echo),
    /// Answers an [`Message::EchoRequest`].
    EchoReply(Echo),
    /// A type or code that is not handled here.
    Other {
        /// The message's type.
        kind: u8,
        /// The message's code.
        code: u8,
        /// The four bytes behind the checksum.
        rest: [u8; 4],
    },
}

/// What identifies an echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// Who asked.
    pub identifier: u16,
    /// Which of the questions.
    pub sequence: u16,
}

/// Declares a code with its values on the wire.
macro_rules! codes {
    ($(#[doc = $doc:literal])* $name:ident { $($(#[doc = $vdoc:literal])* $variant:ident = $value:literal,)* }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum $name { $($(#[doc = $vdoc])* $variant = $value,)* }

        impl $name {
            fn from_code(code: u8) -> Option<Self> {
                match code { $($value => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

codes! {
    /// Why a destination is unreachable.
    Unreachable {
        /// No route leads to it.
        NoRoute = 0,
        /// Policy forbids it.
        Prohibited = 1,
        /// The source address is not valid beyond this link.
        BeyondScope = 2,
        /// The address does not answer.
        Address = 3,
        /// Nobody listens at the port.
        Port = 4,
    }
}

codes! {
    /// Which time is over.
    Exceeded {
        /// The hop limit.
        HopLimit = 0,
        /// That of reassembly.
        Reassembly = 1,
    }
}

codes! {
    /// What is wrong with a header.
    Problem {
        /// A field has a value that makes no sense.
        Field = 0,
        /// The next header is of an unknown kind.
        NextHeader = 1,
        /// An option is of an unknown kind.
        Option = 2,
    }
}

impl Message {
    /// Length of the part that [`Message`] stands for, in bytes.
    pub const LEN: usize = 8;

    /// Splits `message` into its header and what follows, and checks its checksum.
    pub fn parse(source: Ipv6Addr, destination: Ipv6Addr, message: &[u8]) -> Result<(Self, &[u8]), Error> {
        let (&[kind, code, _, _, a, b, c, d], body) = message.split_first_chunk().ok_or(Error::Truncated)?;
        if checksum(source, destination, next_header::ICMPV6, message) != 0 {
            return Err(Error::Checksum);
        }
        let rest = [a, b, c, d];
        let echo = Echo { identifier: u16::from_be_bytes([a, b]), sequence: u16::from_be_bytes([c, d]) };
        let known = match kind {
            1 => Unreachable::from_code(code).map(Self::DestinationUnreachable),
            2 if code == 0 => Some(Self::PacketTooBig { mtu: u32::from_be_bytes(rest) }),
            3 => Exceeded::from_code(code).map(Self::TimeExceeded),
            4 => Problem::from_code(code)
                .map(|problem| Self::ParameterProblem { problem, pointer: u32::from_be_bytes(rest) }),
            128 if code == 0 => Some(Self::EchoRequest(echo)),
            129 if code == 0 => Some(Self::EchoReply(echo)),
            _ => None,
        };
        Ok((known.unwrap_or(Self::Other { kind, code, rest }), body))
    }

    /// Writes this header and the checksum to `message`, whose body stands behind its first 8 bytes.
    pub fn emit(&self, source: Ipv6Addr, destination: Ipv6Addr, message: &mut [u8]) -> Result<(), Error> {
        let (kind, code, [a, b, c, d]) = match *self {
            Self::DestinationUnreachable(code) => (1, code as u8, [0; 4]),
            Self::PacketTooBig { mtu } => (2, 0, mtu.to_be_bytes()),
            Self::TimeExceeded(code) => (3, code as u8, [0; 4]),
            Self::ParameterProblem { problem, pointer } => (4, problem as u8, pointer.to_be_bytes()),
            Self::EchoRequest(echo) => (128, 0, echo.to_bytes()),
            Self::EchoReply(echo) => (129, 0, echo.to_bytes()),
            Self::Other { kind, code, rest } => (kind, code, rest),
        };
        *message.first_chunk_mut().ok_or(Error::Truncated)? = [kind, code, 0, 0, a, b, c, d];
        let sum = checksum(source, destination, next_header::ICMPV6, message);
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        Ok(())
    }
}

impl Echo {
    fn to_bytes(self) -> [u8; 4] {
        let [a, b] = self.identifier.to_be_bytes();
        let [c, d] = self.sequence.to_be_bytes();
        [a, b, c, d]
    }
}

/// Writes the header of a packet with an ICMPv6 message of `length` bytes to `front`; the packet's length. `None` if there is no room, or the
/// message is longer than a packet can be.
#[inline(never)]
pub fn emit_packet_header(
    front: &mut [u8],
    length: usize,
    hop_limit: u8,
    (source, destination): (Ipv6Addr, Ipv6Addr),
) -> Option<usize> {
    let header = Header {
        traffic_class: 0,
        flow_label: 0,
        payload_length: u16::try_from(length).ok()?,
        next_header: next_header::ICMPV6,
        hop_limit,
        source,
        destination,
    };
    header.emit(front).ok()?;
    Some(Header::LEN + length)
}

/// Whether `kind` is the type of an error message: types below 128 are.
pub const fn is_error(kind: u8) -> bool {
    kind < 128
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;

    const SOURCE: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);
    const DESTINATION: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 2);

    #[test]
    fn messages_round_trip() {
        let echo = Echo { identifier: 0x0102, sequence: 0x0304 };
        for message in [
            Message::DestinationUnreachable(Unreachable::Port),
            Message::PacketTooBig { mtu: 1280 },
            Message::TimeExceeded(Exceeded::HopLimit),
            Message::ParameterProblem { problem: Problem::Option, pointer: 42 },
            Message::EchoRequest(echo),
            Message::EchoReply(echo),
            Message::Other { kind: 135, code: 0, rest: [9; 4] },
        ] {
            let mut bytes = *b"????????body";
            message.emit(SOURCE, DESTINATION, &mut bytes).unwrap();
            assert_eq!(Message::parse(SOURCE, DESTINATION, &bytes), Ok((message, &b"body"[..])));
            bytes[11] ^= 1;
            assert_eq!(Message::parse(SOURCE, DESTINATION, &bytes), Err(Error::Checksum));
        }
    }

    proptest! {
        #[test]
        fn any_message_with_a_good_checksum_is_written_back_as_it_was(
            mut bytes in proptest::collection::vec(any::<u8>(), 8..40), kind in prop_oneof![0u8..6, 126u8..131, any::<u8>()],
            code in 0u8..6,
        ) {
            bytes[..4].copy_from_slice(&[kind, code, 0, 0]);
            if matches!(kind, 1 | 3) {
                bytes[4..8].fill(0); // unused: sent as zero and ignored
            }
            let sum = checksum(SOURCE, DESTINATION, next_header::ICMPV6, &bytes);
            bytes[2..4].copy_from_slice(&sum.to_be_bytes());
            let (message, _) = Message::parse(SOURCE, DESTINATION, &bytes).unwrap();
            let mut again = bytes.clone();
            message.emit(SOURCE, DESTINATION, &mut again).unwrap();
            prop_assert_eq!(bytes, again);
        }
    }
}

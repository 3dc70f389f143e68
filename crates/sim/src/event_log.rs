//! What an event log tells: one line of JSON for each event. `docs/events.md` describes them all.

use core::net::Ipv6Addr;
use std::fmt::Write;

use sixlock_node::ipsec::Refusal;

/// A value of an event.
trait Field {
    /// Writes the value behind its name; nothing if there is none.
    fn write(&self, name: &str, line: &mut String);
}

impl Field for u64 {
    fn write(&self, name: &str, line: &mut String) {
        // A string takes whatever is written.
        let _ = write!(line, ",\"{name}\":{self}");
    }
}

impl Field for i32 {
    fn write(&self, name: &str, line: &mut String) {
        let _ = write!(line, ",\"{name}\":{self}");
    }
}

impl Field for Ipv6Addr {
    fn write(&self, name: &str, line: &mut String) {
        let _ = write!(line, ",\"{name}\":\"{self}\"");
    }
}

impl Field for &'static str {
    fn write(&self, name: &str, line: &mut String) {
        let _ = write!(line, ",\"{name}\":\"{self}\"");
    }
}

impl<T: Field> Field for Option<T> {
    fn write(&self, name: &str, line: &mut String) {
        if let Some(value) = self {
            value.write(name, line);
        }
    }
}

macro_rules! events {
    ($($(#[doc = $doc:literal])* $event:ident = $name:literal { $($(#[doc = $about:literal])* $field:ident: $type:ty),* },)*) => {
        /// An event at a station.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Logged {
            $($(#[doc = $doc])* $event { $($(#[doc = $about])* $field: $type),* },)*
        }

        /// Every event there is: its name and the names of its fields.
        #[cfg(test)]
        const EVENTS: &[(&str, &[&str])] = &[$(($name, &[$(stringify!($field)),*])),*];

        impl Logged {
            /// The line of this event, which happened at `station` after so many microseconds.
            pub(crate) fn line(&self, micros: u64, station: u32) -> String {
                let name = match self { $(Self::$event { .. } => $name,)* };
                let mut line = format!("{{\"us\":{micros},\"node\":{station},\"event\":\"{name}\"");
                match self {
                    $(Self::$event { $($field),* } => { $($field.write(stringify!($field), &mut line);)* })*
                }
                line.push_str("}\n");
                line
            }
        }
    };
}

events! {
    /// A reading is due, or an echo.
    Due = "due" {
        /// Its number at this node, from 1 on.
        reading: u64
    },
    /// The node has handed the reading to CoAP.
    Sent = "sent" {
        reading: u64,
        /// Microseconds since the task began that makes it: none where the CPU takes no time.
        took_us: u64
    },
    /// The far end has sent the echo.
    Echo = "echo" { reading: u64 },
    /// What was due is not begun, and will not be.
    Skipped = "skipped" {
        reading: u64,
        /// Why: see [`Skip`](crate::readings::Skip).
        cause: &'static str
    },
    /// The far end has accepted the reading's first copy.
    Accepted = "accepted" { reading: u64 },
    /// The far end has accepted a reading in the node's name that the node did not send, or had sent before.
    False = "false" {},
    /// The node has learnt that the reading was accepted.
    Confirmed = "confirmed" {
        reading: u64,
        /// Microseconds since the task began that makes it.
        after_us: u64
    },
    /// The echo has come back.
    Echoed = "echoed" { reading: u64, after_us: u64 },
    /// The node gives the reading up, or the echo is not back when the next one is sent.
    Failed = "failed" { reading: u64 },
    /// A DTLS handshake begins.
    Handshake = "handshake" {},
    /// It has come to a session.
    Connected = "connected" { after_us: Option<u64> },
    /// It has not.
    HandshakeFailed = "handshake-failed" { after_us: Option<u64> },
    /// The session is lost.
    Disconnected = "disconnected" {},
    /// The node, which is a server, has a session with a client.
    Opened = "opened" {},
    /// The node has a parent in the DODAG, and had none; or it has another.
    Parent = "parent" {
        /// Which node that is.
        to: u64
    },
    /// The node has lost its parent, and has no other.
    Left = "left" {},
    /// The node has registered its address, with which it is reached from now on.
    Registered = "registered" {
        /// The router at which it has.
        at: u64,
        address: Ipv6Addr
    },
    /// The node's address is registered no more.
    Unregistered = "unregistered" {},
    /// A router refuses an address of the node: it is another's.
    Duplicate = "duplicate" {},
    /// For the first time, packets of the node can go to the border router and back.
    Joined = "joined" {},
    /// They can again: it, or a station on its way, had lost its parent or its power.
    Rejoined = "rejoined" {},
    /// The station goes off.
    Off = "off" {},
    /// It starts, with nothing but what is durable.
    On = "on" {},
    /// It stands elsewhere from now on.
    Moved = "moved" {
        /// Millimetres east.
        x: i32,
        /// Millimetres north.
        y: i32
    },
    /// The attacker begins.
    Attack = "attack" {
        /// What it does.
        kind: &'static str
    },
    /// It ends.
    AttackEnds = "attack-ends" {},
    /// A frame goes on the air.
    Transmit = "transmit" {
        /// Its length, FCS included.
        bytes: u64,
        /// What it is: see [`Kind`](crate::accounting::Kind).
        kind: &'static str,
        /// The node that it is for, if it names one.
        to: Option<u64>,
        /// How often it has been sent, this time included; acknowledgements are sent once.
        attempt: Option<u64>
    },
    /// Chance took a frame.
    Lost = "lost" { from: u64 },
    /// Another transmission destroyed a frame, or the station's own.
    Missed = "missed" { from: u64 },
    /// The station gives something up that it was to send, receive or forward.
    Drop = "drop" {
        /// Why: see [`drops`](crate::drops).
        cause: &'static str
    },
    /// IPsec refuses a packet.
    Refused = "refused" {
        /// `out` or `in`.
        direction: &'static str,
        /// Why: the name of an [`InboundError`](sixlock_node::ipsec::InboundError) or
        /// [`OutboundError`](sixlock_node::ipsec::OutboundError).
        reason: &'static str
    },
    /// DTLS refuses something that has come.
    DtlsRefused = "dtls-refused" {
        /// Why: the name of a [`Refusal`](sixlock_dtls::Refusal).
        reason: &'static str
    },
    /// DTLS at the far end refuses something that has come from the node, whose event it is.
    CloudRefused = "cloud-refused" {
        /// Why: as of [`Logged::DtlsRefused`].
        reason: &'static str
    },
    /// The far end gives up something that the border router, whose event it is, has handed to it.
    CloudDrop = "cloud-drop" {
        /// Why: as of [`Logged::Drop`].
        cause: &'static str
    },
}

impl From<Refusal> for Logged {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Outbound(error) => Self::Refused { direction: "out", reason: error.name() },
            Refusal::Inbound(error) => Self::Refused { direction: "in", reason: error.name() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_node::ipsec::{InboundError, OutboundError};

    #[test]
    fn a_line_has_the_fields_that_there_are() {
        let transmit = Logged::Transmit { bytes: 3, kind: "ack", to: None, attempt: Some(2) };
        assert_eq!(
            transmit.line(16, 4),
            "{\"us\":16,\"node\":4,\"event\":\"transmit\",\"bytes\":3,\"kind\":\"ack\",\"attempt\":2}\n"
        );
        assert_eq!(Logged::Opened {}.line(0, 1), "{\"us\":0,\"node\":1,\"event\":\"opened\"}\n");
    }

    /// Each event has a row in the table of the documentation: its name, its fields, what it means.
    #[test]
    fn the_documentation_has_every_event_with_its_fields_and_no_other() {
        let text = include_str!("../../../docs/events.md");
        let of_table = |row: &'static str| {
            let (name, fields) = row.strip_prefix("| `")?.split_once("` |")?;
            let fields = fields.split('|').next()?.split('`').skip(1).step_by(2).collect::<Vec<_>>();
            Some((name, fields))
        };
        let events = text.split("## Causes").next().unwrap_or_default();
        let documented: Vec<_> = events.lines().filter_map(of_table).collect();
        let emitted: Vec<_> = EVENTS.iter().map(|(name, fields)| (*name, fields.to_vec())).collect();
        assert_eq!(documented, emitted);
    }

    #[test]
    fn the_documentation_has_every_reason_of_a_refusal_and_no_other() {
        let text = include_str!("../../../docs/events.md");
        let table = text.split("## Reasons of `refused`").nth(1).unwrap_or_default();
        let table = table.split("\n## ").next().unwrap_or_default();
        let of_table = |row: &'static str| {
            let (direction, rest) = row.strip_prefix("| ")?.split_once(" | `")?;
            Some((direction, rest.split('`').next()?))
        };
        let documented: Vec<_> = table.lines().filter_map(of_table).collect();
        let outbound = OutboundError::ALL.iter().map(|error| ("out", error.name()));
        let inbound = InboundError::ALL.iter().map(|error| ("in", error.name()));
        assert_eq!(documented, outbound.chain(inbound).collect::<Vec<_>>());
    }

    #[test]
    fn the_documentation_has_every_reason_of_dtls_and_no_other() {
        let text = include_str!("../../../docs/events.md");
        let table = text.split("## Reasons of `dtls-refused`").nth(1).unwrap_or_default();
        let documented: Vec<_> =
            table.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
        let told: Vec<_> = sixlock_dtls::Refusal::all().map(|refusal| refusal.name()).collect();
        assert_eq!(documented, told);
    }
}

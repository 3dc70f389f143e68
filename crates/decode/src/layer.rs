//! What a frame is made of, layer by layer, as it is shown and written as JSON.

use std::fmt;
use std::net::Ipv6Addr;

use serde::Serialize;

use crate::elements::Elements;
use crate::shown::{Hex, LinkAddress};

/// One layer of a frame. Its `bytes` are those that it takes itself, without what it carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "layer", rename_all = "kebab-case")]
pub enum Layer {
    /// The MAC header (IEEE 802.15.4).
    Mac(Mac),
    /// The auxiliary security header and the MIC of a frame (IEEE 802.15.4, section 9).
    LinkSecurity(LinkSecurity),
    /// The information elements of a frame (IEEE 802.15.4, section 7.4).
    Elements(Elements),
    /// The header of ContikiMAC, and the padding behind the payload.
    #[serde(rename = "contikimac")]
    ContikiMac(ContikiMac),
    /// The header of a fragment (RFC 4944, section 5.3).
    Fragment(Fragment),
    /// The compressed headers (RFC 6282).
    Compression(Compression),
    /// A datagram whose fragments are all there.
    Datagram(Datagram),
    /// The IPv6 header (RFC 8200).
    Ipv6(Ipv6),
    /// An extension header of IPv6 (RFC 8200, section 4).
    Extension(Extension),
    /// An authentication header (RFC 4302).
    Ah(Ah),
    /// An encapsulating security payload (RFC 4303).
    Esp(Esp),
    /// The frame by which a receiver asks for whole sequence numbers of AH and ESP.
    TellWhole(TellWhole),
    /// The UDP header (RFC 768).
    Udp(Udp),
    /// A message of ICMPv6 (RFC 4443).
    Icmpv6(Icmpv6),
    /// A record of DTLS (RFC 6347).
    Dtls(Dtls),
    /// A message of CoAP (RFC 7252).
    Coap(Coap),
    /// Bytes that no protocol known here makes sense of.
    Data(Data),
    /// Bytes that are not read, and why.
    Unread(Unread),
}

/// The MAC header, and the FCS if the capture has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mac {
    /// Bytes of both.
    pub bytes: usize,
    /// The version of its format: 0 is that of 2003, 1 of 2006, 2 of 2015.
    pub version: u8,
    /// `data`, `ack`, `beacon` or `command`.
    pub kind: &'static str,
    /// The sequence number, which frames of version 2 may leave out.
    pub sequence: Option<u8>,
    /// The PAN it is sent to.
    pub pan: Option<u16>,
    /// Who sends it.
    pub source: Option<LinkAddress>,
    /// Whom it is for.
    pub destination: Option<LinkAddress>,
    /// Whether it is to be acknowledged.
    pub ack_request: bool,
    /// Whether it is byte for byte the frame that its sender sent before.
    pub repeated: bool,
}

/// The auxiliary security header and the MIC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkSecurity {
    /// Bytes of both.
    pub bytes: usize,
    /// The level, as the standard names it: `ENC-MIC-64`.
    pub level: &'static str,
    /// The key's index, if it has one.
    pub key: Option<u8>,
    /// The frame counter, which frames of version 2 may leave out.
    pub counter: Option<u32>,
    /// The number of the time slot by which it was opened, if that is in its nonce instead of the frame counter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asn: Option<u64>,
}

/// The header of ContikiMAC, and the padding behind the payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContikiMac {
    /// Bytes of both.
    pub bytes: usize,
    /// Bytes of the payload, as the header says.
    pub payload: usize,
    /// Bytes of the padding.
    pub padding: usize,
}

/// The header of a fragment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fragment {
    /// Its bytes.
    pub bytes: usize,
    /// Which datagram it is of.
    pub tag: u16,
    /// Where in the uncompressed datagram it begins.
    pub offset: u16,
    /// How much of the uncompressed datagram it carries.
    pub carried: usize,
    /// Length of the uncompressed datagram.
    pub size: u16,
}

/// Compressed headers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Compression {
    /// Their bytes.
    pub bytes: usize,
    /// Bytes of the headers that they stand for.
    pub headers: usize,
    /// By what more than the headers of IPv6 and UDP is compressed, if it is: lithe or ghc. With that, what is compressed of the
    /// payload counts as headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payloads: Option<&'static str>,
}

/// A datagram that this frame completes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Datagram {
    /// None of its own.
    pub bytes: usize,
    /// Length of the datagram.
    pub size: usize,
    /// How many frames it came in.
    pub frames: usize,
}

/// An IPv6 header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ipv6 {
    /// Its bytes, before compression.
    pub bytes: usize,
    /// Who sends it.
    pub source: Ipv6Addr,
    /// Whom it is for, or the next stop of its source route.
    pub destination: Ipv6Addr,
    /// Whom it is for, if a source route leads there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_destination: Option<Ipv6Addr>,
    /// The hops left.
    pub hop_limit: u8,
    /// What follows, extension headers first.
    pub next_header: u8,
    /// The traffic class.
    pub traffic_class: u8,
    /// The flow label.
    pub flow_label: u32,
}

/// An IPv6 extension header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Extension {
    /// Its bytes, before compression.
    pub bytes: usize,
    /// `hop-by-hop`, `routing`, `fragment` or `destination`.
    pub kind: &'static str,
    /// The option of RPL, if it holds one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rpl: Option<RplInformation>,
}

/// What routers say of a packet in RPL's option ([RFC 6553](https://www.rfc-editor.org/rfc/rfc6553)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RplInformation {
    /// Whether it is on its way downwards.
    pub down: bool,
    /// Whether a router has met it on its way in the wrong direction.
    pub rank_error: bool,
    /// Whether the router that it comes from has no route for it.
    pub forwarding_error: bool,
    /// The RPL instance.
    pub instance: u8,
    /// The rank of the router that it comes from.
    pub sender_rank: u16,
}

/// An authentication header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ah {
    /// Its bytes, ICV included, before compression.
    pub bytes: usize,
    /// The security parameters index.
    pub spi: u32,
    /// The sequence number, its lower 32 bits.
    pub sequence: u32,
    /// The suite by which its ICV is right.
    pub suite: Option<String>,
}

/// An encapsulating security payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Esp {
    /// Bytes before compression that are not content: all but what was sealed, if that was opened.
    pub bytes: usize,
    /// The security parameters index.
    pub spi: u32,
    /// The sequence number, its lower 32 bits.
    pub sequence: u32,
    /// The suite that opened it.
    pub suite: Option<String>,
}

/// The frame of one byte by which who gets it is asked to say sequence numbers of AH and ESP whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TellWhole {
    /// Its byte.
    pub bytes: usize,
}

/// A UDP header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Udp {
    /// Its bytes, before compression.
    pub bytes: usize,
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
}

/// An ICMPv6 message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Icmpv6 {
    /// Its bytes, with what it carries.
    pub bytes: usize,
    /// What it says.
    pub message: String,
}

/// A record of DTLS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dtls {
    /// Bytes that are not content.
    pub bytes: usize,
    /// `handshake`, `change-cipher-spec`, `alert`, `application-data` or `connection-id`, whose content's type is sealed.
    pub content: &'static str,
    /// The epoch: 0 has no keys.
    pub epoch: u16,
    /// The number in the epoch.
    pub sequence: u64,
    /// The connection id.
    pub connection_id: Option<Hex>,
    /// The messages of a handshake.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
    /// What an alert says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alert: Option<String>,
    /// Why every session of ours refuses the record, if so: the name that [`Refusal`](sixlock_dtls::Refusal) has for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<&'static str>,
}

/// A handshake message or a fragment of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Its bytes, with the header.
    pub bytes: usize,
    /// What it is called.
    pub name: String,
    /// Its number among those of its sender.
    pub sequence: u16,
    /// Where it begins, if it is a fragment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
    /// Why every session of ours refuses it, or every server if it is a ClientHello that leads to no session: the name that
    /// [`Refusal`](sixlock_dtls::Refusal) has for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<&'static str>,
    /// What stands in it, if it is whole and of a kind that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<MessageBody>,
}

/// What stands in a handshake message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum MessageBody {
    /// A ClientHello (RFC 5246, section 7.4.1.2, with the cookie of RFC 6347, section 4.2.1).
    ClientHello {
        /// The client's random bytes.
        random: Hex,
        /// The id of the session that it resumes; empty for a new one.
        session_id: Hex,
        /// The cookie that the server asked for; empty in the first ClientHello.
        cookie: Hex,
        /// The names of the cipher suites that it offers, the preferred one first.
        cipher_suites: Vec<String>,
        /// The numbers of its extensions, in their order.
        extensions: Vec<u16>,
    },
    /// A ServerHello (RFC 5246, section 7.4.1.3).
    ServerHello {
        /// The server's random bytes.
        random: Hex,
        /// The id under which the session can be resumed; empty if it cannot.
        session_id: Hex,
        /// The name of the cipher suite that the server chose.
        cipher_suite: String,
        /// The numbers of its extensions, in their order.
        extensions: Vec<u16>,
    },
    /// A HelloVerifyRequest (RFC 6347, section 4.2.1).
    HelloVerifyRequest {
        /// The cookie that the client is to send back.
        cookie: Hex,
    },
    /// A ServerKeyExchange with a pre-shared key (RFC 4279, section 2).
    ServerKeyExchange {
        /// The server's hint by which the client chooses its identity.
        psk_identity_hint: String,
    },
    /// A ClientKeyExchange with a pre-shared key (RFC 4279, section 2).
    ClientKeyExchange {
        /// The identity by which the server finds the key.
        psk_identity: String,
    },
    /// A Finished message (RFC 5246, section 7.4.9).
    Finished {
        /// The code over all messages of the handshake.
        verify_data: Hex,
    },
    /// It is not what its type says.
    Malformed {
        /// What is wrong with it, in words.
        malformed: String,
    },
}

/// A CoAP message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Coap {
    /// Bytes that are not payload.
    pub bytes: usize,
    /// `CON`, `NON`, `ACK` or `RST`.
    pub kind: &'static str,
    /// The method, or the response code: `POST`, `2.04`.
    pub code: String,
    /// The message id.
    pub id: u16,
    /// The token.
    pub token: Hex,
    /// The path and query of a request.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// All options.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<CoapOption>,
    /// Bytes of payload.
    pub payload_bytes: usize,
    /// The payload, if it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
}

/// An option of a CoAP message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CoapOption {
    /// Its number.
    pub number: u16,
    /// Its value.
    pub value: Hex,
}

/// Bytes that no protocol known here makes sense of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Data {
    /// How many.
    pub bytes: usize,
}

/// Why something is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It is not what it should be.
    Malformed,
    /// Its key is not there.
    NoKey,
    /// The key that is there does not open it, or it was changed on its way.
    BadMic,
    /// It comes after something that the capture does not hold.
    Missing,
    /// It is of a kind that is not read here.
    Unsupported,
}

impl Reason {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::NoKey => "no key",
            Self::BadMic => "bad MIC",
            Self::Missing => "missing",
            Self::Unsupported => "unsupported",
        }
    }
}

/// What is not read, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// How many bytes.
    pub bytes: usize,
    /// What it is.
    pub what: &'static str,
    /// The kind of reason.
    pub reason: Reason,
    /// The reason.
    pub why: String,
}

impl Unread {
    /// What is not read of `what`, and why.
    pub(crate) fn new(what: &'static str, bytes: usize, reason: Reason, why: impl Into<String>) -> Self {
        Self { bytes, what, reason, why: why.into() }
    }

    /// What of `what` is not as it should be.
    pub(crate) fn malformed(what: &'static str, bytes: usize, error: impl fmt::Debug) -> Self {
        Self::new(what, bytes, Reason::Malformed, words(error))
    }
}

impl From<Unread> for Layer {
    fn from(unread: Unread) -> Self {
        Self::Unread(unread)
    }
}

/// The name of a variant in words: `UnknownNextHeader` is "unknown next header".
pub(crate) fn words(variant: impl fmt::Debug) -> String {
    let mut words = String::new();
    for character in format!("{variant:?}").chars() {
        if character.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(character.to_ascii_lowercase());
    }
    words
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mac(mac) => mac.fmt(f),
            Self::LinkSecurity(LinkSecurity { level, key, counter, asn, .. }) => {
                f.write_str(level)?;
                key.map_or(Ok(()), |key| write!(f, " key {key}"))?;
                counter.map_or(Ok(()), |counter| write!(f, " #{counter}"))?;
                asn.map_or(Ok(()), |asn| write!(f, " ASN {asn}"))
            }
            Self::Elements(elements) => elements.fmt(f),
            Self::ContikiMac(ContikiMac { payload, padding, .. }) => {
                write!(f, "ContikiMAC {payload}")?;
                if *padding > 0 { write!(f, " padded by {padding}") } else { Ok(()) }
            }
            Self::Fragment(Fragment { tag, offset, carried, size, .. }) => {
                write!(f, "fragment {offset}..{} of {size} tag 0x{tag:04x}", usize::from(*offset) + carried)
            }
            Self::Compression(Compression { bytes, headers, payloads }) => {
                write!(f, "IPHC {bytes} for {headers}")?;
                payloads.map_or(Ok(()), |payloads| write!(f, " with {payloads}"))
            }
            Self::Datagram(Datagram { size, frames, .. }) => {
                write!(f, "datagram of {size} in {frames} frames")
            }
            Self::Ipv6(Ipv6 { source, destination, final_destination, hop_limit, .. }) => {
                write!(f, "{source} > {destination}")?;
                final_destination.map_or(Ok(()), |end| write!(f, " to {end}"))?;
                write!(f, " hops {hop_limit}")
            }
            Self::Extension(Extension { bytes, kind, rpl }) => {
                write!(f, "{kind} {bytes}")?;
                let Some(rpl) = rpl else { return Ok(()) };
                write!(f, " rank {}", rpl.sender_rank)?;
                let flags = [
                    (rpl.down, " down"),
                    (rpl.rank_error, " rank-error"),
                    (rpl.forwarding_error, " forwarding-error"),
                ];
                flags.iter().filter(|(is_set, _)| *is_set).try_for_each(|(_, name)| f.write_str(name))
            }
            Self::Ah(Ah { spi, sequence, suite, .. }) => sealed(f, "AH", *spi, *sequence, suite),
            Self::Esp(Esp { spi, sequence, suite, .. }) => sealed(f, "ESP", *spi, *sequence, suite),
            Self::TellWhole(_) => f.write_str("asks for whole sequence numbers"),
            Self::Udp(Udp { source_port, destination_port, .. }) => {
                write!(f, "UDP {source_port} > {destination_port}")
            }
            Self::Icmpv6(Icmpv6 { message, .. }) => write!(f, "ICMPv6 {message}"),
            Self::Dtls(dtls) => dtls.fmt(f),
            Self::Coap(coap) => coap.fmt(f),
            Self::Data(Data { bytes }) => write!(f, "data {bytes}"),
            Self::Unread(Unread { what, reason, why, bytes }) => {
                write!(f, "! {what}: {}", reason.name())?;
                if !why.is_empty() {
                    write!(f, ", {why}")?;
                }
                write!(f, " ({bytes} bytes)")
            }
        }
    }
}

/// Writes what AH or ESP says, and by which suite it was verified.
fn sealed(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    spi: u32,
    sequence: u32,
    suite: &Option<String>,
) -> fmt::Result {
    write!(f, "{name} index {spi} #{sequence}")?;
    suite.as_ref().map_or(Ok(()), |suite| write!(f, " {suite}"))
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.version == 2 { format!("enhanced {}", self.kind) } else { self.kind.into() };
        match (&self.source, &self.destination) {
            (None, None) => f.write_str(&kind)?,
            (None, Some(destination)) if self.kind == "ack" => write!(f, "{kind} to {destination}")?,
            (source, destination) => {
                let name = |address: &Option<LinkAddress>| match address {
                    Some(address) => address.to_string(),
                    None => "coordinator".into(),
                };
                write!(f, "{} > {}", name(source), name(destination))?;
                if self.kind != "data" {
                    write!(f, " {kind}")?;
                }
            }
        }
        self.sequence.map_or(Ok(()), |sequence| write!(f, " seq {sequence}"))?;
        if self.repeated { f.write_str(" again") } else { Ok(()) }
    }
}

impl fmt::Display for Dtls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DTLS {}.{}", self.epoch, self.sequence)?;
        for (place, message) in self.messages.iter().enumerate() {
            write!(f, "{}{}", if place == 0 { " " } else { ", " }, message.name)?;
            if let Some(offset) = message.offset {
                write!(f, " at {offset}")?;
            }
            if let Some(refused) = message.refused {
                write!(f, " refused for {refused}")?;
            }
        }
        match &self.alert {
            Some(alert) => write!(f, " {alert}"),
            None if self.messages.is_empty() => write!(f, " {}", self.content),
            None => Ok(()),
        }?;
        match self.refused {
            Some(refused) => write!(f, " refused for {refused}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Coap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CoAP {} {}", self.kind, self.code)?;
        if !self.path.is_empty() {
            write!(f, " {}", self.path)?;
        }
        write!(f, " id {}", self.id)?;
        if !self.token.0.is_empty() {
            write!(f, " token {}", self.token)?;
        }
        if self.payload_bytes > 0 { write!(f, " payload {}", self.payload_bytes) } else { Ok(()) }
    }
}

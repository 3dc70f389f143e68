use core::marker::PhantomData;
use core::net::Ipv6Addr;

use sixlock_base::{Counter, Cx, Entropy, Instant, Nv, Packet};
use sixlock_interface::NetworkSecurity;
use sixlock_ipv6::icmpv6::{self, Echo, Message};
use sixlock_ipv6::{Header, extension, next_header, udp};
use sixlock_net::Limit;
use sixlock_slip::{Decoder, Encoder};

use crate::firewall::Filter;
use crate::flows::FlowId;
use crate::internet::Internet;
use crate::outside::{Error, Exit, Outside, Upstream, is_node, is_outside};
use crate::presence::{Presence, Watch};

/// The longest packet that a bridge takes.
const MTU: usize = 1280;
/// The headers of a UDP datagram.
const HEADERS: usize = Header::LEN + udp::Header::LEN;
/// The hop limit of packets made here.
const HOP_LIMIT: u8 = 64;
/// By which echoes are this router's own.
const IDENTIFIER: u16 = 0x0616;

/// Where a router that has no mesh of its own finds one.
#[derive(Clone, Copy, Debug)]
pub struct Serial {
    /// The address in the mesh of the bridge at the other end of the line.
    pub bridge: Ipv6Addr,
    /// The host outside in whose name the bridge is asked whether it is there.
    pub host: Ipv6Addr,
}

impl Serial {
    /// The prefix of the mesh.
    fn prefix(&self) -> Option<[u8; 8]> {
        self.bridge.octets().first_chunk().copied()
    }
}

/// A border router of two parts: the mesh is at the other end of a serial line, where a device, the bridge, does what is to be done on the air, and at each
/// hop; this one does what is to be done once: security `S` between the mesh and the hosts that it speaks for, `FLOWS` flows out of the
/// mesh, `I` with packets that leave whole, and `F`, which says what may pass.
///
/// Whoever drives it carries bytes between it and the line, in SLIP. Both parts are one hop: the bridge takes one from hop limits, and makes
/// all ICMPv6 errors but that for a packet longer than 1,280 bytes. Tunnels of IPsec with nodes end at the bridge's address, and cannot end here.
pub struct SerialGateway<C, S, const FLOWS: usize, I = (), F = ()> {
    serial: Serial,
    security: S,
    outside: Outside<FLOWS, I, F>,
    line: Decoder<[u8; MTU]>,
    watch: Watch,
    asked: u16,
    errors: Limit,
    downstream: Packet<[u8; MTU]>,
    crypto: PhantomData<C>,
}

impl<C, S, const FLOWS: usize, I, F> SerialGateway<C, S, FLOWS, I, F>
where
    S: NetworkSecurity<C>,
    I: Internet<C>,
    F: Filter,
{
    /// A border router without flows, which has heard nothing of its bridge.
    pub fn new(now: Instant, serial: Serial, exit: Exit) -> Self {
        Self {
            serial,
            security: S::NEW,
            outside: Outside::new(I::NEW, exit),
            line: Decoder::new(),
            watch: Watch::new(now),
            asked: 0,
            errors: Limit::new(),
            downstream: Packet::new(),
            crypto: PhantomData,
        }
    }

    /// What protects packets between the mesh and the hosts that this router speaks for.
    pub fn security(&mut self) -> &mut S {
        &mut self.security
    }

    /// What is done to packets that leave the mesh whole, and that come whole.
    pub fn internet(&mut self) -> &mut I {
        &mut self.outside.internet
    }

    /// What says which packets pass.
    pub fn firewall(&mut self) -> &mut F {
        &mut self.outside.firewall
    }

    /// What has become of the bridge, once.
    pub fn poll_event(&mut self) -> Option<Presence> {
        self.watch.poll_event()
    }

    /// When to call [`SerialGateway::handle_timeout`].
    pub fn poll_timeout(&self) -> Instant {
        self.watch.poll_timeout()
    }

    /// Asks a bridge that has said nothing for a while.
    pub fn handle_timeout<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, line: impl FnOnce(Encoder<'_>)) {
        if !self.watch.asks(cx.now) {
            return;
        }
        self.asked = self.asked.wrapping_add(1);
        let Serial { bridge, host } = self.serial;
        let mut packet = [0; Header::LEN + Message::LEN];
        let echo = Message::EchoRequest(Echo { identifier: IDENTIFIER, sequence: self.asked });
        let (front, message) = packet.split_at_mut(Header::LEN);
        // Both have room.
        let _ = icmpv6::emit_packet_header(front, message.len(), HOP_LIMIT, (host, bridge));
        let _ = echo.emit(host, bridge, message);
        line(Encoder::new(&packet));
    }

    /// Takes in bytes from the line, and gives what leaves the mesh to `upstream`.
    pub fn handle_line<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        bytes: &[u8],
        mut upstream: impl FnMut(Upstream<'_>),
    ) {
        for &byte in bytes {
            match self.line.push(byte) {
                None => {}
                Some(Err(_)) => cx.counters.count(Counter::LineMalformed),
                Some(Ok(len)) => self.handle_mesh(cx, len, &mut upstream),
            }
        }
    }

    /// Takes in the packet of the mesh that stands in the line's buffer.
    fn handle_mesh<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        len: usize,
        upstream: impl FnOnce(Upstream<'_>),
    ) {
        let Self { serial, security, outside, line, watch, .. } = self;
        let buffer = line.buffer_mut();
        let Some((header, payload)) = buffer.get(..len).and_then(|packet| Header::parse(packet).ok()) else {
            return cx.counters.count(Counter::Ipv6Malformed);
        };
        let len = Header::LEN + payload.len();
        if !is_node(serial.prefix(), header.source) || !is_outside(serial.prefix(), header.destination) {
            return cx.counters.count(Counter::Ipv6BadAddress);
        }
        watch.heard(cx.now);
        let Some(packet) = buffer.get(..len) else { return };
        if is_answer(serial, &header, packet) {
            return;
        }
        let len = match outside.takes_whole(packet) {
            _ if !S::PROTECTS => len,
            // What the bridge itself says to hosts meets no policy.
            true if !security.is_for_others()
                || header.source == serial.bridge
                || security.admits(cx, packet) =>
            {
                len
            }
            true => return,
            false => match security.inbound(cx, buffer, len) {
                Ok(len) => len,
                Err(_) => return,
            },
        };
        if let Some(packet) = buffer.get(..len) {
            outside.leave(cx, packet, upstream);
        }
    }

    /// Takes in a packet from outside: the first `len` bytes of `buffer`. What is for a node is given to `line`. Returns the answer for
    /// outside, if there is one, made in `buffer`, of which it may take as much as the mesh's MTU.
    ///
    /// Packets are refused and counted when they are not for the mesh, say that they are from it, are from the host of the flows, or may not
    /// pass.
    pub fn handle_packet<'b, E: Entropy, N: Nv>(
        &'b mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &'b mut [u8],
        len: usize,
        line: impl FnOnce(Encoder<'_>),
    ) -> Option<&'b [u8]> {
        let len = self.outside.enter(cx, self.serial.prefix(), buffer, len)?;
        if len > MTU {
            let len = self.too_big(cx, buffer, len)?;
            return self.outside.internet.outbound(cx, buffer.get(..len)?);
        }
        let len = match S::PROTECTS && self.security.is_for_others() {
            true => self.security.outbound_in(cx, buffer, len).ok()?,
            false => len,
        };
        match buffer.get(..len).filter(|packet| packet.len() <= MTU) {
            Some(packet) => line(Encoder::new(packet)),
            None => cx.counters.count(Counter::Ipv6TooBig),
        }
        None
    }

    /// Begins a flow from the host outside at `host` to a node's port.
    pub fn open<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        host: Ipv6Addr,
        node: Ipv6Addr,
        node_port: u16,
    ) -> FlowId {
        self.outside.open(cx, host, node, node_port)
    }

    /// Gives a datagram from outside, for the node of its flow, to `line`.
    pub fn handle_upstream<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        flow: FlowId,
        payload: &[u8],
        line: impl FnOnce(Encoder<'_>),
    ) -> Result<(), Error> {
        let ends = self.outside.ends(cx, flow)?;
        let packet = &mut self.downstream;
        packet.reset(HEADERS + self.security.front());
        packet.extend(payload).map_err(|_| Error::TooLong)?;
        packet.push_front(HEADERS).map_err(|_| Error::TooLong)?;
        let ports = udp::Header { source_port: ends.host_port, destination_port: ends.node_port };
        udp::emit_packet(packet.bytes_mut(), (ends.host, ends.node), ports, HOP_LIMIT)
            .map_err(|_| Error::TooLong)?;
        self.security.outbound(cx, packet).map_err(|_| Error::Refused)?;
        line(Encoder::new(packet.bytes()));
        Ok(())
    }

    /// Makes the error about a packet that is longer than the mesh carries; its length
    /// ([RFC 4443 section 3.2](https://www.rfc-editor.org/rfc/rfc4443#section-3.2)).
    fn too_big<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, buffer: &mut [u8], len: usize) -> Option<usize> {
        const FRONT: usize = Header::LEN + Message::LEN;
        cx.counters.count(Counter::Ipv6TooBig);
        let packet = buffer.get(..len)?;
        let (header, _) = Header::parse(packet).ok()?;
        // Of a packet that cannot be read nobody knows.
        if extension::carries_error(packet).unwrap_or(true) || !self.errors.take(cx.now) {
            return None;
        }
        let (source, destination) = (self.serial.bridge, header.source);
        buffer.copy_within(..MTU - FRONT, FRONT);
        let (front, message) = buffer.get_mut(..MTU)?.split_at_mut(Header::LEN);
        let len = icmpv6::emit_packet_header(front, message.len(), HOP_LIMIT, (source, destination))?;
        Message::PacketTooBig { mtu: MTU as u32 }.emit(source, destination, message).ok()?;
        Some(len)
    }
}

/// Whether the bridge answers with this packet that it is there.
fn is_answer(serial: &Serial, header: &Header, packet: &[u8]) -> bool {
    let Serial { bridge, host } = *serial;
    let is_between =
        (header.source, header.destination, header.next_header) == (bridge, host, next_header::ICMPV6);
    let message = packet.get(Header::LEN..).unwrap_or_default();
    is_between
        && matches!(
            Message::parse(bridge, host, message),
            Ok((Message::EchoReply(Echo { identifier: IDENTIFIER, .. }), _))
        )
}

//! IPsec at the stations of a simulation.

use std::collections::VecDeque;
use std::fmt;
use std::net::Ipv6Addr;

use sixlock_base::{Array, Counter, Cx, Entropy, Eui64, MESH_PREFIX, NetworkSuite, New, Nv, Packet};
use sixlock_ipv6::extension::{self, Upper};
use sixlock_ipv6::next_header;
use sixlock_node::ipsec::{
    Action, Addresses, AnyTransform, Association, Automated, ConfigError, Contexts, Event, InboundError,
    InboundId, Ipsec as Policed, Keying, Mode, Opened, OutboundError, OutboundId, PacketBuffer, Policy,
    Protection as Associations, Protocol, Refusal, Resynchronised, Selector, Sending, SequenceNumber,
    Transform,
};
use sixlock_node::{
    Format, Interface, Layers, NetworkSecurity, PayloadCompression, Reassembler, SecurityGateway,
};
use sixlock_sixlowpan::ipsec::{Context, Flow, Known};

use crate::costs::Step;
use crate::discovery::Addressing;
use crate::engine::Accelerated;
use crate::network::{CLOUD, ROUTER};
use crate::random::{Purpose, Stream};
use crate::trial::{Use, Witness, fingerprint};

/// The security parameters index of all associations inside the network, that of the papers: header compression leaves it out.
pub(crate) const SPI: u32 = 1;

/// The buffer of a packet put together from fragments, in bytes.
const ASSEMBLED: usize = 1792;
/// A replay window of 64 packets.
pub(crate) const WINDOW: usize = 8;

/// Addresses that begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The first of them.
    pub address: Ipv6Addr,
    /// How many bits they share.
    pub length: u8,
}

impl Prefix {
    /// All addresses.
    pub const ANY: Self = Self { address: Ipv6Addr::UNSPECIFIED, length: 0 };

    /// One address.
    pub const fn one(address: Ipv6Addr) -> Self {
        Self { address, length: 128 }
    }

    /// Those of the nodes.
    pub fn mesh() -> Self {
        let address = (u128::from(u64::from_be_bytes(MESH_PREFIX)) << 64).into();
        Self { address, length: 64 }
    }

    /// The same as a range.
    pub fn addresses(self) -> Addresses {
        Addresses::prefix(self.address, self.length)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

/// Whose packets go through a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// Behind the end that is the node's.
    pub node: Prefix,
    /// Behind the end that is the host's.
    pub host: Prefix,
}

/// The two associations between a node and another host, under keys of their own; or, in tunnel mode, between a node or a host
/// outside and the border router, which takes the other's place.
#[derive(Clone, PartialEq, Eq)]
pub struct Peering {
    /// The node's id; 0 where it is the border router that has a tunnel with the host.
    pub id: u32,
    /// Its address.
    pub node: Ipv6Addr,
    /// That of the host.
    pub host: Ipv6Addr,
    /// What goes through, in tunnel mode; none in transport mode.
    pub tunnel: Option<Tunnel>,
    /// What protects packets.
    pub suite: NetworkSuite,
    /// The security parameters index of both.
    pub spi: u32,
    /// The key that the node sends under.
    pub from_node: Vec<u8>,
    /// The key that the host sends under.
    pub from_host: Vec<u8>,
}

/// A host outside with which nodes share associations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its address.
    pub address: Ipv6Addr,
    /// Whether packets go whole, in a tunnel, between it and a node.
    pub tunnel: bool,
}

impl Peering {
    /// Those that the node with this id shares keys for: with the cloud, with `host` outside if there is one, and with node
    /// `server` if readings go there.
    pub(crate) fn of_node(
        (seed, addressing): (u64, Addressing),
        id: u32,
        suite: NetworkSuite,
        host: Option<Host>,
        server: Option<u32>,
    ) -> Vec<Self> {
        let node = addressing.of(Eui64::of_node(id));
        let mut stream = Stream::new(seed, id, Purpose::Associations);
        let mut key = || {
            let mut key = vec![0; suite.key_len()];
            stream.fill(&mut key);
            key
        };
        // A host outside may tell associations apart by their index alone. Indices up to 255 are reserved.
        let inside = |address| (Host { address, tunnel: false }, SPI);
        let server = server.filter(|&server| server != id);
        let server = server.map(|server| inside(addressing.of(Eui64::of_node(server))));
        let hosts = [Some(inside(CLOUD)), host.map(|host| (host, 255 + id)), server];
        let peering = |(Host { address: host, tunnel }, spi)| {
            // Their own packets alone.
            let tunnel = tunnel.then_some(Tunnel { node: Prefix::one(node), host: Prefix::one(host) });
            let [from_node, from_host] = [key(), key()];
            Self { id, node, host, tunnel, suite, spi, from_node, from_host }
        };
        hosts.into_iter().flatten().map(peering).collect()
    }

    /// The tunnel between the node with this id and the border router, through which everything goes.
    pub(crate) fn tunnel_of_node(seed: u64, id: u32, suite: NetworkSuite) -> Self {
        let mut stream = Stream::new(seed, id, Purpose::Associations);
        let keys = [(); 2].map(|()| {
            let mut key = vec![0; suite.key_len()];
            stream.fill(&mut key);
            key
        });
        Self::with_router(id, suite, SPI, keys)
    }

    /// The tunnel between the node with this id and the border router, through which everything goes, under the keys that the node
    /// and the border router send under.
    pub fn with_router(id: u32, suite: NetworkSuite, spi: u32, [from_node, from_host]: [Vec<u8>; 2]) -> Self {
        let [node, host] = [id, ROUTER].map(|id| Eui64::of_node(id).with_prefix(MESH_PREFIX));
        let tunnel = Tunnel { node: Prefix::one(node), host: Prefix::ANY };
        Self { id, node, host, tunnel: Some(tunnel), suite, spi, from_node, from_host }
    }

    /// Tells station `id`, one end of it, which is the host's if the number is not that of the peering, of its associations and of the
    /// policy that they are for; `transform` is made of the suite and a key. With `unauthenticated`, the suite may accept forgeries.
    ///
    /// # Errors
    /// When there is no room, or no such transform.
    pub fn share<C, T: Transform<C>, const POLICIES: usize, const ASSOCIATIONS: usize, K>(
        &self,
        ipsec: &mut Policed<C, T, POLICIES, ASSOCIATIONS, WINDOW, K>,
        id: u32,
        unauthenticated: bool,
        transform: impl Fn(NetworkSuite, &[u8]) -> Option<T>,
    ) -> Result<(), ConfigError>
    where
        K: Keying<Lifetime: Default>,
    {
        let [outbound, inbound] = self.associations_at(id, transform)?;
        let (outbound, inbound) = (ipsec.add_outbound(outbound)?, ipsec.add_inbound(inbound)?);
        ipsec.add_policy(self.policy_at(id, outbound, inbound, unauthenticated))
    }

    /// The addresses of its ends, that of station `id` first.
    pub(crate) fn ends(&self, id: u32) -> (Ipv6Addr, Ipv6Addr) {
        // The border router speaks for the cloud.
        if self.id == id { (self.node, self.host) } else { (self.host, self.node) }
    }

    /// Whether it is for the same packets between the same ends as `other`.
    pub(crate) fn has_ends_of(&self, other: &Self) -> bool {
        let ends = |peering: &Self| (peering.id, peering.node, peering.host, peering.tunnel);
        ends(self) == ends(other)
    }

    /// The associations under which station `id` sends and receives.
    pub(crate) fn associations_at<C, T: Transform<C>, L: Default>(
        &self,
        id: u32,
        transform: impl Fn(NetworkSuite, &[u8]) -> Option<T>,
    ) -> Result<[Association<T, L>; 2], ConfigError> {
        let Self { suite, spi, ref from_node, ref from_host, .. } = *self;
        let (local, remote) = self.ends(id);
        let association = |key: &[u8]| {
            Ok(Association {
                spi,
                mode: if self.tunnel.is_some() { Mode::Tunnel { local, remote } } else { Mode::Transport },
                extended: true,
                lifetime: L::default(),
                address: Some(remote),
                transform: transform(suite, key).ok_or(ConfigError::NoAssociation)?,
            })
        };
        let (ours, theirs) = if self.id == id { (from_node, from_host) } else { (from_host, from_node) };
        Ok([association(ours)?, association(theirs)?])
    }

    /// The policy of station `id` for what these associations protect.
    pub(crate) fn policy_at(
        &self,
        id: u32,
        outbound: OutboundId,
        inbound: InboundId,
        unauthenticated: bool,
    ) -> Policy {
        let Self { node, host, tunnel, .. } = *self;
        let Tunnel { node, host } =
            tunnel.unwrap_or(Tunnel { node: Prefix::one(node), host: Prefix::one(host) });
        let (local, remote) = if self.id == id { (node, host) } else { (host, node) };
        let selector = Selector { local: local.addresses(), remote: remote.addresses(), ..Selector::ANY };
        let protection = Associations { unauthenticated, ..Associations::by(outbound, inbound) };
        Policy { selector, action: Action::Protect(protection) }
    }

    /// Whether it is the tunnel between a security gateway and a host outside.
    pub fn is_with_gateway(&self) -> bool {
        self.id == 0
    }

    /// Both associations: who sends under it, to whom, and its key.
    pub(crate) fn associations(&self) -> [(Ipv6Addr, Ipv6Addr, &[u8]); 2] {
        [(self.node, self.host, &self.from_node), (self.host, self.node, &self.from_host)]
    }
}

/// A suite with its key, on the heap: it is large, and tables of them are not to be.
pub(crate) struct Keyed(Box<Resynchronised<AnyTransform<Accelerated>>>);

impl Keyed {
    /// That of `suite` with this key; none if that is too long or too short.
    pub(crate) fn of(suite: NetworkSuite, key: &[u8]) -> Option<Self> {
        let transform = AnyTransform::new(&mut Accelerated::new(None), suite, key).ok()?;
        Some(Self(Box::new(Resynchronised::new(transform))))
    }
}

impl Transform<Accelerated> for Keyed {
    fn protocol(&self) -> Protocol {
        self.0.protocol()
    }

    fn icv_len(&self) -> usize {
        self.0.icv_len()
    }

    fn protect<E: Entropy>(
        &self,
        crypto: &mut Accelerated,
        entropy: &mut E,
        sending: &Sending,
        room: &mut PacketBuffer<'_>,
    ) -> Result<(), OutboundError> {
        self.0.protect(crypto, entropy, sending, room)
    }

    fn open(
        &self,
        crypto: &mut Accelerated,
        packet: &mut [u8],
        found: &Upper,
        number: SequenceNumber,
        extended: bool,
    ) -> Result<Opened, InboundError> {
        self.0.open(crypto, packet, found, number, extended)
    }
}

/// Associations are not replaced; events tell why packets are refused.
pub(crate) type Watched = Automated<0>;

type Tables<const POLICIES: usize, const PEERS: usize> =
    SecurityGateway<Policed<Accelerated, Keyed, POLICIES, PEERS, WINDOW, Watched>>;

/// Turns IPsec on at station `id`, one end of each of `peerings`, and lets its headers be compressed: see [`Ipsec::start`].
///
/// # Errors
/// When there is no room for so many.
pub(crate) fn protect<'p, L, const POLICIES: usize, const PEERS: usize, const FLOWS: usize>(
    interface: &mut Interface<Accelerated, L>,
    peerings: impl Iterator<Item = &'p Peering>,
    id: u32,
    unauthenticated: bool,
) -> Result<(), ConfigError>
where
    L: Layers<Accelerated, Security = Ipsec<POLICIES, PEERS>, Compression = Compression<FLOWS>>,
{
    interface.compression().start();
    interface.security().start(peerings, id, unauthenticated)
}

/// The refusal that an event tells of.
pub(crate) fn refusal(event: Event) -> Option<Refusal> {
    match event {
        Event::Refused(refusal) => Some(refusal),
        _ => None,
    }
}

/// What a protected packet is known by on its way: its addresses, and the beginning of its AH or ESP with the sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seal([u8; 44]);

impl Seal {
    /// That of a packet whose beginning this is; none if it is shorter than any that is protected.
    pub(crate) fn of(packet: &[u8]) -> Option<Self> {
        let at = extension::skip(packet)?.at;
        let (mut seal, (addresses, numbers)) = ([0; 44], (packet.get(8..40)?, packet.get(at..at + 12)?));
        seal[..32].copy_from_slice(addresses);
        seal[32..].copy_from_slice(numbers);
        Some(Self(seal))
    }
}

/// What protects a packet, as the first of its extension headers that does.
pub(crate) fn protocol(packet: &[u8]) -> Option<Protocol> {
    extension::skip(packet).and_then(|upper| Protocol::named(upper.protocol))
}

/// The use of an association's sequence number in a packet that AH or ESP protects, and what tells its upper part from others.
/// What routers change in the headers before it does not count.
fn numbered(packet: &[u8]) -> Option<(Use, u64)> {
    let upper = extension::skip(packet)?;
    let before = match Protocol::named(upper.protocol)? {
        Protocol::Ah => 4,
        Protocol::Esp => 0,
    };
    let association = [packet.get(8..40)?, packet.get(upper.at + before..)?.get(..4)?];
    let name = [fingerprint(&association).to_be_bytes(), fingerprint(&[&[1], association[0]]).to_be_bytes()];
    let number = packet.get(upper.at + before + 4..)?.get(..4)?;
    Some(([name.as_flattened(), number].concat(), fingerprint(&[packet.get(upper.at..)?])))
}

/// Whether a packet is an error that says that there is no route to a destination.
fn says_no_route(packet: &[u8]) -> bool {
    let message = extension::skip(packet).filter(|upper| upper.protocol == next_header::ICMPV6);
    // Its type and code (https://www.rfc-editor.org/rfc/rfc4443#section-3.1).
    message.and_then(|upper| packet.get(upper.at..upper.at + 2)) == Some(&[1, 0])
}

/// What a packet was before it was protected.
pub(crate) struct Cleartext {
    /// What it is known by since.
    pub(crate) seal: Seal,
    /// The packet.
    pub(crate) packet: Vec<u8>,
}

/// Puts packets together from fragments.
pub(crate) type Reassembly = Reassembler<ASSEMBLED, 2>;

/// IPsec with at most `PEERS` hosts, where it is on.
pub(crate) struct Ipsec<const POLICIES: usize, const PEERS: usize> {
    tables: Option<Box<Tables<POLICIES, PEERS>>>,
    /// What was protected and not yet told.
    cleartexts: Vec<Cleartext>,
    /// What was done to packets and not yet told, with their bytes.
    steps: Vec<(Step, usize)>,
    /// Packets of TCP that have come in, if somebody is there who takes them.
    segments: Option<VecDeque<Vec<u8>>>,
    /// Sees each use of an association's sequence numbers, if somebody is to.
    pub(crate) witness: Option<Witness>,
    /// Why packets were refused, not yet taken.
    refusals: Vec<Refusal>,
    /// Errors that policy did not let out, of packets without a route.
    unreachable: u32,
}

impl<const POLICIES: usize, const PEERS: usize> Ipsec<POLICIES, PEERS> {
    /// Turns it on at station `id`, one end of each of `peerings`: what none of them is for is discarded from now on, out and
    /// in. A node that has none lets everything pass, and restores the compressed headers of those that it forwards for. With `unauthenticated`,
    /// their suites may accept forgeries.
    ///
    /// # Errors
    /// When there is no room for so many.
    pub(crate) fn start<'p>(
        &mut self,
        peerings: impl Iterator<Item = &'p Peering>,
        id: u32,
        unauthenticated: bool,
    ) -> Result<(), ConfigError> {
        let mut peerings = peerings.peekable();
        let tables = self.tables();
        if id != ROUTER && peerings.peek().is_none() {
            return tables.ipsec.add_policy(Policy { selector: Selector::ANY, action: Action::Bypass });
        }
        peerings.try_for_each(|peering| peering.share(&mut tables.ipsec, id, unauthenticated, Keyed::of))
    }

    /// Lets the control messages of RPL pass as they are, and those of neighbour discovery, if the network has it.
    ///
    /// # Errors
    /// When there is no room.
    pub(crate) fn pass_control(&mut self, discovers: bool) -> Result<(), ConfigError> {
        let selectors = [Selector::RPL]
            .into_iter()
            .chain(Selector::NEIGHBOUR_DISCOVERY.into_iter().filter(|_| discovers));
        selectors
            .map(|selector| Policy { selector, action: Action::Bypass })
            .try_for_each(|policy| self.tables().ipsec.add_policy(policy))
    }

    fn tables(&mut self) -> &mut Tables<POLICIES, PEERS> {
        self.tables.get_or_insert_with(|| Box::new(Tables::NEW))
    }

    /// Lets it be for all nodes, too, as [`SecurityGateway::protect_others`] says.
    ///
    /// # Errors
    /// When there is no room.
    pub(crate) fn protect_others(&mut self, unprotected: bool) -> Result<(), ConfigError> {
        self.tables().protect_others(Prefix::mesh().addresses(), unprotected)
    }
}

impl<const POLICIES: usize, const PEERS: usize> New for Ipsec<POLICIES, PEERS> {
    const NEW: Self = Self {
        tables: None,
        cleartexts: Vec::new(),
        steps: Vec::new(),
        segments: None,
        witness: None,
        refusals: Vec::new(),
        unreachable: 0,
    };
}

impl<const POLICIES: usize, const PEERS: usize> NetworkSecurity<Accelerated> for Ipsec<POLICIES, PEERS> {
    const PROTECTS: bool = true;
    const REROUTES: bool = true;

    fn front(&self) -> usize {
        self.tables.as_ref().map_or(0, |tables| tables.front())
    }

    fn is_for_others(&self) -> bool {
        self.tables.as_ref().is_some_and(|tables| tables.is_for_others())
    }

    fn admits<E, N>(&mut self, cx: &mut Cx<'_, Accelerated, E, N>, packet: &[u8]) -> bool {
        let is_admitted = self.tables.as_mut().is_none_or(|tables| tables.admits(cx, packet));
        self.note_refusal();
        is_admitted
    }

    fn outbound<E: Entropy, N: Nv, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, Accelerated, E, N>,
        packet: &mut Packet<B>,
    ) -> Result<(), OutboundError> {
        let Some(tables) = &mut self.tables else { return Ok(()) };
        let clear = packet.bytes().to_vec();
        let result = tables.outbound(cx, packet);
        self.note_outbound(clear, result.map(|()| packet.bytes()))
    }

    fn outbound_in<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, Accelerated, E, N>,
        buffer: &mut [u8],
        len: usize,
    ) -> Result<usize, OutboundError> {
        let Some(tables) = &mut self.tables else { return Ok(len) };
        let clear = buffer.get(..len).unwrap_or_default().to_vec();
        let result = tables.outbound_in(cx, buffer, len);
        self.note_outbound(clear, result.map(|len| buffer.get(..len).unwrap_or_default()))?;
        result
    }

    fn inbound<E, N>(
        &mut self,
        cx: &mut Cx<'_, Accelerated, E, N>,
        buffer: &mut [u8],
        len: usize,
    ) -> Result<usize, InboundError> {
        let packet = buffer.get(..len).unwrap_or_default();
        if self.tables.is_some() && protocol(packet).is_some() {
            self.steps.push((Step::PacketOpened, len));
        }
        let (protected, seen) = (len, self.witness.as_ref().and_then(|_| numbered(packet)));
        let result = self.tables.as_mut().map_or(Ok(len), |tables| tables.inbound(cx, buffer, len));
        self.note_refusal();
        let len = result?;
        // What policy lets pass as it is has as many bytes as before.
        if let (Some(witness), Some((name, message)), true) = (&mut self.witness, seen, len < protected) {
            witness.opens(name, message);
        }
        let packet = buffer.get(..len).unwrap_or_default();
        match &mut self.segments {
            Some(segments)
                if extension::skip(packet).is_some_and(|upper| upper.protocol == next_header::TCP) =>
            {
                segments.push_back(packet.to_vec());
                // The node has nothing left to do.
                Err(InboundError::Dummy)
            }
            _ => Ok(len),
        }
    }
}

impl<const POLICIES: usize, const PEERS: usize> Ipsec<POLICIES, PEERS> {
    /// Packets of TCP that have come in, which are kept from the first call on; none is lost between two.
    pub(crate) fn segments(&mut self) -> &mut VecDeque<Vec<u8>> {
        self.segments.get_or_insert_default()
    }

    /// Why packets were refused since this was last called.
    pub(crate) fn take_refusals(&mut self) -> Vec<Refusal> {
        core::mem::take(&mut self.refusals)
    }

    /// How many errors of packets without a route policy did not let out since this was last called.
    pub(crate) fn take_unreachable(&mut self) -> u32 {
        core::mem::take(&mut self.unreachable)
    }

    /// Notes what has become of a packet that was `clear`.
    fn note_outbound(
        &mut self,
        clear: Vec<u8>,
        result: Result<&[u8], OutboundError>,
    ) -> Result<(), OutboundError> {
        self.note_refusal();
        if result.is_err_and(|error| error.counter() == Counter::IpsecDiscarded) {
            self.unreachable += u32::from(says_no_route(&clear));
        }
        self.note(clear, result?);
        Ok(())
    }

    fn note_refusal(&mut self) {
        let event = self.tables.as_mut().and_then(|tables| tables.ipsec.poll_event());
        self.refusals.extend(event.and_then(refusal));
    }

    /// What was protected since this was last called.
    pub(crate) fn take_cleartexts(&mut self) -> Vec<Cleartext> {
        // Who asks for these alone does not want the others.
        self.steps.clear();
        core::mem::take(&mut self.cleartexts)
    }

    /// What was done to packets, with their bytes, since this or [`Ipsec::take_cleartexts`] was last called.
    pub(crate) fn take_steps(&mut self) -> Vec<(Step, usize)> {
        core::mem::take(&mut self.steps)
    }

    fn note(&mut self, clear: Vec<u8>, packet: &[u8]) {
        // What policy lets pass may bear a header of IPsec, which another has made.
        if clear == packet {
            return;
        }
        if let Some(protocol) = protocol(packet) {
            self.steps
                .push((if protocol == Protocol::Ah { Step::AhMade } else { Step::EspMade }, clear.len()));
        }
        if let (Some(witness), Some((name, message))) = (&mut self.witness, numbered(packet)) {
            witness.protects(name, message);
        }
        if let Some(seal) = Seal::of(packet) {
            self.cleartexts.push(Cleartext { seal, packet: clear });
        }
    }
}

/// How headers and payloads are compressed over links, with the state of `FLOWS` flows where there is IPsec.
pub(crate) struct Compression<const FLOWS: usize> {
    contexts: Option<Box<Contexts<FLOWS>>>,
    /// How payloads are compressed.
    pub(crate) payloads: Option<PayloadCompression>,
    /// From how many bytes on packets are compressed.
    pub(crate) from: usize,
}

impl<const FLOWS: usize> Compression<FLOWS> {
    /// Compresses as the links of a scenario do.
    pub(crate) fn set(&mut self, (payloads, from): (Option<PayloadCompression>, usize)) {
        (self.payloads, self.from) = (payloads, from);
    }

    /// Lets the headers of IPsec be compressed.
    pub(crate) fn start(&mut self) {
        self.contexts.get_or_insert_with(|| {
            let mut contexts = Box::new(Contexts::new());
            contexts.start(Format::default(), SPI);
            contexts
        });
    }
}

impl<const FLOWS: usize> New for Compression<FLOWS> {
    const NEW: Self = Self { contexts: None, payloads: None, from: 0 };
}

impl<const FLOWS: usize> Context for Compression<FLOWS> {
    fn compress_from(&self) -> usize {
        self.from
    }

    fn payloads(&self) -> Option<PayloadCompression> {
        self.payloads
    }

    fn format(&self) -> Option<Format> {
        self.contexts.as_ref()?.format()
    }

    fn default_spi(&self) -> u32 {
        SPI
    }

    fn is_known_to_receiver(&self, flow: &Flow, sequence: u32, ah_len: usize) -> bool {
        self.contexts.as_ref().is_some_and(|contexts| contexts.is_known_to_receiver(flow, sequence, ah_len))
    }

    fn known(&self, flow: &Flow) -> Option<Known> {
        self.contexts.as_ref()?.known(flow)
    }

    fn received(&mut self, packet: &[u8]) {
        if let Some(contexts) = &mut self.contexts {
            contexts.received(packet);
        }
    }

    fn sent(&mut self, packet: &[u8]) {
        if let Some(contexts) = &mut self.contexts {
            contexts.sent(packet);
        }
    }

    fn widen(&mut self) {
        if let Some(contexts) = &mut self.contexts {
            contexts.widen();
        }
    }

    fn ask(&mut self, neighbour: Eui64) {
        if let Some(contexts) = &mut self.contexts {
            contexts.ask(neighbour);
        }
    }

    fn poll_ask(&mut self) -> Option<Eui64> {
        self.contexts.as_mut()?.poll_ask()
    }
}

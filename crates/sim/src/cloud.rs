//! The far end inside a simulation: the real many-peer server, with a table of devices for a database.

use core::net::SocketAddrV6;
use std::collections::BTreeMap;

use sixlock_base::{Counters, Cx, Eui64};
use sixlock_coap_msg::{Code, ContentFormat, Message};
use sixlock_crypto::constant_time_eq;
use sixlock_crypto::p256::{P_256_POINT, P256 as _};
use sixlock_dtls::{Answer, Refusal, perform};
use sixlock_endpoint::{
    AuthenticationMethod, Config, Endpoint, Event, OnHeap, RequestId, Transport, UnderWay,
};
use sixlock_gateway::FlowId;
use sixlock_node::KeyRing;

use crate::devices::Device;
use crate::engine::Accelerated;
use crate::outbound::Outbound;
use crate::random::{Purpose, Stream};
use crate::receipts::{Novelty, Receipts};
use crate::scenario::Credential;
use crate::time::Time;
use crate::timer::Timer;
use crate::trial::Witness;

/// The UDP port of CoAP.
pub(crate) const COAP: u16 = 5683;
/// The UDP port of CoAP over DTLS.
pub(crate) const COAPS: u16 = 5684;

/// The node number by which the cloud draws its randomness: no node has it.
pub(crate) const RANDOM_NODE: u32 = u32::MAX;
/// Flows that are remembered where there are few nodes: as many as a border router has, and those of a network whose nodes all changed
/// their ports.
const FLOWS: usize = 2 * 1024;
/// The longest response: it carries no payload.
const RESPONSE: usize = 64;

/// The cloud at the far end.
pub(crate) struct Cloud {
    endpoint: Endpoint<Accelerated, SocketAddrV6, OnHeap<RESPONSE>, 4>,
    config: Config,
    crypto: Accelerated,
    entropy: Stream,
    /// A server has no link layer: nothing in it reserves counters.
    nv: (),
    counters: Counters,
    pub(crate) timer: Timer,
    devices: Vec<Device>,
    /// Node ids by identity and by resource.
    identities: BTreeMap<Vec<u8>, u32>,
    resources: BTreeMap<Vec<u8>, u32>,
    /// Its own keys, where nodes prove by public ones who they are, and those of the nodes.
    keys: Option<&'static KeyRing>,
    points: Vec<Option<[u8; P_256_POINT]>>,
    /// How requests in the clear say whose they are; none are taken without.
    credential: Option<Credential>,
    /// The border router and its flow by which each address and port was heard last. When there are [`FLOWS`], or two for each node, the one with the highest address is forgotten:
    /// those of nodes come first.
    flows: BTreeMap<SocketAddrV6, (u32, FlowId)>,
    /// What is kept of the requests of each node that were accepted.
    receipts: Vec<Receipts>,
    /// Why DTLS has refused something, and of which node that was.
    refusals: Vec<(u32, Refusal)>,
    /// Whose requests the endpoint has handed out again, since that was last asked.
    again: Vec<u32>,
}

impl Cloud {
    /// A cloud that knows `devices`: those of the nodes from 1 on. It has these keys, if they have public ones. In the clear,
    /// it knows them by this credential, or by the addresses that no other node has in a simulation.
    pub(crate) fn new(
        seed: u64,
        devices: Vec<Device>,
        keys: Option<&'static KeyRing>,
        credential: Option<Credential>,
    ) -> Self {
        let mut entropy = Stream::new(seed, RANDOM_NODE, Purpose::Entropy);
        let mut counters = Counters::new();
        let mut crypto = Accelerated::new(None);
        let mut cx = Cx {
            now: Time::ZERO.instant(),
            crypto: &mut crypto,
            entropy: &mut entropy,
            nv: &mut (),
            counters: &mut counters,
        };
        let peers = devices.len() as u32 * 2;
        let config = Config {
            max_sessions: peers,
            max_handshakes: peers,
            max_plain: peers,
            credentials: keys.map(|keys| &keys.credentials),
            ..Config::default()
        };
        let endpoint = Endpoint::new(&mut cx, config);
        let by = |name: fn(&Device) -> &str| {
            devices.iter().zip(1..).map(|(device, id)| (name(device).as_bytes().to_vec(), id)).collect()
        };
        let mut point = |device: &Device| device.keys.and_then(|keys| crypto.p256_public_key(keys.secret));
        let points = devices.iter().map(&mut point).collect();
        Self {
            endpoint,
            config,
            keys,
            points,
            crypto,
            entropy,
            nv: (),
            counters,
            timer: Timer::default(),
            identities: by(|device| &device.identity),
            resources: by(|device| &device.resource),
            credential,
            flows: BTreeMap::new(),
            receipts: devices.iter().map(|_| Receipts::default()).collect(),
            refusals: Vec::new(),
            again: Vec::new(),
            devices,
        }
    }

    fn lend(&mut self, now: Time) -> (Parts<'_>, Cx<'_, Accelerated, Stream, ()>) {
        let parts = Parts {
            endpoint: &mut self.endpoint,
            devices: &self.devices,
            identities: &self.identities,
            resources: &self.resources,
            credential: self.credential,
            receipts: &mut self.receipts,
            again: &mut self.again,
        };
        let cx = Cx {
            now: now.instant(),
            crypto: &mut self.crypto,
            entropy: &mut self.entropy,
            nv: &mut self.nv,
            counters: &mut self.counters,
        };
        (parts, cx)
    }

    /// Starts anew: sessions, handshakes and exchanges are forgotten, but not what was accepted.
    pub(crate) fn restart(&mut self, now: Time) {
        let config = self.config;
        let (parts, mut cx) = self.lend(now);
        *parts.endpoint = Endpoint::new(&mut cx, config);
        parts.receipts.iter_mut().for_each(Receipts::forget_sessions);
    }

    /// Lets a witness see each use of a key and nonce from now on.
    pub(crate) fn show(&mut self, witness: Witness) {
        self.crypto.show(witness);
    }

    /// Why DTLS has refused something since this was last called, and of which node that was.
    pub(crate) fn take_refusals(&mut self) -> Vec<(u32, Refusal)> {
        core::mem::take(&mut self.refusals)
    }

    /// What its pools hold, by name.
    pub(crate) fn occupied(&self) -> [(&'static str, usize); 3] {
        let UnderWay { handshakes, buffers, exchanges } = self.endpoint.under_way();
        [
            ("places for handshakes", handshakes),
            ("buffers of DTLS handshakes", buffers),
            ("peers with exchanges of CoAP", exchanges),
        ]
    }

    /// Whose requests its endpoint has handed out again within their lifetime, since this was last called.
    pub(crate) fn take_again(&mut self) -> Vec<u32> {
        core::mem::take(&mut self.again)
    }

    /// What it has counted.
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Takes a datagram; `accepted` is told whose readings it brought that were not received before, and what was in them.
    pub(crate) fn handle(
        &mut self,
        now: Time,
        datagram: &mut Outbound,
        mut accepted: impl FnMut(u32, &[u8]),
    ) {
        let transport = match datagram.port {
            COAP => Transport::Udp,
            COAPS => Transport::Dtls,
            _ => return,
        };
        let from = datagram.from;
        self.flows.insert(from, (datagram.router, datagram.flow));
        if self.flows.len() > FLOWS.max(2 * self.devices.len()) {
            self.flows.pop_last();
        }
        let (parts, mut cx) = self.lend(now);
        let mut rest = &mut datagram.payload[..];
        loop {
            let received = parts.endpoint.handle(&mut cx, transport, from, rest);
            if let Some(request) = received.request {
                let node = parts.author(request.id, from, &request.message);
                let code = match node {
                    Some(_) if !is_reading(&request.message) => Code::BAD_REQUEST,
                    Some(_) => Code::CHANGED,
                    None => Code::UNAUTHORIZED,
                };
                // A session that has gone needs no answer.
                let answered = parts.endpoint.respond(&mut cx, request.id, code.into());
                if let (Some(node), Code::CHANGED, Ok(())) = (node, code, answered) {
                    let receipts = &mut parts.receipts[node as usize - 1];
                    match receipts.insert(now, request.id, from, &request.message) {
                        Novelty::New => accepted(node, request.message.payload()),
                        Novelty::SentAnew => {}
                        Novelty::HandedOutAgain => parts.again.push(node),
                    }
                }
            }
            rest = received.rest;
            if rest.is_empty() {
                break;
            }
        }
        self.work(now);
    }

    /// Does what handshakes wait for.
    fn work(&mut self, now: Time) {
        let Self {
            endpoint, crypto, entropy, nv, counters, devices, identities, keys, points, refusals, ..
        } = self;
        let mut cx = Cx { now: now.instant(), crypto, entropy, nv, counters };
        loop {
            let (session, work) = match endpoint.poll_event() {
                Some(Event::Work { session, identity, method }) => {
                    let place = identities.get(identity).map(|&node| node as usize - 1);
                    let key = place.and_then(|place| match method {
                        AuthenticationMethod::PreSharedKey => Some(devices[place].key.as_bytes()),
                        AuthenticationMethod::RawPublicKey | AuthenticationMethod::Certificate => {
                            points[place].as_ref().map(|point| &point[..])
                        }
                    });
                    (session, Work::Resume(key))
                }
                Some(Event::Task { session, task }) => {
                    let Some(keys) = keys else { continue };
                    let answer = perform(cx.crypto, cx.entropy, keys.secret, &keys.trusted, task);
                    (session, Work::GoOn(answer))
                }
                Some(Event::Refused { from, refusal }) => {
                    refusals.extend(Eui64::of_address(*from.ip()).node_id().map(|node| (node, refusal)));
                    continue;
                }
                Some(Event::Failed { from, failure, .. }) => {
                    let node = Eui64::of_address(*from.ip()).node_id();
                    refusals.extend(node.zip(failure.refusal()));
                    continue;
                }
                Some(_) => continue,
                None => return,
            };
            // A session that has gone needs nothing.
            let _ = match work {
                Work::Resume(key) => endpoint.provide_key(&mut cx, session, key),
                Work::GoOn(answer) => {
                    if let Answer::Peer(point) = &answer
                        && let Some(place) = points.iter().position(|known| known.as_ref() == Some(point))
                    {
                        let identity = devices[place].identity.as_bytes();
                        endpoint.identify(
                            &mut cx,
                            session,
                            (identity, AuthenticationMethod::RawPublicKey),
                            point,
                        );
                    }
                    endpoint.complete(&mut cx, session, &answer)
                }
            };
        }
    }

    /// The next datagram into the mesh, in `out`, with the border router and its flow that it goes by.
    pub(crate) fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<((u32, FlowId), usize)> {
        loop {
            let (parts, mut cx) = self.lend(now);
            let transmit = parts.endpoint.poll_transmit(&mut cx, out)?;
            if let Some(&flow) = self.flows.get(&transmit.to) {
                return Some((flow, transmit.len));
            }
        }
    }

    /// When to call [`Cloud::handle_timer`].
    pub(crate) fn poll_timer(&mut self, now: Time) -> Option<Time> {
        let deadline = self.endpoint.poll_timeout().map(|deadline| now.of_instant(deadline));
        self.timer.set(deadline)
    }

    pub(crate) fn handle_timer(&mut self, now: Time) {
        if self.timer.fires(now) {
            let (parts, mut cx) = self.lend(now);
            parts.endpoint.handle_timeout(&mut cx);
            self.work(now);
        }
    }
}

/// What a handshake goes on with.
enum Work<'a> {
    /// The key that was looked up.
    Resume(Option<&'a [u8]>),
    /// What came of a task.
    GoOn(Answer),
}

struct Parts<'a> {
    endpoint: &'a mut Endpoint<Accelerated, SocketAddrV6, OnHeap<RESPONSE>, 4>,
    devices: &'a [Device],
    identities: &'a BTreeMap<Vec<u8>, u32>,
    resources: &'a BTreeMap<Vec<u8>, u32>,
    credential: Option<Credential>,
    receipts: &'a mut [Receipts],
    again: &'a mut Vec<u32>,
}

impl Parts<'_> {
    /// Which node a request is from: by the identity of its session, by the resource and key in it, or by its address.
    fn author(&self, id: RequestId, from: SocketAddrV6, message: &Message<'_>) -> Option<u32> {
        if id.transport() == Transport::Dtls {
            return self.identities.get(self.endpoint.identity(id)?).copied();
        }
        if self.credential? == Credential::None {
            let node = Eui64::of_address(*from.ip()).node_id()?;
            return (1..=self.devices.len() as u32).contains(&node).then_some(node);
        }
        let node = *self.resources.get(message.query("id")?)?;
        let key = self.devices[node as usize - 1].key.as_bytes();
        constant_time_eq(message.query("key")?, key).then_some(node)
    }
}

fn is_reading(message: &Message<'_>) -> bool {
    message.code() == Code::POST
        && message.path_is(&["resources", "data"])
        && message.content_format() == Some(ContentFormat::SENML_JSON)
}

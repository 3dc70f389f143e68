//! The host at the far end that sends echoes: in the clear, or over DTLS as the client of each node.

use sixlock_base::{Counters, Cx};
use sixlock_dtls::{
    Certificates, Certified, ClientSession, Completion, Config, Event, Features, Handshake, KeyLogEntry,
    Refusal, Suite, Suites, Work, perform,
};
use sixlock_gateway::FlowId;
use sixlock_node::KeyRing;

use crate::cloud::RANDOM_NODE;
use crate::devices::Device;
use crate::engine::Accelerated;
use crate::random::{Purpose, Stream};
use crate::time::Time;
use crate::timer::Timer;
use crate::trial::Witness;

/// The suite of devices with public keys.
const CERTIFIED: Suites = Suites::new(&[Suite::EcdheEcdsaAes128Ccm8]);

/// The host.
pub(crate) struct EchoHost {
    /// Bytes in an echo.
    payload: usize,
    /// Its flows to the nodes from 1 on.
    flows: Vec<FlowId>,
    /// Its sessions with them, if there is to be DTLS.
    clients: Option<Box<Clients>>,
}

/// Sessions with the nodes from 1 on.
pub(crate) struct Clients {
    nodes: Vec<Client>,
    /// The host's own keys, where nodes have public ones.
    keys: Option<&'static KeyRing>,
    crypto: Accelerated,
    entropy: Stream,
    /// A host has no link layer: nothing in it reserves counters.
    nv: (),
    counters: Counters,
    timer: Timer,
}

/// A session, with its handshake while that is under way.
type Session =
    ClientSession<Accelerated, Option<Box<Handshake<Accelerated, Features<Certificates>>>>, Certified>;

struct Client {
    device: Device,
    session: Session,
    /// Why its session has ended.
    refusal: Option<Refusal>,
}

/// What has become of a handshake.
pub(crate) enum Ended {
    /// There is a session.
    Connected,
    /// There is none.
    Failed,
}

impl EchoHost {
    /// A host with these flows; with DTLS if it is told what nodes are known by, and its own keys where they have public ones.
    pub(crate) fn new(
        seed: u64,
        payload: u16,
        flows: Vec<FlowId>,
        known: Option<(Vec<Device>, Option<&'static KeyRing>)>,
    ) -> Self {
        let client = |device| Client { device, session: ClientSession::new(None), refusal: None };
        let clients = known.map(|(devices, keys)| {
            Box::new(Clients {
                nodes: devices.into_iter().map(client).collect(),
                keys,
                crypto: Accelerated::new(None),
                entropy: Stream::new(seed, RANDOM_NODE, Purpose::Entropy),
                nv: (),
                counters: Counters::new(),
                timer: Timer::default(),
            })
        });
        Self { payload: payload.into(), flows, clients }
    }

    /// Starts anew: sessions and handshakes are forgotten.
    pub(crate) fn restart(&mut self) {
        for client in self.clients.iter_mut().flat_map(|clients| &mut clients.nodes) {
            client.session = ClientSession::new(None);
        }
    }

    /// Bytes in an echo.
    pub(crate) fn payload(&self) -> usize {
        self.payload
    }

    /// The flow to a node.
    pub(crate) fn flow(&self, node: u32) -> FlowId {
        self.flows[node as usize - 1]
    }

    /// The node to which a flow leads.
    pub(crate) fn node(&self, flow: FlowId) -> Option<u32> {
        self.flows.iter().position(|known| *known == flow).map(|index| index as u32 + 1)
    }

    /// Takes in a datagram from a node, and gives what it has sent back to `data`.
    pub(crate) fn handle(&mut self, now: Time, node: u32, datagram: &mut [u8], mut data: impl FnMut(&[u8])) {
        match &mut self.clients {
            Some(clients) => clients.handle(now, node, datagram, data),
            None => data(datagram),
        }
    }

    /// The datagram that takes an echo to a node.
    pub(crate) fn datagram(&mut self, now: Time, node: u32, echo: Vec<u8>) -> Option<Vec<u8>> {
        match &mut self.clients {
            Some(clients) => clients.seal(now, node, &echo),
            None => Some(echo),
        }
    }

    /// The next datagram of a handshake, in `out`, and its flow.
    pub(crate) fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<(FlowId, usize)> {
        let (node, len) = self.clients.as_mut()?.poll_transmit(now, out)?;
        Some((self.flow(node), len))
    }

    /// Lets a witness see each use of a key and nonce from now on.
    pub(crate) fn show(&mut self, witness: Witness) {
        if let Some(clients) = &mut self.clients {
            clients.crypto.show(witness);
        }
    }

    /// What its pools hold, by name.
    pub(crate) fn occupied(&self) -> [(&'static str, usize); 1] {
        let nodes = self.clients.iter().flat_map(|clients| &clients.nodes);
        [("buffers of DTLS handshakes", nodes.filter(|client| client.session.has_handshake()).count())]
    }

    /// What it has counted, if it has sessions.
    pub(crate) fn counters(&self) -> Option<&Counters> {
        self.clients.as_ref().map(|clients| &clients.counters)
    }

    /// Why DTLS has refused something since this was last called, and of which node that was.
    pub(crate) fn take_refusals(&mut self) -> Vec<(u32, Refusal)> {
        let nodes = self.clients.iter_mut().flat_map(|clients| &mut clients.nodes).zip(1..);
        let refusals = nodes.flat_map(|(client, node)| {
            let refusals = [client.session.poll_refusal(), client.refusal.take()];
            refusals.into_iter().flatten().map(move |refusal| (node, refusal))
        });
        refusals.collect()
    }

    /// Its sessions, if it has any.
    pub(crate) fn clients(&mut self) -> Option<&mut Clients> {
        self.clients.as_deref_mut()
    }
}

impl Clients {
    fn lend(&mut self, now: Time, node: u32) -> (&mut Client, Cx<'_, Accelerated, Stream, ()>) {
        let cx = Cx {
            now: now.instant(),
            crypto: &mut self.crypto,
            entropy: &mut self.entropy,
            nv: &mut self.nv,
            counters: &mut self.counters,
        };
        (&mut self.nodes[node as usize - 1], cx)
    }

    fn ids(&self) -> core::ops::RangeInclusive<u32> {
        1..=self.nodes.len() as u32
    }

    /// Whether there is a session with a node.
    pub(crate) fn is_connected(&self, node: u32) -> bool {
        self.nodes[node as usize - 1].session.is_connected()
    }

    /// Begins a handshake with a node, unless one is under way; whether it did.
    pub(crate) fn connect(&mut self, now: Time, node: u32) -> bool {
        let keys = self.keys;
        let (client, mut cx) = self.lend(now, node);
        let begins = client.session.is_idle();
        if begins {
            let (handshake, config) = match keys {
                None => (Handshake::new(), Config::MESH),
                Some(keys) => {
                    (Handshake::with(&keys.credentials), Config { suites: CERTIFIED, ..Config::MESH })
                }
            };
            client.session = ClientSession::client(&mut cx, config, None, Some(Box::new(handshake)));
        }
        begins
    }

    /// Takes in a datagram from a node, and gives the data in it to `data`.
    fn handle(&mut self, now: Time, node: u32, datagram: &mut [u8], mut data: impl FnMut(&[u8])) {
        let (client, mut cx) = self.lend(now, node);
        client.session.handle_all(&mut cx, datagram, |received| data(received));
    }

    /// The datagram that takes `data` to a node, if there is a session with it.
    fn seal(&mut self, now: Time, node: u32, data: &[u8]) -> Option<Vec<u8>> {
        let (client, mut cx) = self.lend(now, node);
        let mut datagram = vec![0; data.len() + client.session.overhead()];
        let len = client.session.seal_into(&mut cx, data, &mut datagram).ok()?;
        datagram.truncate(len);
        Some(datagram)
    }

    /// The next handshake that has ended, and whose it is.
    pub(crate) fn poll_ended(&mut self, now: Time) -> Option<(u32, Ended)> {
        let keys = self.keys;
        self.ids().find_map(|node| {
            let (client, mut cx) = self.lend(now, node);
            loop {
                match client.session.poll_event()? {
                    Event::Work(Work::Task(task)) => {
                        let KeyRing { secret, trusted, .. } = keys?;
                        let answer = perform(cx.crypto, cx.entropy, secret, trusted, task);
                        // It has just asked.
                        let _ = client.session.complete(&mut cx, Completion::Task(&answer));
                    }
                    Event::Work(_) => {
                        let Device { identity, key, .. } = &client.device;
                        // It has just asked.
                        let _ = client.session.complete(
                            &mut cx,
                            Completion::Psk { identity: identity.as_bytes(), key: key.as_bytes() },
                        );
                    }
                    Event::Connected => return Some((node, Ended::Connected)),
                    Event::Failed(failure) => {
                        client.refusal = failure.refusal();
                        return Some((node, Ended::Failed));
                    }
                    Event::Closed => {}
                }
            }
        })
    }

    /// What opens the session of a node that was just told of.
    pub(crate) fn key_log(&self, node: u32) -> Option<KeyLogEntry<'_>> {
        self.nodes[node as usize - 1].session.key_log()
    }

    /// The next datagram of a handshake, in `out`, and the node that it is for.
    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<(u32, usize)> {
        self.ids().find_map(|node| {
            let (client, mut cx) = self.lend(now, node);
            Some((node, client.session.poll_transmit(&mut cx, out)?))
        })
    }

    /// When to call [`Clients::handle_timer`].
    pub(crate) fn poll_timer(&mut self, now: Time) -> Option<Time> {
        let timeouts = self.nodes.iter().filter_map(|client| client.session.poll_timeout());
        let wanted = timeouts.map(|timeout| now.of_instant(timeout)).min();
        self.timer.set(wanted)
    }

    /// Does what is due.
    pub(crate) fn handle_timer(&mut self, now: Time) {
        if self.timer.fires(now) {
            for node in self.ids() {
                let (client, mut cx) = self.lend(now, node);
                client.session.handle_timeout(&mut cx);
            }
        }
    }
}

//! A processor that is not emulated: the native node does its tasks, as the firmware's application would
//! (`firmware/app/src/application.rs`), and a platform's costs say what they would take.

use std::sync::Arc;

use sixlock_base::{Counter, Counters, Cx, Eui64, Instant, Symbols};
use sixlock_crypto::Operation;
use sixlock_emulator::Task;
use sixlock_ieee802154::Address;
use sixlock_ipv6::extension::udp_at;
use sixlock_ipv6::udp;
use sixlock_lockstep::{Command, DeviceEvent};
use sixlock_node::ipsec::{ConfigError, Refusal};
use sixlock_node::{Config, DTLS_ECHO_PORT, ECHO_PORT, RadioCommand, StartError};
use sixlock_sixlowpan::ipsec::Context;
use sixlock_sixlowpan::{FragmentHeader, LinkAddresses, decompress_with};

use crate::application::Part;
use crate::carried;
use crate::costs::{Costs, Step, Work};
use crate::engine::{Accelerated, Done};
use crate::machines::NodeCompression;
use crate::memory::Memory;
use crate::outcome::Outcome;
use crate::protection::{Cleartext, Peering, protocol};
use crate::random_block::RandomBlock;
use crate::routing::{NodeRouting, RoutingKind};
use crate::sized::{SizedNode, TaskResult};
use crate::sizes::MTU;
use crate::time::Time;

/// The content types of all other DTLS records.
const OTHER_RECORDS: core::ops::RangeInclusive<u8> = 20..=22;

/// A node, and what it is lent.
pub(crate) struct Modelled {
    node: SizedNode,
    /// Whether its link is secured.
    secured: bool,
    /// Whether its first task has been run.
    has_run: bool,
    crypto: Accelerated,
    random: RandomBlock,
    nv: Memory,
    /// What was counted in the last task.
    counters: Counters,
    /// The frames that wait to be sent, by number and length, and those that did when the last task began.
    waiting: Vec<(u8, usize)>,
    waited: Vec<(u8, usize)>,
    partial: Vec<Partial>,
    /// What IPsec has protected and nobody has taken yet.
    cleartexts: Vec<Cleartext>,
    /// What its tasks take; without, nothing.
    costs: Option<Arc<Costs>>,
    /// What the task takes that finds the channel clear at a wake-up, when nothing waits to be sent, once that is known.
    wake_up_cost: Option<u64>,
}

/// A datagram of which some fragments have come in.
struct Partial {
    source: Eui64,
    tag: u16,
    size: u16,
    had: u16,
    /// What its first fragment tells of it.
    whom: Recipient,
    protected: bool,
}

/// A datagram that has come in, or what has come in of it.
struct Datagram {
    len: u16,
    whom: Recipient,
    /// Whether AH or ESP is among its headers.
    protected: bool,
}

/// Why a frame goes no further than the MAC.
const REFUSALS: [Counter; 6] = [
    Counter::MacMalformed,
    Counter::MacDuplicate,
    Counter::MacUnsecured,
    Counter::MacBadMic,
    Counter::MacReplayed,
    Counter::MacNeighboursFull,
];

/// Who a datagram is for, as its bytes say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Recipient {
    /// The echo service, and so the node's answer is as long.
    Echo,
    /// The node's channel to the cloud: a message of its handshake.
    Handshake,
    /// Anyone else.
    Other,
}

impl Modelled {
    /// Node `id` with these buffers, that routes so, where routes are listed by these: destination and next hop; with what its tasks take and what they
    /// compute with.
    pub(crate) fn start(
        seed: u64,
        id: u32,
        node: SizedNode,
        config: &Config<Part<'_>>,
        (routing, routes): (RoutingKind, impl Iterator<Item = (u32, u32)>),
        costs: Option<Arc<Costs>>,
        crypto: Accelerated,
    ) -> Result<Self, StartError> {
        let mut modelled = Self {
            node,
            secured: config.interface.mac.security.is_some(),
            has_run: false,
            crypto,
            random: RandomBlock::new(seed, id),
            nv: Memory::default(),
            counters: Counters::new(),
            waiting: Vec::new(),
            waited: Vec::new(),
            partial: Vec::new(),
            cleartexts: Vec::new(),
            costs,
            wake_up_cost: None,
        };
        let Self { node, crypto, random, nv, counters, .. } = &mut modelled;
        // Like an image, it starts with its first task.
        random.renew();
        let mut cx = Cx { now: Time::ZERO.instant(), crypto, entropy: random, nv, counters };
        node.start(&mut cx, config, routes)?;
        // Its storage, which is memory, never fails.
        let _ = node.routing().start(&mut cx, config.interface.mac.address, routing);
        Ok(modelled)
    }

    /// Runs a task; what was done in it. What it counts is added to `counters`, but for what the radio sends: that is
    /// counted when it does.
    pub(crate) fn run(&mut self, task: &Task<'_>, counters: &mut Counters) -> (Outcome, Work) {
        let is_first = !core::mem::replace(&mut self.has_run, true);
        if !is_first {
            self.random.renew();
        }
        self.node.waiting(&mut self.waited);
        self.counters = Counters::new();
        let mut frame = task.frame.to_vec();
        let Self { node, crypto, random, nv, counters: own, .. } = self;
        let mut cx = Cx { now: task.now, crypto, entropy: random, nv, counters: own };
        let TaskResult { command, exchange, keys } = node.run(&mut cx, task, &mut frame);
        self.node.waiting(&mut self.waiting);
        let done = self.crypto.take();
        let protected = self.node.security().take_steps();
        self.cleartexts = self.node.security().take_cleartexts();
        let mut work = self.work(task, &frame, command, exchange.frame(), &done);
        for (step, bytes) in protected {
            work.add(step, bytes);
        }
        if is_first && self.node.compression().format().is_some() {
            work.add(Step::AssociationsMade, 0);
        }
        let cost = self.costs.as_ref().map_or(0, |costs| costs.of(&work));
        self.counters.clear(Counter::FramesSent);
        self.counters.clear(Counter::BytesSent);
        counters.add_all(&self.counters);
        let written = self.nv.take_written();
        (Outcome { command, exchange, cost, engine: done.lasts, written, keys }, work)
    }

    /// What the task takes that finds the channel clear at a wake-up, if nothing waits to be sent.
    pub(crate) fn wake_up_cost(&mut self) -> Option<u64> {
        if !self.has_run || !self.waiting.is_empty() {
            return None;
        }
        let costs = self.costs.as_ref();
        let cost = || {
            let mut work = Work::default();
            for step in [Step::ChannelAssessed, Step::ChannelAssessment, Step::NothingToSend] {
                work.add(step, 0);
            }
            costs.map_or(0, |costs| costs.of(&work))
        };
        Some(*self.wake_up_cost.get_or_insert_with(cost))
    }

    /// Runs that task, as [`Modelled::run`] would; what the radio is to do next.
    pub(crate) fn wake_up(&mut self, now: Instant, at: Symbols) -> Option<RadioCommand> {
        self.random.renew();
        let Self { node, crypto, random, nv, counters, waiting, .. } = self;
        let command = node.wake_up(&mut Cx { now, crypto, entropy: random, nv, counters }, at);
        node.waiting(waiting);
        command
    }

    /// Turns its IPsec on, as node `id`.
    ///
    /// # Errors
    /// When there is no room for so many.
    pub(crate) fn protect<'p>(
        &mut self,
        peerings: impl Iterator<Item = &'p Peering>,
        id: u32,
        unauthenticated: bool,
    ) -> Result<(), ConfigError> {
        self.node.protect(peerings, id, unauthenticated)
    }

    /// Lets the control messages of RPL pass its IPsec as they are.
    ///
    /// # Errors
    /// When there is no room.
    pub(crate) fn pass_control(&mut self, discovers: bool) -> Result<(), ConfigError> {
        self.node.security().pass_control(discovers)
    }

    /// Whether a packet waits for a neighbour that has to ask for it.
    pub(crate) fn holds_for(&mut self, neighbour: Eui64) -> bool {
        self.node.waits_for(neighbour)
    }

    /// How it compresses headers.
    pub(crate) fn compression(&mut self) -> &mut NodeCompression {
        self.node.compression()
    }

    /// How it routes.
    pub(crate) fn routing(&mut self) -> &mut NodeRouting {
        self.node.routing()
    }

    /// The same, as it is.
    pub(crate) fn router(&self) -> &NodeRouting {
        self.node.router()
    }

    /// Why IPsec has refused packets since this was last called.
    pub(crate) fn take_refusals(&mut self) -> Vec<Refusal> {
        self.node.security().take_refusals()
    }

    /// Why DTLS has refused something.
    pub(crate) fn poll_refusal(&mut self) -> Option<sixlock_dtls::Refusal> {
        self.node.poll_refusal()
    }

    /// What IPsec has protected in the last task, before it did.
    pub(crate) fn take_cleartexts(&mut self) -> Vec<Cleartext> {
        core::mem::take(&mut self.cleartexts)
    }

    /// What was done in a task: `frame` is the one that has come in, opened if it was sealed.
    fn work(
        &mut self,
        task: &Task<'_>,
        frame: &[u8],
        command: Command,
        transmitted: &[u8],
        done: &Done,
    ) -> Work {
        let mut work = Work::new(done.cpu);
        let times = |operation| done.cpu.get(operation) + done.engine.get(operation);
        let has_room = self.waiting.len() < self.node.frames();
        let since = |counter| self.counters.get(counter) > 0;
        work.add(
            match task.event {
                DeviceEvent::Start | DeviceEvent::Serial => Step::Start,
                DeviceEvent::Frame => Step::Frame,
                DeviceEvent::Transmitted => Step::Transmitted,
                DeviceEvent::CcaClear | DeviceEvent::CcaBusy => Step::ChannelAssessed,
                DeviceEvent::RadioTimer => Step::RadioTimer,
                DeviceEvent::Timer => Step::Timer,
            },
            frame.len(),
        );
        match command {
            Command::Cca | Command::Assess | Command::AssessAt => work.add(Step::ChannelAssessment, 0),
            Command::Transmit | Command::TransmitAt | Command::TransmitOn => {
                work.add(Step::Transmission, transmitted.len())
            }
            _ => {}
        }
        for (counter, step) in [
            (Counter::ReadingsSent, Step::Reading),
            (Counter::ReadingsConfirmed, Step::Confirmation),
            (Counter::CoapRetransmissions, Step::Repetition),
            (Counter::DtlsRetransmissions, Step::Repetition),
        ] {
            if since(counter) {
                work.add(step, 0);
            }
        }
        let forwarded = since(Counter::Ipv6Forwarded);
        let secured = self.secured;
        let is_new =
            |&&(sequence, _): &&(u8, usize)| self.waited.iter().all(|(before, _)| *before != sequence);
        let made: Vec<_> = self.waiting.iter().filter(is_new).map(|(_, len)| *len).collect();
        for &len in &made {
            work.add(Step::FrameMade, len);
            if secured {
                work.add(Step::FrameSealed, len);
            }
        }
        if has_room {
            work.add(Step::NothingToSend, 0);
        }
        let mut opened = 0;
        if task.event == DeviceEvent::Frame {
            opened = u32::from(secured && times(Operation::CcmOpen) > 0);
            if opened > 0 {
                work.add(Step::FrameOpened, frame.len());
            }
            if !REFUSALS.into_iter().any(since) {
                self.received(frame, forwarded, &mut work);
            }
        }
        // A datagram that fits into one frame becomes one when it is taken for transmission; of a longer one, the first two
        // are made then, and each other one when there is room.
        let begins =
            [Step::Forwarded, Step::Echo, Step::Handshake, Step::Delivered, Step::Reading, Step::Repetition];
        if made.len() > 1 || begins.into_iter().all(|step| work.step(step).0 == 0) {
            for len in &made {
                work.add(Step::FragmentMade, *len);
            }
        }
        // What link security seals and opens are frames; all else is records of DTLS, unless it is IPsec's.
        let records = self.node.compression().format().is_none();
        let sealed = if secured { made.len() as u32 } else { 0 };
        for (step, frames, operation) in [
            (Step::RecordSealed, sealed, Operation::CcmSeal),
            (Step::RecordOpened, opened, Operation::CcmOpen),
        ] {
            for _ in frames..if records { times(operation) } else { 0 } {
                work.add(step, 0);
            }
        }
        work
    }

    /// What was done with a frame that has come in.
    fn received(&mut self, frame: &[u8], forwarded: bool, work: &mut Work) {
        let Some((header, payload)) = carried::of_data_frame(frame) else { return };
        let address = |endpoint: Option<sixlock_ieee802154::Endpoint>| match endpoint?.address {
            Address::Extended(address) => Some(address),
            Address::Short(_) => None,
        };
        let (Some(source), Some(destination)) = (address(header.source), address(header.destination)) else {
            return;
        };
        let link = LinkAddresses { source, destination };
        work.add(Step::DataFrame, payload.len());
        let found = match carried::read(payload, work) {
            Some((None, payload)) => self.datagram(payload, link, None, work),
            Some((Some(fragment), payload)) => self.fragment(source, link, fragment, payload, work),
            None => None,
        };
        let Some(Datagram { len, whom, protected }) = found else { return };
        let echoes = |cleartext: &Cleartext| source_port(&cleartext.packet) == Some(ECHO_PORT);
        let whom = if self.cleartexts.iter().any(echoes) { Recipient::Echo } else { whom };
        work.add(
            match (forwarded, whom) {
                (true, _) => Step::Forwarded,
                (_, Recipient::Echo) => Step::Echo,
                (_, Recipient::Handshake) => Step::Handshake,
                (_, Recipient::Other) => Step::Delivered,
            },
            len.into(),
        );
        if forwarded && protected {
            work.add(Step::ProtectedForwarded, 0);
        }
    }

    /// The datagram that a fragment completes, if it does.
    fn fragment(
        &mut self,
        source: Eui64,
        link: LinkAddresses,
        header: FragmentHeader,
        payload: &[u8],
        work: &mut Work,
    ) -> Option<Datagram> {
        let size = header.datagram_size;
        let known =
            |partial: &Partial| (partial.source, partial.tag, partial.size) == (source, header.tag, size);
        let mut partial = match self.partial.iter().position(known) {
            Some(at) => self.partial.swap_remove(at),
            None => {
                Partial { source, tag: header.tag, size, had: 0, whom: Recipient::Other, protected: false }
            }
        };
        let len = match header.offset {
            0 => {
                let Datagram { len, whom, protected } = self.datagram(payload, link, Some(size), work)?;
                (partial.whom, partial.protected) = (whom, protected);
                len
            }
            _ => payload.len() as u16,
        };
        partial.had = partial.had.saturating_add(len);
        if partial.had >= size {
            return Some(Datagram { len: size, whom: partial.whom, protected: partial.protected });
        }
        // Of each neighbour the latest: what it began before, it has given up.
        self.partial.retain(|other| other.source != source);
        self.partial.push(partial);
        None
    }

    /// How many bytes of a datagram a frame payload stands for that begins with compressed headers, and whom it is for. Of what
    /// IPsec protects that is seen in the answer.
    fn datagram(
        &mut self,
        payload: &[u8],
        link: LinkAddresses,
        size: Option<u16>,
        work: &mut Work,
    ) -> Option<Datagram> {
        let mut packet = [0; MTU];
        let headers = decompress_with(self.node.compression(), payload, link, size, &mut packet).ok()?;
        let rest = payload.get(headers.consumed..)?;
        let len = headers.written + rest.len();
        packet.get_mut(headers.written..len)?.copy_from_slice(rest);
        let protected = protocol(&packet).is_some();
        if protected {
            work.add(Step::ProtectedHeaders, 0);
        }
        let whom = whom(packet.get(..len)?).unwrap_or(Recipient::Other);
        Some(Datagram { len: len as u16, whom, protected })
    }
}

fn whom(packet: &[u8]) -> Option<Recipient> {
    let rest = packet.get(udp_at(packet)?..)?;
    let port = u16::from_be_bytes([*rest.get(2)?, *rest.get(3)?]);
    Some(match (port, rest.get(udp::Header::LEN)) {
        (ECHO_PORT, _) => Recipient::Echo,
        (_, Some(kind)) if OTHER_RECORDS.contains(kind) => Recipient::Handshake,
        (DTLS_ECHO_PORT, _) => Recipient::Echo,
        _ => Recipient::Other,
    })
}

/// The port that a UDP datagram goes out from.
fn source_port(packet: &[u8]) -> Option<u16> {
    packet.get(udp_at(packet)?..)?.first_chunk().map(|port| u16::from_be_bytes(*port))
}

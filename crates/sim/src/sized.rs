//! The node as images size it, each platform's in its own way.

use sixlock_base::{Counter, Cx, Eui64, Symbols};
use sixlock_dtls::Refusal;
use sixlock_emulator::Task;
use sixlock_lockstep::{Command, DeviceEvent, Exchange, Flags};
use sixlock_node::ipsec::ConfigError;
use sixlock_node::mac::Mac;
use sixlock_node::{
    Config, Event, Listening, Measurement, Node, RadioCommand, RadioMachine, Readings, Rules, StartError,
};

use crate::application::{AnyApplication, Part};
use crate::buffers::Buffers;
use crate::chip::Chip;
use crate::engine::Accelerated;
use crate::listening::StationListening;
use crate::machines::{NodeCompression, NodeIpsec, NodeLayers, happens};
use crate::memory::Memory;
use crate::outcome::SessionKeys;
use crate::platform::Platform;
use crate::protection::Peering;
use crate::random_block::RandomBlock;
use crate::routing::NodeRouting;
use crate::sizes::READINGS;

/// What a node is lent.
pub(crate) type Context<'a> = Cx<'a, Accelerated, RandomBlock, Memory>;

/// A node with this many transmit frames, and this many datagrams of so many bytes.
type Sized<const FRAMES: usize, const MTU: usize, const POOL: usize> =
    Node<Accelerated, AnyApplication, NodeLayers<FRAMES, MTU, POOL>, Readings<READINGS>>;

/// A node with buffers of its processor.
pub(crate) struct SizedNode {
    node: Box<dyn Sizes + Send>,
    /// How many transmit frames it has.
    frames: usize,
}

/// A node whatever its sizes.
trait Sizes {
    fn start(&mut self, cx: &mut Context<'_>, config: &Config<Part<'_>>) -> Result<(), StartError>;
    fn add_route(&mut self, destination: Eui64, next_hop: Eui64);
    fn routing(&mut self) -> &mut NodeRouting;
    fn router(&self) -> &NodeRouting;
    fn security(&mut self) -> &mut NodeIpsec;
    fn compression(&mut self) -> &mut NodeCompression;
    /// Sets by which rules it gets at the channel.
    fn set_rules(&mut self, rules: Rules);
    /// When it listens: no board is in time slots.
    fn listening(&mut self) -> Option<&mut StationListening>;
    fn poll_refusal(&mut self) -> Option<Refusal>;
    fn waits_for(&mut self, neighbour: Eui64) -> bool;
    fn waiting(&mut self, list: &mut Vec<(u8, usize)>);
    fn run(&mut self, cx: &mut Context<'_>, task: &Task<'_>, frame: &mut [u8]) -> TaskResult;
    /// Lets its MAC find the channel clear at a wake-up; what the radio is to do next.
    fn wake_up(&mut self, cx: &mut Context<'_>, at: Symbols) -> Option<RadioCommand>;
}

impl<const FRAMES: usize, const MTU: usize, const POOL: usize> Sizes for Sized<FRAMES, MTU, POOL> {
    fn start(&mut self, cx: &mut Context<'_>, config: &Config<Part<'_>>) -> Result<(), StartError> {
        Node::start(self, cx, config)
    }

    fn add_route(&mut self, destination: Eui64, next_hop: Eui64) {
        // The table has room for every node of a scenario.
        self.interface().routing().list(core::iter::once((destination, next_hop)));
    }

    fn routing(&mut self) -> &mut NodeRouting {
        self.interface().routing()
    }

    fn router(&self) -> &NodeRouting {
        Node::routing(self)
    }

    fn security(&mut self) -> &mut NodeIpsec {
        self.interface().security()
    }

    fn compression(&mut self) -> &mut NodeCompression {
        self.interface().compression()
    }

    fn set_rules(&mut self, rules: Rules) {
        if let Some(mac) = self.interface().mac().contending() {
            *mac.access() = rules;
        }
    }

    fn listening(&mut self) -> Option<&mut StationListening> {
        self.interface().mac().contending().map(Mac::listening)
    }

    fn poll_refusal(&mut self) -> Option<Refusal> {
        Node::poll_refusal(self)
    }

    fn waits_for(&mut self, neighbour: Eui64) -> bool {
        self.interface().waits_for(neighbour)
    }

    fn waiting(&mut self, list: &mut Vec<(u8, usize)>) {
        list.clear();
        // No board is in time slots.
        list.extend(self.interface().mac().contending().into_iter().flat_map(|mac| mac.waiting()));
    }

    fn run(&mut self, cx: &mut Context<'_>, task: &Task<'_>, frame: &mut [u8]) -> TaskResult {
        run(self, cx, task, frame)
    }

    fn wake_up(&mut self, cx: &mut Context<'_>, at: Symbols) -> Option<RadioCommand> {
        self.handle_cca(cx, at, true);
        self.poll_radio()
    }
}

/// What came of a task.
pub(crate) struct TaskResult {
    pub(crate) command: Command,
    pub(crate) exchange: Exchange,
    pub(crate) keys: Option<SessionKeys>,
}

impl SizedNode {
    /// The node that images for `platform` have, with these buffers, which gets at the channel by these rules.
    pub(crate) fn new(platform: &Platform, buffers: Buffers, rules: Rules) -> Self {
        let mut sized = match (platform.chip(), buffers) {
            (Chip::Atmega128, _) => Self::of::<1, 280, 2>(),
            (_, Buffers::Long) => Self::of::<2, 1280, 2>(),
            (_, Buffers::Parent) => Self::of::<2, 432, 8>(),
            (Chip::CortexM3, Buffers::Listed) => Self::of::<2, 336, 2>(),
            (Chip::CortexM3, Buffers::Rpl) => Self::of::<2, 432, 2>(),
            (Chip::Msp430F1611, Buffers::Listed) => Self::of::<2, 336, 4>(),
            (Chip::Msp430F1611, Buffers::Rpl) => Self::of::<2, 432, 4>(),
        };
        sized.node.set_rules(rules);
        sized
    }

    fn of<const FRAMES: usize, const MTU: usize, const POOL: usize>() -> Self {
        Self { node: Box::new(Sized::<FRAMES, MTU, POOL>::new()), frames: FRAMES }
    }

    /// Makes it a device's, with these routes: destination and next hop.
    pub(crate) fn start(
        &mut self,
        cx: &mut Context<'_>,
        config: &Config<Part<'_>>,
        routes: impl Iterator<Item = (u32, u32)>,
    ) -> Result<(), StartError> {
        self.node.start(cx, config)?;
        for (destination, next_hop) in routes {
            self.node.add_route(Eui64::of_node(destination), Eui64::of_node(next_hop));
        }
        Ok(())
    }

    /// How it routes.
    pub(crate) fn routing(&mut self) -> &mut NodeRouting {
        self.node.routing()
    }

    /// The same, as it is.
    pub(crate) fn router(&self) -> &NodeRouting {
        self.node.router()
    }

    /// Its IPsec.
    pub(crate) fn security(&mut self) -> &mut NodeIpsec {
        self.node.security()
    }

    /// How it compresses headers.
    pub(crate) fn compression(&mut self) -> &mut NodeCompression {
        self.node.compression()
    }

    /// Why DTLS has refused something.
    pub(crate) fn poll_refusal(&mut self) -> Option<Refusal> {
        self.node.poll_refusal()
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
        self.compression().start();
        self.security().start(peerings, id, unauthenticated)
    }

    /// When it listens.
    pub(crate) fn listening(&mut self) -> Option<&mut StationListening> {
        self.node.listening()
    }

    /// Whether a packet waits to be sent to a neighbour.
    pub(crate) fn waits_for(&mut self, neighbour: Eui64) -> bool {
        self.node.waits_for(neighbour)
    }

    /// Makes `list` one of the frames that wait to be sent: their sequence numbers and lengths.
    pub(crate) fn waiting(&mut self, list: &mut Vec<(u8, usize)>) {
        self.node.waiting(list);
    }

    /// How many frames may wait to be sent.
    pub(crate) const fn frames(&self) -> usize {
        self.frames
    }

    /// Runs a task.
    pub(crate) fn run(&mut self, cx: &mut Context<'_>, task: &Task<'_>, frame: &mut [u8]) -> TaskResult {
        self.node.run(cx, task, frame)
    }

    /// Lets its MAC find the channel clear at a wake-up, when it has nothing else to do; what the radio is to do next.
    pub(crate) fn wake_up(&mut self, cx: &mut Context<'_>, at: Symbols) -> Option<RadioCommand> {
        self.node.wake_up(cx, at)
    }
}

fn run<const FRAMES: usize, const MTU: usize, const POOL: usize>(
    node: &mut Sized<FRAMES, MTU, POOL>,
    cx: &mut Context<'_>,
    task: &Task<'_>,
    frame: &mut [u8],
) -> TaskResult {
    match task.event {
        DeviceEvent::Frame => node.handle_frame(cx, task.at, frame),
        event => happens(node, cx, task.at, event),
    }
    let mut exchange = Exchange::new();
    let mut flags = Flags::default();
    let mut keys = None;
    while let Some(event) = node.poll_event(task.now) {
        flags.insert(match event {
            Event::Sample => {
                let sent = cx.counters.get(Counter::ReadingsSent);
                let [temperature, humidity, light] = task.sensors.map(i32::from);
                node.report(cx, task.at, &Measurement::of_sensors(temperature, humidity, light));
                match cx.counters.get(Counter::ReadingsSent) == sent {
                    true => Flags::default(),
                    false => Flags::READING_SENT,
                }
            }
            Event::ReadingConfirmed => Flags::READING_CONFIRMED,
            Event::ReadingFailed => Flags::READING_FAILED,
            Event::Connected => {
                keys = node.key_log().map(|entry| SessionKeys {
                    client_random: *entry.client_random,
                    master_secret: *entry.master_secret,
                });
                Flags::SESSION_OPENED
            }
            Event::Disconnected => Flags::SESSION_LOST,
            Event::ReadingReceived(author) => {
                exchange.set_author(author);
                Flags::READING_RECEIVED
            }
        });
    }
    // As in `firmware/app/src/radio.rs`.
    let ahead = node.interface().mac().contending().is_some_and(|mac| mac.listening().duty_cycle().is_some());
    let command = match if ahead { node.poll_radio() } else { node.poll_radio_due() } {
        None => Command::None,
        Some(RadioCommand::Listen { .. }) => Command::Listen,
        Some(RadioCommand::Off { .. }) => Command::Off,
        Some(RadioCommand::Assess { at, times, apart }) => {
            exchange.set_assessments(times, apart);
            exchange.set_begin(at);
            if ahead { Command::AssessAt } else { Command::Assess }
        }
        Some(RadioCommand::Send { at, .. }) if ahead => {
            exchange.set_frame(node.transmit_frame());
            exchange.set_begin(at);
            Command::TransmitAt
        }
        Some(RadioCommand::Send { assess: true, .. }) => Command::Cca,
        Some(RadioCommand::Send { assess: false, .. }) => {
            exchange.set_frame(node.transmit_frame());
            Command::Transmit
        }
    };
    if let Some(at) = node.poll_radio_timeout() {
        exchange.radio_timer = at.count().to_le_bytes();
        flags.insert(Flags::RADIO_TIMER);
    }
    if let Some(at) = node.poll_timeout() {
        exchange.timer = at.millis().to_le_bytes();
        flags.insert(Flags::TIMER);
    }
    (exchange.command, exchange.flags) = (command as u8, flags.0);
    TaskResult { command, exchange, keys }
}

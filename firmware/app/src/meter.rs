//! A node that measures: how long echoes take to a peer and back, and how long its radio and its processor were in each state. When all echoes
//! are through, it puts a report of that out at the serial port, and goes on as a node that others have their packets forwarded by.

use sixlock_base::{Cx, Entropy, Instant, Nv, Slot, Symbols};
use sixlock_crypto::Tiny;
use sixlock_interface::{Interface, RadioCommand, RadioMachine};
use sixlock_lockstep::{Command, Device, DeviceEvent, Flags};
use sixlock_node::meter::{EchoClient, Setup, StateMeter, write_report};
use sixlock_node::{Datagrams, Link, Stack};

use crate::access::CloudAccess;
use crate::application::{self, DeviceLayers};
use crate::lent::{self, Backend, Context};
use crate::listening::SleepingLink;
use crate::routing::Listed;
use crate::sizes::{FRAMES, METER_MTU, METER_POOL, NEIGHBOURS};
use crate::{exchange, radio};

/// The layers of a node that measures, with or without CSMA-CA and acknowledgements: its packets are longer than those of others.
pub type MeterLayers<const CSMA: bool> =
    Stack<Link<false, NEIGHBOURS, FRAMES, CSMA>, Datagrams<METER_MTU, METER_POOL>, Listed>;

/// The same with a radio that sleeps as ContikiMAC has it.
pub type SleepingMeterLayers = Stack<SleepingLink, Datagrams<METER_MTU, METER_POOL>, Listed>;

impl<B: Backend> CloudAccess<B> for EchoClient {
    fn access<'a>(_: &Device<'a>) -> Option<()> {
        Some(())
    }
}

/// A node without IPsec that measures: what its radio is told, and what comes of it, its meter is told, too.
pub struct MeterNode<L: DeviceLayers> {
    node: application::Node<EchoClient, L, 0>,
    meter: StateMeter,
    /// What the radio is told when the task ends.
    command: Slot<RadioCommand>,
}

impl<L: DeviceLayers> MeterNode<L> {
    /// One of no device yet. It is all zero bytes.
    pub const NEW: Self =
        Self { node: application::Node::new(), meter: StateMeter::new(), command: Slot::Empty };

    /// Ends a task; returns with what begins the next, and when it does.
    fn wait(&mut self) -> (Option<DeviceEvent>, Symbols) {
        let event = radio::wait(self, Flags::default());
        let (ended, begins) = exchange::task_times();
        if let Some(command) = self.command.take() {
            self.meter.command(command, ended);
        }
        self.meter.rest(ended);
        self.meter.work(begins);
        (event, begins)
    }

    /// Gives the node what begins the task.
    #[inline(never)]
    fn handle(&mut self, cx: &mut Context, event: Option<DeviceEvent>) {
        let (now, at) = exchange::time();
        cx.now = now;
        self.node.application().set_radio_time(at);
        match event {
            Some(DeviceEvent::Frame) => {
                let frame = exchange::frame();
                self.meter.received(frame, at);
                self.node.handle_frame(cx, at, frame);
            }
            Some(event) => radio::happens(cx, self, at, event),
            None => {}
        }
    }

    /// Puts the report out: of the time until the task has begun.
    #[inline(never)]
    fn report(&mut self, begun: Symbols, mac: &str) {
        let times = self.meter.times(begun);
        let echoes = self.node.application().times();
        crate::device::with(|data| {
            // It was read at the start, too.
            let hops = Device::parse(data).map_or(&[][..], |device| device.identity);
            let setup = Setup { hops, security: "none", mac };
            write_report(&setup, echoes, &times, |piece| exchange::put_out(piece.iter().copied()));
        });
    }
}

impl<L: DeviceLayers> RadioMachine for MeterNode<L> {
    type Crypto = Tiny;
    type Layers = L;

    fn interface(&mut self) -> &mut Interface<Tiny, L> {
        self.node.interface()
    }

    fn handle_cca<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, Tiny, E, N>, at: Symbols, clear: bool) {
        self.meter.assessed(at);
        self.node.handle_cca(cx, at, clear);
    }

    fn handle_transmitted<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, Tiny, E, N>, at: Symbols) {
        self.meter.sent(self.node.transmit_frame(), at);
        self.node.handle_transmitted(cx, at);
    }

    fn poll_radio(&mut self) -> Option<RadioCommand> {
        let command = self.node.poll_radio();
        self.command = command.into();
        command
    }

    fn poll_radio_due(&mut self) -> Option<RadioCommand> {
        let command = self.node.poll_radio_due();
        self.command = command.into();
        command
    }

    fn handle_radio_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, Tiny, E, N>, at: Symbols) {
        self.node.handle_radio_timeout(cx, at);
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.node.poll_timeout()
    }

    fn handle_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, Tiny, E, N>, at: Symbols) {
        self.node.handle_timeout(cx, at);
    }
}

/// Runs the node for ever; its report calls its MAC so. Without the device's own data, or with data for another image, it waits for ever.
///
/// # Safety
///
/// It may be called once.
pub unsafe fn run_meter<L>(node: &mut MeterNode<L>, mac: &str) -> !
where
    L: DeviceLayers + sixlock_node::Layers<Tiny, Security = ()>,
{
    // SAFETY: this is called once.
    let cx = unsafe { Tiny::context() };
    let mut event = exchange::wait(Command::None, Flags::default());
    let (_, mut begun) = exchange::task_times();
    // What drives the image acknowledges frames as its radio would.
    node.meter.start(begun, true);
    (cx.now, _) = exchange::time();
    if !application::start(cx, &mut node.node) {
        lent::wait_for_ever();
    }
    let mut is_reported = false;
    loop {
        node.handle(cx, event);
        if !is_reported && node.node.application().is_over() {
            is_reported = true;
            node.report(begun, mac);
        }
        (event, begun) = node.wait();
    }
}

//! A node on the OpenMote-CC2538 that measures echoes, and how long its radio was in each state, or one on their way: its number says which. The
//! report comes out of the serial port, 115,200 bits per second.
//!
//! It builds; it has not run on hardware here. `docs/evaluation.md` says what to do with the report.
#![no_std]
#![no_main]

#[path = "../antenna.rs"]
mod antenna;
#[path = "../boot.rs"]
mod boot;
#[path = "../clock.rs"]
mod clock;
#[path = "../entropy.rs"]
mod entropy;
#[path = "../flash.rs"]
mod flash;
#[path = "../radio.rs"]
mod radio;
#[path = "../serial.rs"]
mod serial;

use cortex_m_rt::entry;
use panic_halt as _;
use sixlock_base::{Counters, Cx};
use sixlock_crypto::Soft;
use sixlock_ieee802154::MAX_FRAME;
use sixlock_node::meter::{EchoClient, Setup, StateMeter, write_report};
use sixlock_node::{Datagrams, Link, RadioCommand, RadioMachine, Route, Routes, Stack};
use sixlock_nv::FlashCounters;
use sixlock_settings::{CHANNEL, HOPS};

use crate::clock::Clock;
use crate::entropy::Random;
use crate::flash::{COUNTERS, Flash};
use crate::radio::Radio;
use crate::serial::Serial;

/// The node's number: 1 measures, the highest answers it, and those between forward.
const NUMBER: u32 = 1;

/// Eight neighbours, two transmit frames, four packets of 576 bytes, six routes.
type Layers = Stack<Link<false, 8, 2>, Datagrams<576, 4>, Routes<[Route; 6]>>;
type Node = sixlock_node::Node<Soft, EchoClient, Layers>;

#[entry]
fn main() -> ! {
    static mut NODE: Node = Node::new();
    if let (Some(chip), Some(core)) = (cc2538_pac::Peripherals::take(), cortex_m::Peripherals::take()) {
        run(chip, core, NODE);
    }
    loop {
        cortex_m::asm::wfi();
    }
}

/// Returns only if the node does not start.
fn run(chip: cc2538_pac::Peripherals, core: cortex_m::Peripherals, node: &mut Node) {
    let mut clock = Clock::start(core, &chip.sys_ctrl);
    let mut entropy = Random::gather(&chip.sys_ctrl, &chip.rfcore_xreg, &chip.rfcore_sfr);
    let mut serial = Serial::start(&chip.sys_ctrl, &chip.ioc, &chip.gpio_a, chip.uart0);
    antenna::use_connector(&chip.gpio_d);
    let mut radio = Radio::start(chip.rfcore_xreg, chip.rfcore_sfr, &chip.ana_regs, CHANNEL);
    let (crypto, nv) = (&mut Soft, &mut FlashCounters::new(Flash, COUNTERS));
    let counters = &mut Counters::new();
    let cx = &mut Cx { now: clock.millis(), crypto, entropy: &mut entropy, nv, counters };
    if node.start(cx, &sixlock_settings::in_line(NUMBER)).is_err() {
        return;
    }
    for (node_behind, neighbour) in sixlock_settings::behind(NUMBER) {
        if node.interface().routing().add(node_behind, neighbour).is_err() {
            return;
        }
    }
    // The processor never rests: it is at work from here on.
    let mut meter = StateMeter::new();
    meter.start(clock.symbols(), false);
    let (mut frame, mut is_reported) = ([0; MAX_FRAME], false);
    loop {
        let at = clock.symbols();
        cx.now = clock.millis();
        node.application().set_radio_time(at);
        // The radio turns around by itself once it is told to send: what that waits for happened a turnaround ago.
        if let Some(frame) = radio.receive(&mut frame) {
            meter.received(frame, at);
            node.handle_frame(cx, clock.a_turnaround_ago(), frame);
        } else if node.poll_radio_timeout().is_some_and(|deadline| at.has_reached(deadline)) {
            node.handle_radio_timeout(cx, at);
        } else if node.poll_timeout().is_some_and(|deadline| cx.now.has_reached(deadline)) {
            node.handle_timeout(cx, at);
        }
        if let Some(command) = node.poll_radio_due() {
            meter.command(command, clock.symbols());
            match command {
                RadioCommand::Listen { .. } => radio.listen(true),
                RadioCommand::Off { .. } => radio.listen(false),
                RadioCommand::Assess { times, apart, .. } => {
                    let is_clear = radio.assess(times, apart, &mut clock);
                    meter.assessed(clock.symbols());
                    node.handle_cca(cx, clock.symbols(), is_clear);
                }
                RadioCommand::Send { assess, .. } => {
                    match radio.send(node.transmit_frame(), assess, &mut clock) {
                        true => {
                            meter.sent(node.transmit_frame(), clock.symbols());
                            node.handle_transmitted(cx, clock.symbols());
                        }
                        false => {
                            meter.assessed(clock.symbols());
                            node.handle_cca(cx, clock.symbols(), false);
                        }
                    }
                }
            }
        }
        if !is_reported && node.application().is_over() {
            is_reported = true;
            let (setup, times) = (Setup { hops: &HOPS, security: "none", mac: "csma" }, meter.times(at));
            write_report(&setup, node.application().times(), &times, |bytes| serial.put(bytes));
        }
    }
}

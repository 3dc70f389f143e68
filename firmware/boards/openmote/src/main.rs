//! A sensor node on the OpenMote-CC2538: the chip's temperature every minute, by CoAP over DTLS with a pre-shared key.
//!
//! It builds; it has not run on hardware here. What is written to registers is named here with the words of the
//! CC2538's User's Guide (SWRU319), data sheet (SWRS096) and ROM User's Guide (SWRU333), which say what it does.
#![no_std]
#![no_main]

mod antenna;
mod boot;
mod clock;
mod entropy;
mod flash;
mod radio;
mod thermometer;

use cortex_m_rt::entry;
use panic_halt as _;
use sixlock_base::{Counters, Cx};
use sixlock_crypto::Soft;
use sixlock_ieee802154::MAX_FRAME;
use sixlock_node::{
    Config, Datagrams, Decimal, DtlsPsk, Event, Identity, Link, Measurement, RadioCommand, RadioMachine,
    Route, Routes, Sensor, Stack,
};
use sixlock_nv::FlashCounters;
use sixlock_settings::CHANNEL;

use crate::clock::Clock;
use crate::entropy::Random;
use crate::flash::{COUNTERS, Flash};
use crate::radio::Radio;
use crate::thermometer::Thermometer;

/// The node's number, name and key, of 32 printable characters.
const CONFIG: Config<Identity<'static>> =
    sixlock_settings::config(2, b"openmote", b"0123456789abcdef0123456789abcdef");

/// Eight neighbours, two transmit frames, four packets of 320 bytes, four routes.
type Layers = Stack<Link<false, 8, 2>, Datagrams<320, 4>, Routes<[Route; 4]>>;
/// No reading is kept, as nobody may ask for one.
type Node = sixlock_node::Node<Soft, Sensor<Soft, DtlsPsk<Soft>>, Layers>;

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
    let mut thermometer = Thermometer::new(chip.soc_adc, chip.cctest);
    antenna::use_connector(&chip.gpio_d);
    let mut radio = Radio::start(chip.rfcore_xreg, chip.rfcore_sfr, &chip.ana_regs, CHANNEL);
    let (crypto, nv) = (&mut Soft, &mut FlashCounters::new(Flash, COUNTERS));
    let counters = &mut Counters::new();
    let cx = &mut Cx { now: clock.millis(), crypto, entropy: &mut entropy, nv, counters };
    if node.start(cx, &CONFIG).is_err() {
        return;
    }
    let mut frame = [0; MAX_FRAME];
    loop {
        let at = clock.symbols();
        cx.now = clock.millis();
        // The radio turns around by itself once it is told to send: what that waits for happened a turnaround ago.
        if let Some(frame) = radio.receive(&mut frame) {
            node.handle_frame(cx, clock.a_turnaround_ago(), frame);
        } else if node.poll_radio_timeout().is_some_and(|deadline| at.has_reached(deadline)) {
            node.handle_radio_timeout(cx, at);
        } else if node.poll_timeout().is_some_and(|deadline| cx.now.has_reached(deadline)) {
            node.handle_timeout(cx, at);
        }
        match node.poll_radio_due() {
            Some(RadioCommand::Listen { .. }) => radio.listen(true),
            Some(RadioCommand::Off { .. }) => radio.listen(false),
            Some(RadioCommand::Assess { times, apart, .. }) => {
                let is_clear = radio.assess(times, apart, &mut clock);
                node.handle_cca(cx, clock.symbols(), is_clear);
            }
            Some(RadioCommand::Send { assess, .. }) => {
                match radio.send(node.transmit_frame(), assess, &mut clock) {
                    true => node.handle_transmitted(cx, clock.symbols()),
                    false => node.handle_cca(cx, clock.symbols(), false),
                }
            }
            None => {}
        }
        while let Some(event) = node.poll_event(cx.now) {
            if let Event::Sample = event {
                let value = Decimal::new(thermometer.tenths(&radio), -1);
                node.report(cx, clock.symbols(), &[Measurement { name: "temperature", unit: "Cel", value }]);
            }
        }
    }
}

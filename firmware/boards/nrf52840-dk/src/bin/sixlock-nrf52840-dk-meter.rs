//! A node on the nRF52840-DK that measures echoes, and how long its radio and its processor were in each state, or one on their way: its number
//! says which. The report comes out of the serial port at the debugger's USB, 115,200 bits per second.
//!
//! It builds; it has not run on hardware here. `docs/evaluation.md` says what to do with the report.
#![no_std]
#![no_main]

#[path = "../board.rs"]
mod board;

use embassy_executor::Spawner;
use embassy_nrf::nvmc::{FLASH_SIZE, Nvmc};
use embassy_nrf::radio::ieee802154::Radio;
use embassy_nrf::uarte::{self, UarteTx};
use embassy_nrf::{bind_interrupts, peripherals, radio, rng::Rng};
use panic_halt as _;
use sixlock_base::{Counters, Cx};
use sixlock_crypto::Soft;
use sixlock_node::meter::{EchoClient, Setup, StateMeter, write_report};
use sixlock_node::{Datagrams, Link, RadioCommand, RadioMachine, Route, Routes, Stack};
use sixlock_nv::FlashCounters;
use sixlock_settings::{CHANNEL, HOPS};

use crate::board::{Air, Random, WakeReason, a_turnaround_ago, now, symbols};

bind_interrupts!(struct Interrupts {
    RADIO => radio::InterruptHandler<peripherals::RADIO>;
    UARTE0 => uarte::InterruptHandler<peripherals::UARTE0>;
});

/// The node's number: 1 measures, the highest answers it, and those between forward.
const NUMBER: u32 = 1;

/// Where the counters begin: `memory.x` leaves the end of flash to them.
const COUNTERS: u32 = (FLASH_SIZE - FlashCounters::<Nvmc<'static>>::SIZE) as u32;

/// Eight neighbours, two transmit frames, four packets of 576 bytes, six routes.
type Layers = Stack<Link<false, 8, 2>, Datagrams<576, 4>, Routes<[Route; 6]>>;
type Node = sixlock_node::Node<Soft, EchoClient, Layers>;

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let chip = embassy_nrf::init(board::clocks());
    let mut air = Air::new(Radio::new(chip.RADIO, Interrupts), CHANNEL);
    let mut serial = UarteTx::new(chip.UARTE0, Interrupts, chip.P0_06, uarte::Config::default());
    let mut entropy = Random(Rng::new_blocking(chip.RNG));
    let mut nv = FlashCounters::new(Nvmc::new(chip.NVMC), COUNTERS);
    let (crypto, counters) = (&mut Soft, &mut Counters::new());
    let cx = &mut Cx { now: now(), crypto, entropy: &mut entropy, nv: &mut nv, counters };
    let mut node = Node::new();
    if node.start(cx, &sixlock_settings::in_line(NUMBER)).is_err() {
        return;
    }
    for (node_behind, neighbour) in sixlock_settings::behind(NUMBER) {
        if node.interface().routing().add(node_behind, neighbour).is_err() {
            return;
        }
    }
    let mut meter = StateMeter::new();
    meter.start(symbols(), false);
    let mut is_reported = false;
    loop {
        let command = node.poll_radio_due();
        if let Some(command) = command {
            meter.command(command, symbols());
        }
        match command {
            Some(RadioCommand::Listen { .. }) => air.listen(true),
            Some(RadioCommand::Off { .. }) => air.listen(false),
            Some(RadioCommand::Assess { times, apart, .. }) => {
                let is_clear = air.assess(times, apart).await;
                meter.assessed(symbols());
                node.handle_cca(cx, symbols(), is_clear);
            }
            // This radio assesses the channel before each frame, and turns around by itself.
            Some(RadioCommand::Send { assess, .. }) => {
                meter.rest(symbols());
                let is_sent = air.send(node.transmit_frame()).await;
                meter.work(symbols());
                match is_sent {
                    true => meter.sent(node.transmit_frame(), symbols()),
                    false => meter.assessed(symbols()),
                }
                if is_sent || !assess {
                    node.handle_transmitted(cx, symbols());
                } else {
                    node.handle_cca(cx, symbols(), false);
                }
            }
            None => {
                meter.rest(symbols());
                let reason = air.wait(node.poll_radio_timeout(), node.poll_timeout()).await;
                let at = symbols();
                meter.work(at);
                cx.now = now();
                node.application().set_radio_time(at);
                match reason {
                    WakeReason::Frame(frame) => {
                        meter.received(frame, at);
                        node.handle_frame(cx, a_turnaround_ago(), frame);
                    }
                    WakeReason::RadioTimer => node.handle_radio_timeout(cx, at),
                    WakeReason::Timer => node.handle_timeout(cx, at),
                }
            }
        }
        cx.now = now();
        if !is_reported && node.application().is_over() {
            is_reported = true;
            let (setup, times) =
                (Setup { hops: &HOPS, security: "none", mac: "csma" }, meter.times(symbols()));
            // It takes all that fits its buffer, and no piece is longer.
            write_report(&setup, node.application().times(), &times, |bytes| {
                let _ = serial.blocking_write(bytes);
            });
        }
    }
}

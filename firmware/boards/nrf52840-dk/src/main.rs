//! A sensor node on the nRF52840-DK: the chip's temperature every minute, by CoAP over DTLS with a pre-shared key.
//!
//! It builds; it has not run on hardware here. `docs/own-board.md` says how to make one for another board.
#![no_std]
#![no_main]

mod board;

use embassy_executor::Spawner;
use embassy_nrf::nvmc::{FLASH_SIZE, Nvmc};
use embassy_nrf::radio::ieee802154::Radio;
use embassy_nrf::{bind_interrupts, peripherals, radio, rng::Rng, temp, temp::Temp};
use panic_halt as _;
use sixlock_base::{Counters, Cx};
use sixlock_crypto::Soft;
use sixlock_node::{
    Config, Datagrams, Decimal, DtlsPsk, Event, Identity, Link, Measurement, RadioCommand, RadioMachine,
    Route, Routes, Sensor, Stack,
};
use sixlock_nv::FlashCounters;
use sixlock_settings::CHANNEL;

use crate::board::{Air, Random, WakeReason, a_turnaround_ago, now, symbols};

bind_interrupts!(struct Interrupts {
    RADIO => radio::InterruptHandler<peripherals::RADIO>;
    TEMP => temp::InterruptHandler;
});

/// The node's number, name and key, of 32 printable characters.
const CONFIG: Config<Identity<'static>> =
    sixlock_settings::config(1, b"nrf52840-dk", b"0123456789abcdef0123456789abcdef");

const _: () =
    assert!(FlashCounters::<Nvmc<'static>>::SIZE == 24 * 1024, "memory.x leaves 24 KB to the counters");
/// Where the counters begin: `memory.x` leaves the end of flash to them.
const COUNTERS: u32 = (FLASH_SIZE - FlashCounters::<Nvmc<'static>>::SIZE) as u32;

/// Eight neighbours, two transmit frames, four packets of 320 bytes, four routes.
type Layers = Stack<Link<false, 8, 2>, Datagrams<320, 4>, Routes<[Route; 4]>>;
/// No reading is kept, as nobody may ask for one.
type Node = sixlock_node::Node<Soft, Sensor<Soft, DtlsPsk<Soft>>, Layers>;

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let chip = embassy_nrf::init(board::clocks());
    let mut air = Air::new(Radio::new(chip.RADIO, Interrupts), CHANNEL);
    let mut thermometer = Temp::new(chip.TEMP, Interrupts);
    let mut entropy = Random(Rng::new_blocking(chip.RNG));
    let mut nv = FlashCounters::new(Nvmc::new(chip.NVMC), COUNTERS);
    let (crypto, counters) = (&mut Soft, &mut Counters::new());
    let cx = &mut Cx { now: now(), crypto, entropy: &mut entropy, nv: &mut nv, counters };
    let mut node = Node::new();
    if node.start(cx, &CONFIG).is_err() {
        return;
    }
    loop {
        match node.poll_radio_due() {
            Some(RadioCommand::Listen { .. }) => air.listen(true),
            Some(RadioCommand::Off { .. }) => air.listen(false),
            Some(RadioCommand::Assess { times, apart, .. }) => {
                let is_clear = air.assess(times, apart).await;
                node.handle_cca(cx, symbols(), is_clear);
            }
            // This radio assesses the channel before each frame, and turns around by itself.
            Some(RadioCommand::Send { assess, .. }) => {
                if air.send(node.transmit_frame()).await || !assess {
                    node.handle_transmitted(cx, symbols());
                } else {
                    node.handle_cca(cx, symbols(), false);
                }
            }
            None => {
                let reason = air.wait(node.poll_radio_timeout(), node.poll_timeout()).await;
                cx.now = now();
                match reason {
                    WakeReason::Frame(frame) => node.handle_frame(cx, a_turnaround_ago(), frame),
                    WakeReason::RadioTimer => node.handle_radio_timeout(cx, symbols()),
                    WakeReason::Timer => node.handle_timeout(cx, symbols()),
                }
            }
        }
        cx.now = now();
        while let Some(event) = node.poll_event(cx.now) {
            if let Event::Sample = event {
                let quarters = thermometer.read().await.to_bits();
                let value = Decimal::new(quarters * 25, -2);
                node.report(cx, symbols(), &[Measurement { name: "temperature", unit: "Cel", value }]);
            }
        }
    }
}

//! What the node is lent by the board: time, random numbers and the radio.

use core::pin::pin;

use embassy_futures::select::{Either, Either3, select, select3};
use embassy_nrf::config::{Config, HfclkSource, LfclkSource};
use embassy_nrf::mode::Blocking;
use embassy_nrf::pac;
use embassy_nrf::radio::ieee802154::{Packet, Radio, RadioState};
use embassy_nrf::rng::Rng;
use embassy_time::Timer;
use sixlock_base::{Entropy, Instant, Symbols};
use sixlock_ieee802154::{FCS, MAX_FRAME, fcs};

/// A symbol lasts 16 µs.
const SYMBOL: u64 = 16;
/// From receiving to sending, in symbols (aTurnaroundTime).
const TURNAROUND: u32 = 12;
/// The longest that a frame is on the air after its length: 127 bytes of two symbols.
const FRAME: u32 = 254;

/// Both from crystals: the radio works with no other high-frequency clock (nRF52840 Product Specification, 5.4), and
/// timers then err by little.
pub fn clocks() -> Config {
    let mut config = Config::default();
    config.hfclk_source = HfclkSource::ExternalXtal;
    config.lfclk_source = LfclkSource::ExternalXtal;
    config
}

/// Milliseconds since the start.
pub fn now() -> Instant {
    Instant::from_millis(embassy_time::Instant::now().as_millis() as u32)
}

/// Symbols since the start, of which the clock tells two apart.
pub fn symbols() -> Symbols {
    Symbols::new((embassy_time::Instant::now().as_micros() / SYMBOL) as u32)
}

/// When a received frame ended, so that its acknowledgement begins about when it should: the driver takes as long as a
/// turnaround to assess the channel and to turn around, once it is told to send.
pub fn a_turnaround_ago() -> Symbols {
    Symbols::new(symbols().count().wrapping_sub(TURNAROUND))
}

/// The hardware's random numbers, with its correction of bias.
pub struct Random<'d>(pub Rng<'d, Blocking>);

impl Entropy for Random<'_> {
    fn fill(&mut self, out: &mut [u8]) {
        self.0.set_bias_correction(true);
        self.0.blocking_fill_bytes(out);
    }
}

/// What ended a wait.
pub enum WakeReason<'a> {
    /// This frame came in, FCS included.
    Frame(&'a mut [u8]),
    /// The radio's timer ran out.
    RadioTimer,
    /// The timer ran out.
    Timer,
}

/// The radio, and room for a frame.
pub struct Air<'d> {
    radio: Radio<'d>,
    packet: Packet,
    frame: [u8; MAX_FRAME],
    /// Whether it listens when it neither sends nor assesses the channel.
    listens: bool,
}

impl<'d> Air<'d> {
    pub fn new(mut radio: Radio<'d>, channel: u8) -> Self {
        radio.set_channel(channel);
        Self { radio, packet: Packet::new(), frame: [0; MAX_FRAME], listens: true }
    }

    /// Sends `frame` if the channel is clear; whether it was. The radio makes the FCS itself.
    pub async fn send(&mut self, frame: &[u8]) -> bool {
        let (body, _) = frame.split_at(frame.len().saturating_sub(FCS));
        self.packet.copy_from_slice(body);
        self.radio.try_send(&mut self.packet).await.is_ok()
    }

    /// From now on it listens, or is off, while nothing else is to be done.
    pub fn listen(&mut self, listens: bool) {
        self.listens = listens;
        if !listens {
            switch_off();
        }
    }

    /// Assesses the channel so many times, so many symbols from one begin to the next, until it is busy; whether it was clear.
    pub async fn assess(&mut self, times: u8, apart: u16) -> bool {
        let begin = symbols();
        for n in 0..u32::from(times.max(1)) {
            until_symbols(Some(begin.after(n * u32::from(apart)))).await;
            if !is_clear() {
                return false;
            }
        }
        true
    }

    /// Waits until something happens, and listens meanwhile unless it is off. A frame that comes in when a timer runs out is waited
    /// for.
    pub async fn wait(&mut self, radio_timer: Option<Symbols>, timer: Option<Instant>) -> WakeReason<'_> {
        let Self { radio, packet, frame, listens } = self;
        if !*listens {
            return match select(until_symbols(radio_timer), until(timer)).await {
                Either::First(()) => WakeReason::RadioTimer,
                Either::Second(()) => WakeReason::Timer,
            };
        }
        loop {
            let is_right = {
                let mut receiving = pin!(async {
                    pac::RADIO.events_framestart().write_value(0);
                    radio.receive(packet).await
                });
                match select3(until_symbols(radio_timer), until(timer), receiving.as_mut()).await {
                    Either3::Third(received) => received.is_ok(),
                    _ if pac::RADIO.events_framestart().read() != 0 => {
                        let rest = Timer::after_micros(u64::from(FRAME) * SYMBOL);
                        matches!(select(receiving, rest).await, Either::First(Ok(())))
                    }
                    Either3::First(()) => return WakeReason::RadioTimer,
                    Either3::Second(()) => return WakeReason::Timer,
                }
            };
            // The driver takes the FCS off any length, which is then out of bounds where there was none.
            let length = usize::from(packet.len());
            if is_right && length <= MAX_FRAME - FCS {
                frame[..length].copy_from_slice(packet);
                frame[length..length + FCS].copy_from_slice(&fcs(packet).to_le_bytes());
                return WakeReason::Frame(&mut frame[..length + FCS]);
            }
        }
    }
}

/// Has the radio, which neither sends nor assesses the channel, draw no current.
fn switch_off() {
    pac::RADIO.shorts().write(|_| {});
    pac::RADIO.tasks_disable().write_value(1);
    while pac::RADIO.state().read().state() != RadioState::Disabled {}
}

/// Whether the channel is clear for 8 symbols from when the radio is ready; it is off then. The driver has no such function, so this
/// follows the figures of the Product Specification (6.20.12.4): ramp up, assess the channel, be off.
fn is_clear() -> bool {
    switch_off();
    pac::RADIO.events_ccaidle().write_value(0);
    pac::RADIO.events_ccabusy().write_value(0);
    pac::RADIO.shorts().write(|w| w.set_rxready_ccastart(true));
    pac::RADIO.tasks_rxen().write_value(1);
    let is_clear = loop {
        if pac::RADIO.events_ccaidle().read() != 0 {
            break true;
        }
        if pac::RADIO.events_ccabusy().read() != 0 {
            break false;
        }
    };
    switch_off();
    is_clear
}

/// Returns at `deadline`, at once if it has passed, and never if there is none.
async fn until_symbols(deadline: Option<Symbols>) {
    match deadline {
        None => core::future::pending().await,
        Some(deadline) if symbols().has_reached(deadline) => {}
        Some(deadline) => {
            let left = deadline.count().wrapping_sub(symbols().count());
            Timer::after_micros(u64::from(left) * SYMBOL).await;
        }
    }
}

/// The same in milliseconds.
async fn until(deadline: Option<Instant>) {
    match deadline {
        None => core::future::pending().await,
        Some(deadline) if now().has_reached(deadline) => {}
        Some(deadline) => Timer::after_millis(deadline.since(now()).millis().into()).await,
    }
}

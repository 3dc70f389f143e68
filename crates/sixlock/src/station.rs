//! A node or border router that is a program: the same machine as in firmware, on a radio channel made of UDP and by the
//! clock on the wall.

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use sixlock_base::{Counters, Cx, Eui64, Instant, Symbols};
use sixlock_cloud::SystemEntropy;
use sixlock_crypto::Soft;
use sixlock_node::{Csma, InterfaceConfig, LinkSecurity, MacConfig, RadioCommand, RadioMachine, Uplink};
use sixlock_router::{Air, Inbound};
use sixlock_sim::PAN_ID;

use crate::durable::FileCounters;
use crate::keys::LinkKey;

/// The channel that frames say they are on.
pub(crate) const CHANNEL: u8 = 26;
/// The length of a symbol, in microseconds.
const SYMBOL: u128 = 16;
/// The longest a network sleeps without looking whether it is to end.
pub(crate) const NAP: Duration = Duration::from_millis(100);

/// What time it is, by both clocks of the protocols.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) now: Instant,
    pub(crate) at: Symbols,
}

/// The clock on the wall.
pub(crate) struct Clock(std::time::Instant);

impl Clock {
    /// One that begins now.
    pub(crate) fn start() -> Self {
        Self(std::time::Instant::now())
    }

    /// Both clocks wrap, as the protocols expect.
    pub(crate) fn read(&self) -> Moment {
        let micros = self.0.elapsed().as_micros();
        Moment {
            now: Instant::from_millis((micros / 1000) as u32),
            at: Symbols::new((micros / SYMBOL) as u32),
        }
    }
}

/// What a machine is lent, with durable counters `N`.
pub(crate) struct Lent<N = FileCounters> {
    crypto: Soft,
    entropy: SystemEntropy,
    nv: N,
    pub(crate) counters: Counters,
}

/// The context of a call.
pub(crate) type Context<'a, N = FileCounters> = Cx<'a, Soft, SystemEntropy, N>;

impl Lent<()> {
    /// For machines that need no durable counters.
    pub(crate) fn without_counters() -> Self {
        Self { crypto: Soft, entropy: SystemEntropy, nv: (), counters: Counters::new() }
    }
}

impl Lent {
    /// With the durable counters in these files.
    pub(crate) fn new<'p>(counters: impl IntoIterator<Item = &'p PathBuf>) -> Result<Self, Box<dyn Error>> {
        let nv = FileCounters::open(counters)?;
        Ok(Self { crypto: Soft, entropy: SystemEntropy, nv, counters: Counters::new() })
    }
}

impl<N> Lent<N> {
    /// What a machine is lent for one call.
    pub(crate) fn cx(&mut self, now: Instant) -> Context<'_, N> {
        Cx {
            now,
            crypto: &mut self.crypto,
            entropy: &mut self.entropy,
            nv: &mut self.nv,
            counters: &mut self.counters,
        }
    }
}

/// A node or border router, with what it is lent.
pub(crate) trait Station {
    type Machine: RadioMachine<Crypto = Soft>;

    /// The machine, and what it is lent for one call.
    fn lend(&mut self, now: Instant) -> (&mut Self::Machine, Context<'_>);

    fn handle(&mut self, time: Moment, inbound: Inbound);

    /// Deals with what a call has brought about.
    fn settle(&mut self, time: Moment);
}

/// Lets `station` run until it is told to stop.
pub(crate) fn drive(
    station: &mut impl Station,
    air: &mut Air,
    inbound: &Receiver<Inbound>,
    stop: &AtomicBool,
) {
    let clock = Clock::start();
    let mut listens = true;
    while !stop.load(Ordering::Relaxed) {
        let time = clock.read();
        let (machine, mut cx) = station.lend(time.now);
        if machine.poll_radio_timeout().is_some_and(|deadline| time.at.has_reached(deadline)) {
            machine.handle_radio_timeout(&mut cx, time.at);
        }
        if machine.poll_timeout().is_some_and(|deadline| time.now.has_reached(deadline)) {
            machine.handle_timeout(&mut cx, time.at);
        }
        station.settle(time);
        let (machine, mut cx) = station.lend(time.now);
        while let Some(command) = machine.poll_radio_due() {
            match command {
                RadioCommand::Listen { .. } => listens = true,
                RadioCommand::Off { .. } => listens = false,
                // Frames on this channel do not collide.
                RadioCommand::Assess { .. } => machine.handle_cca(&mut cx, clock.read().at, true),
                RadioCommand::Send { .. } => {
                    air.send(machine.transmit_frame());
                    machine.handle_transmitted(&mut cx, clock.read().at);
                }
            }
        }
        match inbound.recv_timeout(until(machine, clock.read()).min(NAP)) {
            Ok(Inbound::Frame(_)) if !listens => {}
            Ok(inbound) => station.handle(clock.read(), inbound),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// How long it is until the machine is to be called.
fn until(machine: &mut impl RadioMachine, time: Moment) -> Duration {
    let radio = machine.poll_radio_timeout().map(|deadline| match time.at.has_reached(deadline) {
        true => Duration::ZERO,
        false => {
            Duration::from_micros(u64::from(deadline.count().wrapping_sub(time.at.count())) * SYMBOL as u64)
        }
    });
    let timer = machine.poll_timeout().map(|deadline| match time.now.has_reached(deadline) {
        true => Duration::ZERO,
        false => Duration::from_millis(deadline.since(time.now).millis().into()),
    });
    radio.into_iter().chain(timer).min().unwrap_or(NAP)
}

/// The interface of node `id`; 0 is the border router. A node that speaks RPL learns its way.
pub(crate) fn interface(
    id: u32,
    link: Option<&LinkKey>,
    speaks_rpl: bool,
) -> Result<InterfaceConfig, Box<dyn Error>> {
    let security = match link {
        None => None,
        Some(link) => {
            let (suite, key) = link.suite()?;
            Some(LinkSecurity { suite, key, key_index: link.index })
        }
    };
    Ok(InterfaceConfig {
        // The channel loses nothing that an acknowledgement would bring again, and every frame is heard.
        mac: MacConfig {
            address: Eui64::of_node(id),
            pan_id: PAN_ID,
            csma: Csma::NONE,
            ack: false,
            security,
        },
        uplink: match id {
            0 => Uplink::External,
            _ if speaks_rpl => Uplink::None,
            _ => Uplink::NextHop(Eui64::of_node(0)),
        },
    })
}

/// Refuses a channel that others hear, if frames on it are in the clear.
pub(crate) fn allow(air: SocketAddr, link: Option<&LinkKey>) -> Result<(), String> {
    if link.is_none() && !air.ip().is_loopback() {
        return Err(format!(
            "frames would go to {air} in the clear, and anybody's would be taken: use devices with llsec in their mode, \
             or an address of this machine alone, such as 127.0.0.1:17754"
        ));
    }
    Ok(())
}

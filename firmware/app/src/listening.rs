//! When a device listens: always, as ContikiMAC has it, hardly ever, or in time slots.

use sixlock_base::Entropy;
use sixlock_crypto::Crypto;
use sixlock_interface::mac::tsch::{Tsch, TschConfig};
use sixlock_interface::mac::{Mac, Sleeper, Sleepy, Standard, TimeSlotted};
use sixlock_interface::{AlwaysOn, ContikiCsma, LinkLayer, Listening, Neighbour};
use sixlock_node::Link;
use sixlock_node::contikimac::{ContikiMac, Times};

use crate::exchange;
use crate::lent::{Backend, Context};
use crate::sizes::{FRAMES, NEIGHBOURS, SLOTTED_FRAMES};

/// The times of all devices whose radios sleep by ContikiMAC.
const TIMES: Times = Times::CONTIKI_2_7;

/// The longest time from one data request of a leaf to the next, in symbols: 30 s.
const POLL: u32 = 1_875_000;

/// A link whose radio sleeps, without link security.
pub enum SleepingLink {}

impl LinkLayer for SleepingLink {
    const SECURED: bool = false;
    const CSMA: bool = true;
    type Neighbours = [Neighbour; NEIGHBOURS];
    type Queue = <Link<false, NEIGHBOURS, FRAMES> as LinkLayer>::Queue;
    type Access = ContikiCsma;
    type Listening = ContikiMac<NEIGHBOURS>;
    type Sleepers = [Sleeper; 0];
    type Mac<C: Crypto> = Mac<C, Self>;
}

/// A link in time slots, without link security.
pub type SlottedLink = TimeSlotted<Link<false, NEIGHBOURS, SLOTTED_FRAMES>>;

/// A MAC that can be told when to listen.
#[expect(private_interfaces, reason = "images name it, and only the application calls it")]
pub trait DeviceMac<B> {
    /// Whether the radio is told what to do before it is time, as a timer that does not wait for the CPU begins with it.
    const AHEAD: bool;

    /// Begins to listen.
    fn listen(&mut self, cx: &mut Context<B>);
}

#[expect(private_interfaces, reason = "as above")]
impl<B: Backend, L: LinkLayer<Listening: DeviceListening>> DeviceMac<B> for Mac<B, L> {
    const AHEAD: bool = L::Listening::AHEAD;

    #[inline(always)]
    fn listen(&mut self, cx: &mut Context<B>) {
        self.listening().start(cx);
    }
}

#[expect(private_interfaces, reason = "as above")]
impl<B: Backend, L: LinkLayer> DeviceMac<B> for Tsch<B, L> {
    const AHEAD: bool = true;

    fn listen(&mut self, _: &mut Context<B>) {
        let (_, at) = exchange::time();
        self.set_slots(&TschConfig::DEVICE, at);
    }
}

/// A link whose receiver is off, without link security.
pub enum SleepyLink {}

impl LinkLayer for SleepyLink {
    const SECURED: bool = false;
    const CSMA: bool = true;
    type Neighbours = [Neighbour; NEIGHBOURS];
    type Queue = <Link<false, NEIGHBOURS, FRAMES> as LinkLayer>::Queue;
    type Access = Standard;
    type Listening = Sleepy;
    type Sleepers = [Sleeper; 0];
    type Mac<C: Crypto> = Mac<C, Self>;
}

/// When a device listens.
#[expect(private_interfaces, reason = "images name it, and only the application calls it")]
pub trait DeviceListening: Listening {
    /// Whether the radio is told what to do before it is time.
    const AHEAD: bool;

    /// Begins.
    fn start<B>(&mut self, cx: &mut Context<B>);
}

#[expect(private_interfaces, reason = "as above")]
impl DeviceListening for AlwaysOn {
    const AHEAD: bool = false;

    #[inline(always)]
    fn start<B>(&mut self, _: &mut Context<B>) {}
}

#[expect(private_interfaces, reason = "as above")]
impl<const PHASES: usize> DeviceListening for ContikiMac<PHASES> {
    const AHEAD: bool = true;

    /// It wakes up at a time of its own, drawn within a cycle, and sends just before others are awaited to wake up.
    fn start<B>(&mut self, cx: &mut Context<B>) {
        let (_, at) = exchange::time();
        // Of 16 bits, and a cycle is of 13.
        let drawn = cx.entropy.next_u32() >> 16;
        self.start(TIMES, true, at, (drawn * TIMES.cycle) >> 16);
    }
}

#[expect(private_interfaces, reason = "as above")]
impl DeviceListening for Sleepy {
    const AHEAD: bool = false;

    fn start<B>(&mut self, _: &mut Context<B>) {
        let (_, at) = exchange::time();
        self.start(POLL, at);
    }
}

use core::mem::MaybeUninit;
use core::ptr::addr_of_mut;

use sixlock_base::{Counter, Counters, Cx, Instant};
use sixlock_lockstep::{Command, Device, Flags, Happening, LinkKey, Route};
use sixlock_node::{
    Cloud, Config, Csma, Event, InterfaceConfig, LinkSecurity, MacConfig, Measurement, RadioCommand, Uplink,
};
use sixlock_nv::DurableCounters;
use sixlock_start as _;

use crate::access::Way;
use crate::exchange::{self, Random};
use crate::sizes::{FRAMES, MTU, NEIGHBOURS, POOL, ROUTES};
use crate::storage::Storage;

/// None of the processors has a cache, by which its tables could tell of keys.
pub type Backend = sixlock_crypto::Tiny;

/// A node with this way to the cloud, with or without link security, which keeps this many quantities for who asks.
pub type Node<W, const SECURED: bool, const READINGS: usize> =
    sixlock_node::Node<Backend, W, SECURED, NEIGHBOURS, FRAMES, MTU, POOL, ROUTES, READINGS>;

/// What the device lends its node.
struct Lent {
    crypto: Backend,
    random: Random,
    nv: DurableCounters<Storage>,
    counters: Counters,
}

type Context = Cx<'static, Backend, Random, DurableCounters<Storage>>;

// Statics, as the node is one: what lies at an address that the compiler knows is not pointed to in every call, which makes
// images smaller by a twentieth.
static mut LENT: Lent = Lent {
    crypto: sixlock_crypto::Tiny,
    random: Random::new(),
    nv: DurableCounters(Storage),
    counters: Counters::new(),
};
static mut CONTEXT: MaybeUninit<Context> = MaybeUninit::uninit();

/// Runs the node for ever. Without the device's own data, or with data for another image, it waits for ever.
///
/// # Safety
///
/// It may be called once.
pub unsafe fn run<W: Way, const SECURED: bool, const READINGS: usize>(
    node: &mut Node<W, SECURED, READINGS>,
) -> ! {
    // SAFETY: nothing else names the statics, and this is called once.
    let (lent, context) = unsafe { (&mut *addr_of_mut!(LENT), &mut *addr_of_mut!(CONTEXT)) };
    let Lent { crypto, random: entropy, nv, counters } = lent;
    let cx = context.write(Cx { now: Instant::from_millis(0), crypto, entropy, nv, counters });
    let mut happening = exchange::wait(Command::None, Flags::default());
    (cx.now, _) = exchange::time();
    if !start(cx, node) {
        loop {
            exchange::wait(Command::None, Flags::default());
        }
    }
    loop {
        handle(cx, node, happening);
        let mut flags = follow(cx, node);
        let command = match node.poll_radio() {
            None => Command::None,
            Some(RadioCommand::Cca) => Command::Cca,
            Some(RadioCommand::Transmit) => {
                exchange::set_frame(node.transmit_frame());
                Command::Transmit
            }
        };
        flags.insert(exchange::set_timers(node.poll_radio_timeout(), node.poll_timeout()));
        happening = exchange::wait(command, flags);
    }
}

/// Makes the node the one that the device's own data asks for, if it can.
#[inline(never)]
fn start<W: Way, const SECURED: bool, const READINGS: usize>(
    cx: &mut Context,
    node: &mut Node<W, SECURED, READINGS>,
) -> bool {
    crate::device::with(|data| {
        let Ok(device) = Device::parse(data) else { return false };
        if device.link.is_some() && !SECURED {
            return false;
        }
        let Some(config) = config::<W>(&device) else { return false };
        node.start(cx, &config).is_ok()
            && device.routes.iter().all(|route| {
                let Route { destination, next_hop } = Route::from_bytes(route);
                node.interface().net().add_route(destination, next_hop).is_ok()
            })
    })
}

fn config<'a, W: Way>(device: &Device<'a>) -> Option<Config<W::Access<'a>>> {
    let cloud = match &device.cloud {
        None => None,
        Some(cloud) => Some(Cloud {
            address: cloud.address,
            port: cloud.port,
            access: W::access(device)?,
            period: cloud.period,
            first: cloud.first,
        }),
    };
    let interface = InterfaceConfig {
        mac: MacConfig {
            address: device.address,
            pan_id: device.pan_id,
            csma: Csma {
                min_be: device.min_be,
                max_be: device.max_be,
                max_backoffs: device.max_backoffs,
                max_retries: device.max_retries,
            },
            ack: device.ack,
            security: device.link.map(|LinkKey { suite, key, index }| LinkSecurity {
                suite,
                key,
                key_index: index,
            }),
        },
        uplink: Uplink::NextHop(device.parent),
    };
    Some(Config { interface, cloud, serves: device.serves })
}

/// Gives the node what begins the task.
#[inline(never)]
fn handle<W: Way, const SECURED: bool, const READINGS: usize>(
    cx: &mut Context,
    node: &mut Node<W, SECURED, READINGS>,
    happening: Option<Happening>,
) {
    let (now, at) = exchange::time();
    cx.now = now;
    match happening {
        Some(Happening::Frame) => node.handle_frame(cx, at, exchange::frame()),
        Some(Happening::Transmitted) => node.handle_transmitted(cx, at),
        Some(Happening::CcaClear) => node.handle_cca(cx, at, true),
        Some(Happening::CcaBusy) => node.handle_cca(cx, at, false),
        Some(Happening::RadioTimer) => node.handle_radio_timeout(cx, at),
        Some(Happening::Timer) => node.handle_timeout(cx, at),
        Some(Happening::Start) | None => {}
    }
}

/// Takes a reading when one is due; what else has happened in the task.
#[inline(never)]
fn follow<W: Way, const SECURED: bool, const READINGS: usize>(
    cx: &mut Context,
    node: &mut Node<W, SECURED, READINGS>,
) -> Flags {
    let (now, at) = exchange::time();
    cx.now = now;
    let mut flags = Flags::default();
    while let Some(event) = node.poll_event(now) {
        flags.insert(match event {
            Event::Sample => {
                let before = cx.counters.get(Counter::ReadingsSent);
                node.report(cx, at, &measurements());
                match cx.counters.get(Counter::ReadingsSent) == before {
                    true => Flags::default(),
                    false => Flags::READING_SENT,
                }
            }
            Event::ReadingConfirmed => Flags::READING_CONFIRMED,
            Event::ReadingFailed => Flags::READING_FAILED,
            Event::Connected => Flags::SESSION_OPENED,
            Event::Disconnected => Flags::SESSION_LOST,
        });
    }
    flags
}

fn measurements() -> [Measurement; 3] {
    let [temperature, humidity, light] = exchange::sensors();
    Measurement::of_sensors(temperature.into(), humidity.into(), light.into())
}

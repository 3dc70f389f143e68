use sixlock_base::Counter;
use sixlock_crypto::Tiny;
use sixlock_interface::Discovery;
use sixlock_lockstep::{Command, Device, DeviceEvent, Flags};
use sixlock_node::{
    Cloud, Config, Event, Link, LinkLayer, Measurement, RadioMachine, Readings, Stack, Uplink,
};

use crate::access::CloudAccess;
use crate::discovery::DeviceDiscovery;
use crate::lent::{self, Backend, Context};
use crate::listening::{DeviceMac, SleepingLink, SleepyLink, SlottedLink};
use crate::routing::{DeviceRouting, Listed, NoRoutes};
use crate::shield::Shield;
use crate::sizes::{FRAMES, NEIGHBOURS};
use crate::{exchange, radio};

/// The layers of a node with or without link security, with this IPsec or none, with or without CSMA-CA and acknowledgements, by listed
/// routes or by RPL.
pub type Layers<const SECURED: bool, P, const CSMA: bool, R = Listed, B = Tiny> = Stack<
    Link<SECURED, NEIGHBOURS, FRAMES, CSMA>,
    <R as DeviceRouting>::Datagrams,
    R,
    <P as Shield<B>>::Security,
    <P as Shield<B>>::Compression,
>;

/// The layers of a node with this IPsec or none, by listed routes or by RPL, whose radio sleeps as ContikiMAC has it, and which contends for the
/// channel by Contiki's CSMA.
pub type Sleeping<P, R = Listed> = Stack<
    SleepingLink,
    <R as DeviceRouting>::Datagrams,
    R,
    <P as Shield>::Security,
    <P as Shield>::Compression,
>;

/// The layers of a node with this IPsec or none, by listed routes or by RPL, in time slots.
pub type Slotted<P, R = Listed> = Stack<
    SlottedLink,
    <R as DeviceRouting>::Datagrams,
    R,
    <P as Shield>::Security,
    <P as Shield>::Compression,
>;

/// The layers of a leaf without IPsec, whose receiver is off: its parent holds what is for it. It forwards nothing.
pub type Leaf = Stack<SleepyLink, <NoRoutes as DeviceRouting>::Datagrams, NoRoutes>;

/// The layers of a node without IPsec, which finds its prefix and its router by neighbour discovery, and routes by RPL or not at all.
pub type Discovering<R, D> =
    Stack<Link<false, NEIGHBOURS, FRAMES>, <R as DeviceRouting>::Datagrams, R, (), (), (), D>;

/// The layers that an image can have.
pub trait DeviceLayers<B: Backend = Tiny>:
    sixlock_node::Layers<
        B,
        Link: LinkLayer<Mac<B>: DeviceMac<B>>,
        Routing: DeviceRouting,
        Discovery: DeviceDiscovery,
    >
{
}

impl<B: Backend, L> DeviceLayers<B> for L where
    L: sixlock_node::Layers<
            B,
            Link: LinkLayer<Mac<B>: DeviceMac<B>>,
            Routing: DeviceRouting,
            Discovery: DeviceDiscovery,
        >
{
}

/// A node with this way to the cloud and these layers, which keeps this many quantities for who asks.
pub type Node<W, L, const READINGS: usize, B = Tiny> = sixlock_node::Node<B, W, L, Readings<READINGS>>;

/// Runs the node for ever. Without the device's own data, or with data for another image, it waits for ever.
///
/// # Safety
///
/// It may be called once.
pub unsafe fn run<B: Backend, W: CloudAccess<B>, L, const READINGS: usize, P: Shield<B>>(
    node: &mut Node<W, L, READINGS, B>,
) -> !
where
    L: DeviceLayers<B> + sixlock_node::Layers<B, Security = P::Security, Compression = P::Compression>,
{
    const {
        // LLVM does not align the stack of AVR, and adds 1 to an address that it takes for even by setting a bit.
        assert!(!cfg!(target_arch = "avr") || align_of::<Node<W, L, READINGS, B>>() == 1);
    }
    // SAFETY: this is called once.
    let cx = unsafe { B::context() };
    let mut event = exchange::wait(Command::None, Flags::default());
    (cx.now, _) = exchange::time();
    if !(start(cx, node) && P::start(cx, node.interface())) {
        lent::wait_for_ever();
    }
    loop {
        handle(cx, node, event);
        let flags = follow(cx, node);
        event = radio::wait(node, flags);
    }
}

/// Makes the node the one that the device's own data asks for, if it can.
#[inline(never)]
pub(crate) fn start<B: Backend, W: CloudAccess<B>, L: DeviceLayers<B>, const READINGS: usize>(
    cx: &mut Context<B>,
    node: &mut Node<W, L, READINGS, B>,
) -> bool {
    crate::device::with(|data| {
        let Ok(device) = Device::parse(data) else { return false };
        if device.link.is_some() && !L::Link::SECURED {
            return false;
        }
        let Some(config) = config::<B, W, L>(&device) else { return false };
        if config.interface.mac.contends() && !L::Link::CSMA {
            return false;
        }
        node.interface().mac().listen(cx);
        let is_started = node.start(cx, &config).is_ok() && node.interface().routing().start(cx, &device);
        node.interface().discovery().start(cx, &device);
        is_started
    })
}

fn config<'a, B: Backend, W: CloudAccess<B>, L: DeviceLayers<B>>(
    device: &Device<'a>,
) -> Option<Config<W::Access<'a>>> {
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
    // What finds its router sends to that.
    let uplink = if L::Discovery::DISCOVERS { Uplink::None } else { Uplink::NextHop(device.parent) };
    let interface = lent::interface(device, uplink);
    Some(Config { interface, cloud, serves: device.serves, echoes: device.echoes })
}

/// Gives the node what begins the task.
#[inline(never)]
fn handle<B: Backend, W: CloudAccess<B>, L: sixlock_node::Layers<B>, const READINGS: usize>(
    cx: &mut Context<B>,
    node: &mut Node<W, L, READINGS, B>,
    event: Option<DeviceEvent>,
) {
    let (now, at) = exchange::time();
    cx.now = now;
    match event {
        Some(DeviceEvent::Frame) => node.handle_frame(cx, at, exchange::frame()),
        Some(event) => radio::happens(cx, node, at, event),
        None => {}
    }
}

/// Takes a reading when one is due; what else has happened in the task.
#[inline(never)]
fn follow<B: Backend, W: CloudAccess<B>, L: sixlock_node::Layers<B>, const READINGS: usize>(
    cx: &mut Context<B>,
    node: &mut Node<W, L, READINGS, B>,
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
            Event::ReadingReceived(author) => {
                exchange::set_author(author);
                Flags::READING_RECEIVED
            }
        });
    }
    flags
}

fn measurements() -> [Measurement; 3] {
    let [temperature, humidity, light] = exchange::sensors();
    Measurement::of_sensors(temperature.into(), humidity.into(), light.into())
}

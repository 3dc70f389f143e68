//! The border router: packets in SLIP at the serial port, 6LoWPAN on the air.

use sixlock_bridge::{Datagrams, Link, RadioMachine, Stack, Uplink};
use sixlock_crypto::Tiny;
use sixlock_interface::LinkLayer;
use sixlock_lockstep::{Command, Device, DeviceEvent, Flags};

use crate::application::DeviceLayers;
use crate::lent::{self, Backend as _, Context};
use crate::routing::{DeviceRouting, Listed, RplSource};
use crate::sizes::{BRIDGE_MTU, BRIDGE_POOL, FRAMES, NEIGHBOURS, ROOT_NEIGHBOURS};
use crate::{exchange, radio};

/// The layers of a border router with or without link security, which has listed routes.
pub type Bridge<const SECURED: bool> =
    Stack<Link<SECURED, NEIGHBOURS, FRAMES>, Datagrams<BRIDGE_MTU, BRIDGE_POOL>, Listed>;

/// The layers of a border router with or without link security, which is the root of RPL.
pub type RootBridge<const SECURED: bool> =
    Stack<Link<SECURED, ROOT_NEIGHBOURS, FRAMES>, <RplSource as DeviceRouting>::Datagrams, RplSource>;

/// A border router of the layers `L`.
pub type BorderRouter<L> = sixlock_bridge::Bridge<Tiny, L>;

/// Runs the border router for ever. Without the device's own data, or with data for another image, it waits for ever.
///
/// # Safety
///
/// It may be called once.
pub unsafe fn run_bridge<L: DeviceLayers>(bridge: &mut BorderRouter<L>) -> ! {
    // SAFETY: this is called once.
    let cx = unsafe { Tiny::context() };
    let mut event = exchange::wait(Command::None, Flags::default());
    (cx.now, _) = exchange::time();
    if !start(cx, bridge) {
        lent::wait_for_ever();
    }
    loop {
        handle(cx, bridge, event);
        event = radio::wait(bridge, Flags::default());
    }
}

/// Makes the border router the one that the device's own data asks for, if it can.
#[inline(never)]
fn start<L: DeviceLayers>(cx: &mut Context, bridge: &mut BorderRouter<L>) -> bool {
    crate::device::with(|data| {
        let Ok(device) = Device::parse(data) else { return false };
        if device.link.is_some() && !L::Link::SECURED {
            return false;
        }
        bridge.start(cx, &lent::interface(&device, Uplink::External));
        bridge.interface().routing().start(cx, &device)
    })
}

/// Gives the border router what begins the task.
#[inline(never)]
fn handle<L: DeviceLayers>(cx: &mut Context, bridge: &mut BorderRouter<L>, event: Option<DeviceEvent>) {
    let (now, at) = exchange::time();
    cx.now = now;
    match event {
        Some(DeviceEvent::Frame) => {
            bridge.handle_frame(cx, at, exchange::frame(), |bytes| exchange::put_out(bytes));
        }
        Some(DeviceEvent::Serial) => {
            bridge.handle_line(cx, at, exchange::frame(), |bytes| exchange::put_out(bytes));
        }
        Some(event) => radio::happens(cx, bridge, at, event),
        None => {}
    }
}

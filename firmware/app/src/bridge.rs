//! The border router: packets in SLIP at the serial port, 6LoWPAN on the air.

use sixlock_bridge::{Datagrams, Link, RadioMachine, Route, Routes, Stack, Uplink};
use sixlock_lockstep::{Command, Device, DeviceEvent, Flags};

use crate::lent::{self, Backend, Context};
use crate::sizes::{BRIDGE_MTU, BRIDGE_POOL, FRAMES, NEIGHBOURS, ROUTES};
use crate::{exchange, radio};

/// A border router, with or without link security.
pub type Bridge<const SECURED: bool> = sixlock_bridge::Bridge<
    Backend,
    Stack<Link<SECURED, NEIGHBOURS, FRAMES>, Datagrams<BRIDGE_MTU, BRIDGE_POOL>, Routes<[Route; ROUTES]>>,
>;

/// Runs the border router for ever. Without the device's own data, or with data for another image, it waits for ever.
///
/// # Safety
///
/// It may be called once.
pub unsafe fn run_bridge<const SECURED: bool>(bridge: &mut Bridge<SECURED>) -> ! {
    // SAFETY: this is called once.
    let cx = unsafe { lent::context() };
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
fn start<const SECURED: bool>(cx: &mut Context, bridge: &mut Bridge<SECURED>) -> bool {
    crate::device::with(|data| {
        let Ok(device) = Device::parse(data) else { return false };
        if device.link.is_some() && !SECURED {
            return false;
        }
        bridge.start(cx, &lent::interface(&device, Uplink::External));
        lent::add_routes(&device, bridge.interface().routing())
    })
}

/// Gives the border router what begins the task.
#[inline(never)]
fn handle<const SECURED: bool>(cx: &mut Context, bridge: &mut Bridge<SECURED>, event: Option<DeviceEvent>) {
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

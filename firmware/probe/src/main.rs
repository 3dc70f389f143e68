//! One image a target that calls the entry points of every crate on the device floors.
//!
//! It is linked, not only compiled: an allocation, a 64-bit division or a symbol that the
//! target lacks fails the build, and its size is a bound on what a device needs.
#![no_std]
#![no_main]
#![cfg_attr(target_arch = "msp430", feature(asm_experimental_arch))]

mod coap;
mod crypto;
mod interface;
mod io;
mod sizes;
mod start;

use core::mem::MaybeUninit;
use core::ptr::addr_of_mut;

use sixlock_base::{Counters, Cx, Instant};
use sixlock_crypto::Soft;

/// Every machine, in a static so that the linker counts its memory.
struct Machines {
    interface: interface::Interface<Soft>,
    coap: coap::Coap,
}

static mut MACHINES: MaybeUninit<Machines> = MaybeUninit::uninit();

/// Calls everything, again and again, with what comes in.
fn run() -> ! {
    let (mut soft, mut entropy, mut nv, mut counters) = (Soft, io::Noise, io::Flash, Counters::new());
    let mut cx = Cx {
        now: Instant::from_millis(io::number()),
        crypto: &mut soft,
        entropy: &mut entropy,
        nv: &mut nv,
        counters: &mut counters,
    };
    let machines = Machines { interface: interface::new(&mut cx), coap: coap::new() };
    // SAFETY: `run` is called once, and nothing else names the static.
    let machines = unsafe { (*addr_of_mut!(MACHINES)).write(machines) };
    loop {
        cx.now = Instant::from_millis(io::number());
        match io::byte() {
            0 => crypto::probe(&mut cx),
            1 => interface::probe(&mut cx, &mut machines.interface),
            _ => coap::probe(&mut cx, &mut machines.coap),
        }
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

//! One image a target that calls the entry points of every crate on the device floors.
//!
//! It is linked, not only compiled: an allocation, a 64-bit division or a symbol that the
//! target lacks fails the build, and its size is a bound on what a device needs.
#![no_std]
#![no_main]

mod assembly;
// P-256 takes smaller processors half a minute: they use pre-shared keys.
#[cfg(target_pointer_width = "32")]
mod certified;
mod coap;
mod crypto;
mod dtls;
mod endpoint;
mod gateway;
mod interface;
mod io;
mod ipsec;
mod node;
mod rpl;
// It holds packets of 1,280 bytes: the smallest processors have no room for them.
#[cfg(target_pointer_width = "32")]
mod serial;
mod sizes;
mod x509;

use core::mem::MaybeUninit;
use core::ptr::addr_of_mut;

use sixlock_base::{Counters, Cx, Instant};
use sixlock_start as _;

/// The backend that suits the processor.
#[cfg(target_pointer_width = "32")]
type Backend = sixlock_crypto::Soft;
#[cfg(target_pointer_width = "16")]
type Backend = sixlock_crypto::Tiny;

/// What is being probed. The largest of them is the memory that a device needs, besides its stack.
#[expect(clippy::large_enum_variant, reason = "there is no heap to put the large ones in")]
enum Machine {
    Assembly(assembly::Assembly),
    Interface(interface::Interface<Backend>),
    Dtls(dtls::Dtls<Backend>),
    #[cfg(target_pointer_width = "32")]
    Certified(certified::Machine<Backend>),
    Coap(coap::Coap),
    Node(node::Node<Backend>),
    Gateway(gateway::Gateway<Backend>),
    #[cfg(target_pointer_width = "32")]
    Serial(serial::Gateway<Backend>),
    Endpoint(endpoint::Endpoint<Backend>),
    Ipsec(ipsec::Ipsec<Backend>),
    Rpl(rpl::Rpl),
    RplRoot(rpl::Root),
}

/// A static, so that the linker counts its memory; without a value, so that flash holds none.
static mut MACHINE: MaybeUninit<Option<Machine>> = MaybeUninit::uninit();

/// Calls everything, again and again, with what comes in.
#[unsafe(no_mangle)]
fn run() -> ! {
    let (mut crypto, mut entropy, mut nv, mut counters) =
        (Backend::default(), io::Noise, io::Flash, Counters::new());
    // SAFETY: `run` is called once, and nothing else names the static.
    let machine = unsafe { (*addr_of_mut!(MACHINE)).write(None) };
    loop {
        let cx = &mut Cx {
            now: Instant::from_millis(io::number()),
            crypto: &mut crypto,
            entropy: &mut entropy,
            nv: &mut nv,
            counters: &mut counters,
        };
        match io::byte() {
            0 => crypto::probe(cx),
            1 => *machine = Some(Machine::Interface(interface::new(cx))),
            2 => *machine = Some(Machine::Dtls(dtls::new(cx))),
            3 => *machine = Some(Machine::Coap(coap::new())),
            4 => *machine = Some(Machine::Node(node::new(cx))),
            5 => *machine = Some(Machine::Gateway(gateway::new(cx))),
            6 => *machine = Some(Machine::Endpoint(endpoint::new(cx))),
            7 => *machine = Some(Machine::Ipsec(ipsec::new())),
            8 => x509::probe(),
            #[cfg(target_pointer_width = "32")]
            9 => *machine = Some(Machine::Certified(certified::new(cx))),
            10 => *machine = Some(Machine::Assembly(assembly::Assembly::new())),
            11 => *machine = Some(Machine::Rpl(rpl::new(cx))),
            12 => *machine = Some(Machine::RplRoot(rpl::new_root(cx))),
            #[cfg(target_pointer_width = "32")]
            13 => *machine = Some(Machine::Serial(serial::new(cx))),
            _ => match machine {
                Some(Machine::Assembly(assembly)) => assembly::probe(cx, assembly),
                Some(Machine::Interface(interface)) => interface::probe(cx, interface),
                Some(Machine::Dtls(dtls)) => dtls::probe(cx, dtls),
                #[cfg(target_pointer_width = "32")]
                Some(Machine::Certified(certified)) => certified::probe(cx, certified),
                Some(Machine::Coap(coap)) => coap::probe(cx, coap),
                Some(Machine::Node(node)) => node::probe(cx, node),
                Some(Machine::Gateway(gateway)) => gateway::probe(cx, gateway),
                #[cfg(target_pointer_width = "32")]
                Some(Machine::Serial(gateway)) => serial::probe(cx, gateway),
                Some(Machine::Endpoint(endpoint)) => endpoint::probe(cx, endpoint),
                Some(Machine::Ipsec(ipsec)) => ipsec::probe(cx, ipsec),
                Some(Machine::Rpl(node)) => rpl::probe(cx, node),
                Some(Machine::RplRoot(root)) => rpl::probe_root(cx, root),
                None => {}
            },
        }
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

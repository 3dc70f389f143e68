//! The application that every image is made of, driven through one block of memory: a node, a border
//! router or a sniffer.
//!
//! An image of `src/bin/` chooses what is linked; a [`Device`](sixlock_lockstep::Device) in flash says whose image it is.
#![no_std]
#![cfg_attr(any(target_arch = "msp430", target_arch = "avr"), feature(asm_experimental_arch))]

mod access;
mod application;
mod bridge;
mod device;
mod discovery;
mod duty_cycle;
mod exchange;
#[cfg(target_arch = "arm")]
mod key_ring;
mod lent;
mod listening;
mod meter;
mod radio;
mod routing;
mod shield;
mod sizes;
mod sniffer;
mod storage;

pub use access::{CloudAccess, DtlsPsk, Echoes, NoCloud, Plain, Server};
pub use application::{Discovering, Layers, Leaf, Node, Sleeping, Slotted, run};
pub use bridge::{BorderRouter, Bridge, RootBridge, run_bridge};
pub use discovery::{DiscoveringHost, DiscoveringRouter};
pub use duty_cycle::duty_cycle;
#[cfg(target_arch = "arm")]
pub use key_ring::{DtlsRpk, DtlsX509, EchoesRpk, EchoesX509, ServerRpk, ServerX509};
pub use lent::{Backend, WithTables};
pub use meter::{MeterLayers, MeterNode, SleepingMeterLayers, run_meter};
pub use routing::{Listed, NoRoutes, RplLeaf, RplRegistrar, RplRouter};
pub use shield::{AhXcbc, AhXcbcRpl, EspCtrXcbc, EspCtrXcbcRpl, Unprotected};
pub use sixlock_crypto::Tiny;
pub use sniffer::sniff;

/// Makes an image: of a node with this way to the cloud, with or without link security, keeping this many quantities
/// of the latest reading for who asks by CoAP, and with CSMA-CA, acknowledgements and listed routes, unless it says otherwise; of one with other layers, or with another backend; of a border router with these layers; of a node that measures, with these layers and a name
/// for its MAC; of a sniffer; or of a device whose radio is off almost all the time.
#[macro_export]
macro_rules! image {
    (cloud: $channel:ty, secured: $secured:literal, serves: $readings:literal) => {
        $crate::image!(cloud: $channel, secured: $secured, serves: $readings, csma: true);
    };
    (cloud: $channel:ty, secured: $secured:literal, serves: $readings:literal, csma: $csma:literal) => {
        $crate::image!(cloud: $channel, secured: $secured, serves: $readings, csma: $csma, protected: $crate::Unprotected);
    };
    (cloud: $channel:ty, secured: $secured:literal, serves: $readings:literal, protected: $protection:ty) => {
        $crate::image!(cloud: $channel, secured: $secured, serves: $readings, csma: true, protected: $protection);
    };
    (cloud: $channel:ty, secured: $secured:literal, serves: $readings:literal, csma: $csma:literal, protected: $protection:ty) => {
        $crate::image!(cloud: $channel, secured: $secured, serves: $readings, csma: $csma, protected: $protection, routing: $crate::Listed);
    };
    (cloud: $channel:ty, secured: $secured:literal, serves: $readings:literal, csma: $csma:literal, protected: $protection:ty, routing: $routing:ty) => {
        $crate::image!(cloud: $channel, serves: $readings, protected: $protection, layers: $crate::Layers<$secured, $protection, $csma, $routing>);
    };
    (cloud: $channel:ty, secured: $secured:literal, serves: $readings:literal, protected: $protection:ty, crypto: $backend:ty) => {
        $crate::image!(cloud: $channel, serves: $readings, protected: $protection, layers: $crate::Layers<$secured, $protection, true, $crate::Listed, $backend>, crypto: $backend);
    };
    (cloud: $channel:ty, serves: $readings:literal, protected: $protection:ty, layers: $layers:ty) => {
        $crate::image!(cloud: $channel, serves: $readings, protected: $protection, layers: $layers, crypto: $crate::Tiny);
    };
    (cloud: $channel:ty, serves: $readings:literal, protected: $protection:ty, layers: $layers:ty, crypto: $backend:ty) => {
        /// A static, so that the linker counts its memory.
        static mut NODE: $crate::Node<$channel, $layers, $readings, $backend> = $crate::Node::new();

        #[unsafe(no_mangle)]
        fn run() -> ! {
            // SAFETY: this is called once, and nothing else names the static.
            unsafe { $crate::run::<$backend, $channel, _, $readings, $protection>(&mut *core::ptr::addr_of_mut!(NODE)) }
        }

        $crate::image!(panics);
    };
    (meter: $layers:ty, mac: $mac:literal) => {
        /// A static, so that the linker counts its memory.
        static mut NODE: $crate::MeterNode<$layers> = $crate::MeterNode::NEW;

        #[unsafe(no_mangle)]
        fn run() -> ! {
            // SAFETY: this is called once, and nothing else names the static.
            unsafe { $crate::run_meter(&mut *core::ptr::addr_of_mut!(NODE), $mac) }
        }

        $crate::image!(panics);
    };
    (sniffer) => {
        #[unsafe(no_mangle)]
        fn run() -> ! {
            $crate::sniff()
        }

        $crate::image!(panics);
    };
    (duty_cycle) => {
        #[unsafe(no_mangle)]
        fn run() -> ! {
            $crate::duty_cycle()
        }

        $crate::image!(panics);
    };
    (bridge: $layers:ty) => {
        /// A static, so that the linker counts its memory.
        static mut BRIDGE: $crate::BorderRouter<$layers> = $crate::BorderRouter::new();

        #[unsafe(no_mangle)]
        fn run() -> ! {
            // SAFETY: this is called once, and nothing else names the static.
            unsafe { $crate::run_bridge(&mut *core::ptr::addr_of_mut!(BRIDGE)) }
        }

        $crate::image!(panics);
    };
    (panics) => {
        #[panic_handler]
        fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
            loop {
                core::hint::spin_loop();
            }
        }
    };
}

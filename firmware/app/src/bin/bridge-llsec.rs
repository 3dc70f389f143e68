//! A border router: packets in SLIP at the serial port, 6LoWPAN on the air, each frame secured on its link.
#![no_std]
#![no_main]

use sixlock_app::Bridge;

sixlock_app::image!(bridge: Bridge<true>);

//! A border router: packets in SLIP at the serial port, 6LoWPAN on the air.
#![no_std]
#![no_main]

sixlock_app::image!(bridge, secured: false);

//! A border router: packets in SLIP at the serial port, 6LoWPAN on the air, each frame secured on its link.
#![no_std]
#![no_main]

sixlock_app::image!(bridge, secured: true);

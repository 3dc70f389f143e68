//! A sniffer: the frames on the air, as a packet capture at the serial port.
#![no_std]
#![no_main]

sixlock_app::image!(sniffer);

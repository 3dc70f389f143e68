//! The same as `udp-none-meter`, and sends without CSMA-CA or acknowledgements.
#![no_std]
#![no_main]

use sixlock_app::MeterLayers;

sixlock_app::image!(meter: MeterLayers<false>, mac: "null");

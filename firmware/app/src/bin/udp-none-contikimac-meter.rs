//! The same as `udp-none-meter` with a radio that sleeps.
#![no_std]
#![no_main]

use sixlock_app::SleepingMeterLayers;

sixlock_app::image!(meter: SleepingMeterLayers, mac: "contikimac");

//! A node that sends echoes, measures how long they take, and counts how long its radio and its processor are in each state.
#![no_std]
#![no_main]

use sixlock_app::MeterLayers;

sixlock_app::image!(meter: MeterLayers<true>, mac: "csma");

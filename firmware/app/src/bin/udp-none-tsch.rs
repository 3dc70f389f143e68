//! The same as `udp-none` in time slots.
#![no_std]
#![no_main]

use sixlock_app::{NoCloud, Slotted, Unprotected};

sixlock_app::image!(cloud: NoCloud, serves: 0, protected: Unprotected, layers: Slotted<Unprotected>);

//! The same as `udp-esp-ctr-xcbc` with a radio that sleeps.
#![no_std]
#![no_main]

use sixlock_app::{EspCtrXcbc, NoCloud, Sleeping};

sixlock_app::image!(cloud: NoCloud, serves: 0, protected: EspCtrXcbc, layers: Sleeping<EspCtrXcbc>);

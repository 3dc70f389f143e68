//! The same as `udp-none` with a radio that sleeps.
#![no_std]
#![no_main]

use sixlock_app::{NoCloud, Sleeping, Unprotected};

sixlock_app::image!(cloud: NoCloud, serves: 0, protected: Unprotected, layers: Sleeping<Unprotected>);

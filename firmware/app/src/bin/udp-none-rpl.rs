//! The same as `udp-none` by RPL, as a router.
#![no_std]
#![no_main]

use sixlock_app::{NoCloud, RplRouter, Unprotected};

sixlock_app::image!(cloud: NoCloud, secured: false, serves: 0, csma: true, protected: Unprotected, routing: RplRouter);

//! The same as `udp-none-contikimac` by RPL, as a router.
#![no_std]
#![no_main]

use sixlock_app::{NoCloud, RplRouter, Sleeping, Unprotected};

sixlock_app::image!(cloud: NoCloud, serves: 0, protected: Unprotected, layers: Sleeping<Unprotected, RplRouter>);

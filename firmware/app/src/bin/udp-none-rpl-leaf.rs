//! The same as `udp-none` by RPL, as a leaf, which forwards for nobody.
#![no_std]
#![no_main]

use sixlock_app::{NoCloud, RplLeaf, Unprotected};

sixlock_app::image!(cloud: NoCloud, secured: false, serves: 0, csma: true, protected: Unprotected, routing: RplLeaf);

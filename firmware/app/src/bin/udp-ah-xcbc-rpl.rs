//! The same as `udp-ah-xcbc` by RPL, as a router.
#![no_std]
#![no_main]

use sixlock_app::{AhXcbcRpl, NoCloud, RplRouter};

sixlock_app::image!(cloud: NoCloud, secured: false, serves: 0, csma: true, protected: AhXcbcRpl, routing: RplRouter);

//! The same as `udp-ah-xcbc-rpl` with a radio that sleeps.
#![no_std]
#![no_main]

use sixlock_app::{AhXcbcRpl, NoCloud, RplRouter, Sleeping};

sixlock_app::image!(cloud: NoCloud, serves: 0, protected: AhXcbcRpl, layers: Sleeping<AhXcbcRpl, RplRouter>);

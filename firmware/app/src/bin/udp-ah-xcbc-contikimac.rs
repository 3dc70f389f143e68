//! The same as `udp-ah-xcbc` with a radio that sleeps.
#![no_std]
#![no_main]

use sixlock_app::{AhXcbc, NoCloud, Sleeping};

sixlock_app::image!(cloud: NoCloud, serves: 0, protected: AhXcbc, layers: Sleeping<AhXcbc>);

//! The same as `udp-ah-xcbc` for a node that forwards for nobody: it has state of its own two flows.
#![no_std]
#![no_main]

use sixlock_app::{AhXcbc, NoCloud, Tiny};

sixlock_app::image!(cloud: NoCloud, secured: false, serves: 0, protected: AhXcbc<Tiny, 2>);

//! A node that forwards, answers pings and sends back UDP datagrams, its own packets under AH.
#![no_std]
#![no_main]

use sixlock_app::{AhXcbc, NoCloud};

sixlock_app::image!(cloud: NoCloud, secured: false, serves: 0, protected: AhXcbc);

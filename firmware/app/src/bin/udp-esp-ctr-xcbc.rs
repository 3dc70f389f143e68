//! A node that forwards, answers pings and sends back UDP datagrams, its own packets under ESP.
#![no_std]
#![no_main]

use sixlock_app::{EspCtrXcbc, NoCloud};

sixlock_app::image!(cloud: NoCloud, secured: false, serves: 0, protected: EspCtrXcbc);

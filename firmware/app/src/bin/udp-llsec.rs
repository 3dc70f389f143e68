//! A node that forwards, answers pings and sends back UDP datagrams, each frame secured on its link.
#![no_std]
#![no_main]

use sixlock_app::NoCloud;

sixlock_app::image!(cloud: NoCloud, secured: true, serves: 0);

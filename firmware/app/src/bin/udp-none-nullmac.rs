//! A node that forwards, answers pings and sends back UDP datagrams, and sends without CSMA-CA or acknowledgements.
#![no_std]
#![no_main]

use sixlock_app::NoCloud;

sixlock_app::image!(cloud: NoCloud, secured: false, serves: 0, csma: false);

//! The same as `udp-esp-ctr-xcbc-contikimac` by RPL, as a router.
#![no_std]
#![no_main]

use sixlock_app::{EspCtrXcbcRpl, NoCloud, RplRouter, Sleeping};

sixlock_app::image!(cloud: NoCloud, serves: 0, protected: EspCtrXcbcRpl, layers: Sleeping<EspCtrXcbcRpl, RplRouter>);

//! The same as `bridge-llsec` by RPL, as the root.
#![no_std]
#![no_main]

use sixlock_app::RootBridge;

sixlock_app::image!(bridge: RootBridge<true>);

//! The same as `bridge` by RPL, as the root.
#![no_std]
#![no_main]

use sixlock_app::RootBridge;

sixlock_app::image!(bridge: RootBridge<false>);

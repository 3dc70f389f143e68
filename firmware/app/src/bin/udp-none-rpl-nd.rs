//! The same as `udp-none-rpl`, with an address that it registers by neighbour discovery, and at which hosts register.
#![no_std]
#![no_main]

use sixlock_app::{Discovering, DiscoveringRouter, NoCloud, RplRegistrar, Unprotected};

sixlock_app::image!(cloud: NoCloud, serves: 0, protected: Unprotected, layers: Discovering<RplRegistrar, DiscoveringRouter>);

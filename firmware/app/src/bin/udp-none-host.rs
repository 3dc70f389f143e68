//! The same as `udp-none` as a host, which finds its router by neighbour discovery, and forwards for nobody.
#![no_std]
#![no_main]

use sixlock_app::{Discovering, DiscoveringHost, NoCloud, NoRoutes, Unprotected};

sixlock_app::image!(cloud: NoCloud, serves: 0, protected: Unprotected, layers: Discovering<NoRoutes, DiscoveringHost>);

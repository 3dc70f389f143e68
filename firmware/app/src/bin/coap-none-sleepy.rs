//! The same as `coap-none` as a leaf whose receiver is off.
#![no_std]
#![no_main]

use sixlock_app::{Leaf, Plain, Unprotected};

sixlock_app::image!(cloud: Plain, serves: 3, protected: Unprotected, layers: Leaf);

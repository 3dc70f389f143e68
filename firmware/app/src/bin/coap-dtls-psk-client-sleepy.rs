//! The same as `coap-dtls-psk-client` as a leaf whose receiver is off.
#![no_std]
#![no_main]

use sixlock_app::{DtlsPsk, Leaf, Unprotected};

sixlock_app::image!(cloud: DtlsPsk, serves: 0, protected: Unprotected, layers: Leaf);

//! The same as `udp-esp-ctr-xcbc` with an AES that reads a table of columns.
#![no_std]
#![no_main]

use sixlock_app::{EspCtrXcbc, NoCloud, WithTables};

sixlock_app::image!(cloud: NoCloud, secured: false, serves: 0, protected: EspCtrXcbc<WithTables>, crypto: WithTables);

//! The same as `udp-ah-xcbc` with an AES that reads a table of columns.
#![no_std]
#![no_main]

use sixlock_app::{AhXcbc, NoCloud, WithTables};

sixlock_app::image!(cloud: NoCloud, secured: false, serves: 0, protected: AhXcbc<WithTables>, crypto: WithTables);

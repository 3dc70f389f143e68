//! A sensor that posts its readings by CoAP, in the clear, and serves the latest.
#![no_std]
#![no_main]

use sixlock_app::Plain;

sixlock_app::image!(cloud: Plain, secured: false, serves: 3);

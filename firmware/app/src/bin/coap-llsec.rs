//! A sensor that posts its readings by CoAP and serves the latest, each frame secured on its link.
#![no_std]
#![no_main]

use sixlock_app::Plain;

sixlock_app::image!(cloud: Plain, secured: true, serves: 3);

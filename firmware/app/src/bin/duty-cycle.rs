//! A device whose radio is off almost all the time.
#![no_std]
#![no_main]

sixlock_app::image!(duty_cycle);

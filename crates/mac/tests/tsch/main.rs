//! Devices in time slots on an air with sixteen channels, each with a clock of its own.

mod air;
mod join;
mod nonces;
mod traffic;

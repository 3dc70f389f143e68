//! Alerts: a clock opens those that time alone opens, and the messages of the outbox are sent. The store judges readings.

mod clock;
mod delivery;
mod message;
mod tell;

pub(crate) use clock::run as run_clock;
pub(crate) use delivery::Delivery;
pub(crate) use tell::{BadAddress, Tellers, check_address};

//! Alerts: what time alone decides, and telling what is in the outbox. What readings decide, the store does.

mod clock;
mod delivery;
mod message;
mod tell;

pub(crate) use clock::run as run_clock;
pub(crate) use delivery::Delivery;
pub(crate) use tell::{BadAddress, Tellers, check_address};

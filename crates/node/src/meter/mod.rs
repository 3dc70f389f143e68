//! What a node measures of itself: how long echoes take to a peer and back, and how long its radio and its processor were in each state; and
//! the report of it, as text for a serial port.

mod echo_client;
mod report;
mod state_meter;

pub use echo_client::{ECHOES, EchoClient, EchoTimes, SIZES};
pub use report::{HEADER, LAST_LINE, Setup, write_report};
pub use state_meter::{StateMeter, StateTimes};

//! RPL's wire formats: control messages and their options ([RFC 6550](https://www.rfc-editor.org/rfc/rfc6550),
//! [RFC 9009](https://www.rfc-editor.org/rfc/rfc9009)), metrics ([RFC 6551](https://www.rfc-editor.org/rfc/rfc6551)), the option in
//! data packets ([RFC 6553](https://www.rfc-editor.org/rfc/rfc6553)) and source routing headers
//! ([RFC 6554](https://www.rfc-editor.org/rfc/rfc6554)).
//!
//! The secure variants of control messages are not among them: a network is protected below RPL, by its links.

mod message;
mod metric;
mod option;
pub mod packet_information;
pub mod source_route;

pub use crate::prefix::Prefix;
pub use crate::prefix_information::PrefixInformation;
pub use message::{
    ALL_RPL_NODES, Builder, ControlMessage, Dao, DaoAck, Dco, DcoAck, Dio, ICMPV6_TYPE, INFINITE_RANK, Kind,
    Message, ModeOfOperation, Standing, Status,
};
pub use metric::{MetricObject, Metrics};
pub use option::{
    Configuration, EncodedConfiguration, EncodedSolicited, INFINITE_LIFETIME, Options, RplOption, Solicited,
    Transit,
};
pub use packet_information::PacketInformation;

//! SenML ([RFC 8428](https://www.rfc-editor.org/rfc/rfc8428)) in JSON and in CBOR: for each a writer for devices,
//! without floating point or allocation, and a bounded reader for servers that borrows the pack.
#![no_std]

pub mod cbor;
mod decimal;
mod device;
pub mod json;
mod number;
mod output;
mod reading;
mod record;
mod text;

pub use decimal::Decimal;
pub use device::DeviceName;
pub use number::{Integer, Number, Numeral};
pub use output::NoRoom;
pub use reading::Reading;
pub use record::{Data, ReadError, Record, Value};
pub use text::Text;

//! SenML in JSON ([RFC 8428](https://www.rfc-editor.org/rfc/rfc8428)): a writer for devices,
//! without floating point or allocation, and a bounded reader for servers that borrows the pack.
#![no_std]

mod decimal;
mod device;
mod json;
mod reader;
mod writer;

pub use decimal::Decimal;
pub use device::DeviceName;
pub use json::{JsonError, Text};
pub use reader::{Number, PackReader, ReadError, Record, Value};
pub use writer::{NoRoom, PackWriter, Reading};

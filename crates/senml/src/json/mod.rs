//! Packs in JSON, `application/senml+json`.

mod reader;
mod scanner;
mod writer;

pub use reader::PackReader;
pub use scanner::JsonError;
pub use writer::PackWriter;

//! How much a resource and a payload may hold.

/// The most readings of one payload.
pub const MOST_READINGS: usize = 256;
/// The most parsers of one resource.
pub const MOST_PARSERS: usize = 64;
/// The longest label of a stream, in bytes.
pub const LONGEST_LABEL: usize = 128;
/// The longest unit, in characters.
pub const LONGEST_UNIT: usize = 32;
/// The deepest that arrays, maps and objects may be nested.
pub const DEEPEST: usize = 16;
/// The most values of a payload, those that are arrays or objects included.
pub const MOST_VALUES: usize = 2048;
/// The longest text that regular expressions are searched in, in bytes.
pub const LONGEST_TEXT: usize = 4096;

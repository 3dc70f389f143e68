//! What a payload means: readings, whichever door it came through.

pub(crate) mod points;
pub(crate) mod senml;

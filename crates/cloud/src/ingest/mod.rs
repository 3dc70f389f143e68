//! What a payload means: readings, whichever door it came through.

pub(crate) mod senml;

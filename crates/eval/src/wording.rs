//! What papers say in words, in per cent: once, for all of them.

/// "Negligible", or "not significant": less than so many per cent more or less.
pub(crate) const NEGLIGIBLE: f64 = 15.0;
/// "Very small", of an overhead: less than so many per cent. The thesis calls negligible what is very small.
pub(crate) const VERY_SMALL: f64 = NEGLIGIBLE;
/// "Similar", "very similar", "very close", "almost constant", or "the same": less than so many per cent more or less.
pub(crate) const SIMILAR: f64 = 25.0;
/// "Essentially the same", or "equal": less than so many per cent more or less.
pub(crate) const EQUAL: f64 = 1.0;
/// "Clearly less": below so many per cent, and so not similar.
pub(crate) const CLEARLY: f64 = 75.0;
/// "Much less", "by far", "little": below so many per cent.
pub(crate) const MUCH: f64 = 50.0;

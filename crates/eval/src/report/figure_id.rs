//! What a figure is known by.

use core::fmt;

/// Where a figure stands: of which experiment it is, and which of its figures, counted from 1.
pub(super) struct FigureId {
    pub(super) experiment: &'static str,
    pub(super) number: usize,
}

impl fmt::Display for FigureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.experiment, self.number)
    }
}

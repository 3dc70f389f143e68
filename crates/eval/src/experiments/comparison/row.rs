//! A length, as a row of a figure.

use crate::figure::{Provenance, Row};

/// So many bytes that were measured.
pub(super) fn bytes_of(label: impl Into<String>, bytes: usize) -> Row {
    Row::new(label, bytes as f64, "B", Provenance::Measured)
}

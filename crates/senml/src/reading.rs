use crate::Decimal;

/// What a device measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading<'a> {
    /// A number (`v`).
    Number(Decimal),
    /// A text (`vs`).
    Text(&'a str),
    /// A truth value (`vb`).
    Boolean(bool),
}

use core::mem::replace;

use crate::New;

/// A place for one `T`, like an `Option`, but an empty one is all zero bytes whatever `T` is.
///
/// Compilers write `Option::None` as a value that `T` cannot have, where there is one. A static that holds such a
/// `None` lies in flash as a whole, and is copied to memory at start; one of zero bytes takes no flash.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum Slot<T> {
    /// There is nothing.
    Empty,
    /// There is this.
    Full(T),
}

impl<T> Slot<T> {
    /// What there is.
    pub const fn get(&self) -> Option<&T> {
        match self {
            Self::Empty => None,
            Self::Full(value) => Some(value),
        }
    }

    /// What there is, to be changed.
    pub const fn get_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::Empty => None,
            Self::Full(value) => Some(value),
        }
    }

    /// Takes what there is, and leaves nothing.
    pub fn take(&mut self) -> Option<T> {
        match replace(self, Self::Empty) {
            Self::Empty => None,
            Self::Full(value) => Some(value),
        }
    }

    /// Whether there is something.
    pub const fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }
}

impl<T> New for Slot<T> {
    const NEW: Self = Self::Empty;
}

impl<T> From<Option<T>> for Slot<T> {
    fn from(option: Option<T>) -> Self {
        option.map_or(Self::Empty, Self::Full)
    }
}

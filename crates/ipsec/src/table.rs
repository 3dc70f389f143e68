//! Tables of a fixed size.

use sixlock_base::Slot;

/// A table whose length its type says.
pub trait Table<T> {
    /// All places are empty.
    const EMPTY: Self;

    /// Its places.
    fn places(&mut self) -> &mut [Slot<T>];
}

impl<T, const N: usize> Table<T> for [Slot<T>; N] {
    const EMPTY: Self = [const { Slot::Empty }; N];

    fn places(&mut self) -> &mut [Slot<T>] {
        self
    }
}

/// The index of the first place that `is` the one looked for. For a single place there is no loop, which compilers that optimise for
/// size would keep.
#[cfg_attr(target_pointer_width = "64", inline(always))]
pub(crate) fn position<T, const N: usize>(
    table: &[Slot<T>; N],
    mut is: impl FnMut(&Slot<T>) -> bool,
) -> Option<usize> {
    for (at, place) in table.iter().enumerate() {
        if is(place) {
            return Some(at);
        }
        if N == 1 {
            break;
        }
    }
    None
}

/// The first free place, and its index.
pub(crate) fn free<T, const N: usize>(table: &mut [Slot<T>; N]) -> Option<(usize, &mut Slot<T>)> {
    let at = position(table, |place| !place.is_full())?;
    table.get_mut(at).map(|place| (at, place))
}

/// The first entry that `is` the one looked for, and its index.
#[cfg_attr(target_pointer_width = "64", inline(always))]
pub(crate) fn find<T, const N: usize>(
    table: &mut [Slot<T>; N],
    mut is: impl FnMut(&T) -> bool,
) -> Option<(usize, &mut T)> {
    let at = position(table, |place| place.get().is_some_and(&mut is))?;
    table.get_mut(at)?.get_mut().map(|entry| (at, entry))
}

//! Tables of a fixed size.

use sixlock_base::Slot;

/// The first place that `is` the one looked for. In a table of a single place that takes no loop, which compilers would not leave out
/// where code is to be small.
pub(crate) fn position<T, const N: usize>(
    table: &[Slot<T>; N],
    mut is: impl FnMut(&Slot<T>) -> bool,
) -> Option<usize> {
    match table.first() {
        Some(only) if N == 1 => is(only).then_some(0),
        _ => table.iter().position(is),
    }
}

/// The first place that is free.
pub(crate) fn free<T, const N: usize>(table: &mut [Slot<T>; N]) -> Option<(usize, &mut Slot<T>)> {
    let at = position(table, |place| !place.is_full())?;
    table.get_mut(at).map(|place| (at, place))
}

/// The first entry that `is` the one looked for.
pub(crate) fn find<T, const N: usize>(table: &[Slot<T>; N], mut is: impl FnMut(&T) -> bool) -> Option<usize> {
    position(table, |place| place.get().is_some_and(&mut is))
}

/// A `T`, or nothing: which of them the compiler knows.
pub trait OptionalPart<T: ?Sized> {
    /// With nothing in it yet.
    const EMPTY: Self;

    /// What is there.
    fn get(&self) -> Option<&T>;

    /// What is there, to be changed.
    fn get_mut(&mut self) -> Option<&mut T>;
}

impl<T: ?Sized> OptionalPart<T> for () {
    const EMPTY: Self = ();

    fn get(&self) -> Option<&T> {
        None
    }

    fn get_mut(&mut self) -> Option<&mut T> {
        None
    }
}

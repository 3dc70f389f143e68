/// What begins as a constant, and in a static of zero bytes as zero bytes where it can.
pub trait New {
    /// One that was told nothing yet.
    const NEW: Self;
}

impl New for () {
    const NEW: Self = ();
}

impl New for u8 {
    const NEW: Self = 0;
}

impl<T> New for Option<T> {
    const NEW: Self = None;
}

impl<T: New, const N: usize> New for [T; N] {
    const NEW: Self = [const { T::NEW }; N];
}

/// An array of `T` whose length is chosen by who names the type: `[T; N]`.
///
/// The length of an array field cannot be an associated constant in stable Rust, but its type can be an associated type.
pub trait Array<T>: AsRef<[T]> + AsMut<[T]> + New {
    /// How many `T` it holds.
    const LEN: usize;

    /// Makes sure that the first `len` of them are there, at most [`Array::LEN`]: in an array they are; what is made of memory that
    /// grows, where there is such, begins with none.
    fn make_room(&mut self, _len: usize) {}
}

impl<T: New, const N: usize> Array<T> for [T; N] {
    const LEN: usize = N;
}

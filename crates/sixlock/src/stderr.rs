//! Lines on standard error, which is nobody's concern once it is closed.

/// Writes a line to standard error, as `eprintln!` does. Where nobody reads it any more, it is left out: `eprintln!` panics.
macro_rules! to_stderr {
    ($($argument:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($argument)*);
    }};
}

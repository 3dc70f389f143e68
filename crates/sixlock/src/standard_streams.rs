//! Lines on standard output and standard error. A stream that nobody reads any more is no fault: `println!` and `eprintln!` panic there.

use std::error::Error;
use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// Writes a line to standard error, as `eprintln!` does. Where nobody reads it any more, it is left out.
macro_rules! to_stderr {
    ($($argument:tt)*) => {
        $crate::standard_streams::write_error(format_args!("{}\n", format_args!($($argument)*)))
    };
}

/// Writes a line to standard output, as `println!` does. Where nobody reads it any more, it is left out.
macro_rules! to_stdout {
    ($($argument:tt)*) => {
        $crate::standard_streams::write_output(format_args!("{}\n", format_args!($($argument)*)))
    };
}

pub(crate) fn write_error(text: Arguments<'_>) {
    let _ = io::stderr().write_fmt(text);
}

/// Writes `text` to standard output, and an error, as of a full disk, to standard error.
pub(crate) fn write_output(text: Arguments<'_>) {
    let mut output = io::stdout().lock();
    let written = output.write_fmt(text).and_then(|()| output.flush());
    if let Err(error) = written.or_else(unless_closed) {
        to_stderr!("sixlock: standard output: {error}");
    }
}

/// Takes it for success that nobody reads the output any more.
pub(crate) fn unless_closed(error: io::Error) -> io::Result<()> {
    if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

/// The same of a command that writes to files and to standard output, and to nothing else that may be closed.
pub(crate) fn unless_unread(done: Result<(), Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
    let Err(error) = done else { return Ok(()) };
    let kind = match (error.downcast_ref::<io::Error>(), error.downcast_ref::<serde_json::Error>()) {
        (Some(error), _) => Some(error.kind()),
        (None, Some(error)) => error.io_error_kind(),
        (None, None) => None,
    };
    if kind == Some(ErrorKind::BrokenPipe) { Ok(()) } else { Err(error) }
}

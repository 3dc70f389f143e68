//! Files of text that a person writes.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// The longest file that is read, in bytes: the links of 65,535 nodes fit.
const LONGEST: u64 = 64 << 20;

/// The text in the file at `path`.
///
/// # Errors
/// Says that it cannot be read, is no text in UTF-8, or longer than 64 MiB.
pub fn read_text(path: &Path) -> Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        return Err(Error::new(ErrorKind::FileTooLarge, "it is longer than 64 MiB"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_not_read_to_it() {
        let error = read_text(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(error.to_string(), "it is longer than 64 MiB");
    }
}

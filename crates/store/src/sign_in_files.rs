//! The files in the data folder that hold what signs the administrator in, where nobody sees the terminal.

use std::io;
use std::path::Path;

use crate::error::Error;

/// The file of the link that signs the administrator in, once.
pub const SIGN_IN_LINK: &str = "sign-in-link";
/// The file of the password of the first start.
pub const ADMIN_PASSWORD: &str = "admin-password";

/// Removes the file `name` from the data folder, if it is there: what stands in it is no longer good.
pub fn remove(directory: &Path, name: &str) -> Result<(), Error> {
    let path = directory.join(name);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::file(&path, error)),
        _ => Ok(()),
    }
}

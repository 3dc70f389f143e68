//! Files of `costs/`, which are compared with what was measured, and replaced by it if that is wished.

use std::fs;
use std::process::Command;

use crate::failure::Failure;
use crate::folder::root;

/// Compares the file `name` of `costs/` with what was `measured`, or replaces it if `accept`. False if the two differ; then the
/// difference is printed.
pub(crate) fn compare(name: &str, measured: &str, accept: bool) -> Result<bool, Failure> {
    let kept = root().join("costs").join(name);
    if accept {
        fs::write(&kept, measured).map_err(|error| format!("{}: {error}", kept.display()))?;
    }
    let new = tempfile::NamedTempFile::new()?;
    fs::write(&new, measured)?;
    let mut diff = Command::new("diff");
    diff.args(["--unified", "--label", &format!("costs/{name}"), "--label", "measured"])
        .arg(&kept)
        .arg(new.path());
    match diff.status()?.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => Err(format!("{} cannot be compared", kept.display()).into()),
    }
}

/// The text of the file `name` of `costs/`.
pub(crate) fn text(name: &str) -> Result<String, Failure> {
    let kept = root().join("costs").join(name);
    fs::read_to_string(&kept).map_err(|error| format!("{}: {error}", kept.display()).into())
}

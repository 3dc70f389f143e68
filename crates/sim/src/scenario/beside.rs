//! Files that a scenario names.

use std::path::{Path, PathBuf};

/// The path of the file that the scenario in `scenario` calls `name`: relative to itself.
pub(super) fn beside(scenario: &str, name: &str) -> PathBuf {
    Path::new(scenario).parent().unwrap_or(Path::new("")).join(name)
}

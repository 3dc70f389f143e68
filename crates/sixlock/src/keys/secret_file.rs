//! TOML files that hold keys.

use std::error::Error;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sixlock_cloud::read_private;

/// What such a file's text says; or in which line it is wrong, which itself is not shown: it may hold a key.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        format!("line {}: {}", 1 + before.matches('\n').count(), error.message())
    })
}

/// Reads such a file, which must not be open to others.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Box<dyn Error>> {
    let text = read_private(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&text).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// The text of such a file.
pub(super) fn to_toml<T: Serialize>(file: &T) -> Result<String, Box<dyn Error>> {
    Ok(toml::to_string(file)?.trim_end().to_owned())
}

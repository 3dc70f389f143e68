//! Where a build leaves images.

use std::path::{Path, PathBuf};

/// The image `name` for `target`.
pub(crate) fn image(target: &str, name: &str) -> PathBuf {
    let built = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    // Tests run in the package's folder, images are built in the workspace's.
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(built);
    let suffix = if target == "avr-none" { ".elf" } else { "" };
    built.join("firmware").join(target).join("release").join(format!("{name}{suffix}"))
}

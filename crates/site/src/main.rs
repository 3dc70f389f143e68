//! Writes the documents as a site into a folder: `cargo site [DIR]`, which is `target/site` unless it says another.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

fn main() -> ExitCode {
    match write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn write() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = env::args_os().nth(1).map_or_else(|| root.join("target/site"), PathBuf::from);
    let site = sixlock_site::make(&root)?;
    if !site.broken.is_empty() {
        return Err(site.broken.join("\n").into());
    }
    for file in &site.files {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().unwrap_or(&folder))?;
        fs::write(&path, &file.content).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    writeln!(io::stdout(), "{} files; begin at {}", site.files.len(), folder.join("index.html").display())?;
    Ok(())
}

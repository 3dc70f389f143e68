//! Tells the program which commit it is built from, and makes pages of the documents, which the cloud serves below `/docs/`: those of this
//! version, wherever the program runs.

use std::error::Error;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    // Changes with each commit and checkout.
    if let Some(log) = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".into());
    println!("cargo::rustc-env=SIXLOCK_COMMIT={commit}");
    write_documents()
}

/// What git says; nothing where it is not there, or the sources are not in a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !said.trim().is_empty()).then(|| said.trim().into())
}

/// Writes each page, and `documents.rs`, the table of them. Where the documents are not beside the package, the table is empty.
fn write_documents() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../..");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let site = sixlock_site::make(&root)?;
    let others = site.sources.iter().filter(|source| !source.starts_with("docs/"));
    let watched = others.map(String::as_str).chain((!site.sources.is_empty()).then_some("docs"));
    for source in watched {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
    }
    let mut table = "&[".to_owned();
    for file in &site.files {
        let path = out.join("docs").join(&file.path);
        fs::create_dir_all(path.parent().ok_or("a file is in a folder")?)?;
        fs::write(&path, &file.content)?;
        let mut hasher = DefaultHasher::new();
        hasher.write(&file.content);
        let tag = format!("{:016x}", hasher.finish());
        write!(
            table,
            "Document {{ path: {:?}, content: include_bytes!({path:?}), tag: {tag:?} }},",
            file.path
        )?;
    }
    fs::write(out.join("documents.rs"), table + "]")?;
    Ok(())
}

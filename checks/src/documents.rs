//! Which documents there are, and what they name.

use std::fs;
use std::path::{Path, PathBuf};

/// The Markdown files of the tree in the folder `root`: all but hidden ones and those that cargo and npm make.
///
/// # Panics
///
/// When the folder cannot be read.
pub fn all(root: &Path) -> Vec<PathBuf> {
    let is_made = |name: &str| ["target", "node_modules"].contains(&name) || name.starts_with('.');
    let mut found = Vec::new();
    let entries = fs::read_dir(root).unwrap_or_else(|error| panic!("{}: {error}", root.display()));
    for entry in entries.map(|entry| entry.expect("a folder's entry")) {
        let path = entry.path();
        if entry.file_name().to_str().is_some_and(is_made) {
            continue;
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(all(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The paths in `text` that do not exist under `root`: code spans that begin with one of its folders.
/// `NAME` stands for whatever the reader makes. Of `FILE::TEST`, the test is to be in the file.
pub fn missing_paths(text: &str, root: &Path) -> Vec<String> {
    let spans = text.split('`').skip(1).step_by(2);
    let is_in_tree = |span: &&str| {
        let folder = span.split_once('/').map(|(folder, _)| folder);
        folder.is_some_and(|folder| !folder.is_empty() && root.join(folder).is_dir())
            && !span.contains("NAME")
            && !span.starts_with("target/")
    };
    let exists = |span: &&str| match span.split_once("::") {
        Some((file, test)) if [".rs", ".ts"].iter().any(|ending| file.ends_with(ending)) => {
            fs::read_to_string(root.join(file)).is_ok_and(|source| has_test(&source, test))
        }
        _ => span.contains(char::is_whitespace) || root.join(span).exists(),
    };
    spans.filter(is_in_tree).filter(|span| !exists(span)).map(str::to_owned).collect()
}

/// Whether a source file has this test: a function behind an attribute, or in TypeScript a call with its name.
fn has_test(source: &str, test: &str) -> bool {
    let mut is_test = false;
    source.lines().map(str::trim_start).any(|line| {
        if line.starts_with("#[") {
            is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
            return false;
        }
        let name =
            line.trim_start_matches("async ").strip_prefix("fn ").and_then(|rest| rest.split('(').next());
        let is_it = is_test && name == Some(test) || line.starts_with(&format!("test(\"{test}\","));
        is_test &= name.is_none();
        is_it
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_are_looked_up() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = "`src/lib.rs`, `src/gone.rs`, `src/NAME`, `a/b`, `/a/b`, `src/x y`";
        assert_eq!(missing_paths(text, root), ["src/gone.rs"]);
    }

    #[test]
    fn a_test_that_is_named_is_one_of_its_file() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = "`src/documents.rs::only_paths_are_looked_up`, `src/documents.rs::missing_paths`, \
                    `src/documents.rs::gone`, `src/gone.rs::gone`";
        let missing = ["src/documents.rs::missing_paths", "src/documents.rs::gone", "src/gone.rs::gone"];
        assert_eq!(missing_paths(text, root), missing);
        let script = "test(\"a name\", () => {";
        assert!(has_test(script, "a name") && !has_test(script, "a nam"));
        assert!(has_test("#[tokio::test(flavor = \"x\")]\n#[ignore]\nasync fn slow() {", "slow"));
        assert!(!has_test("#[test]\nfn one() {}\nfn two() {}", "two"));
    }
}

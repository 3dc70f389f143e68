//! What the documents name.

use std::path::Path;

/// The paths in `text` that do not exist under `root`: code spans that begin with one of its folders.
/// `NAME` stands for whatever the reader makes.
pub fn missing_paths(text: &str, root: &Path) -> Vec<String> {
    let spans = text.split('`').skip(1).step_by(2);
    let paths = spans.filter(|span| {
        let folder = span.split_once('/').map(|(folder, _)| folder);
        folder.is_some_and(|folder| !folder.is_empty() && root.join(folder).is_dir())
            && !span.contains("NAME")
            && !span.starts_with("target/")
            && !span.contains(char::is_whitespace)
    });
    paths.filter(|path| !root.join(path).exists()).map(str::to_owned).collect()
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
}

//! Patches that plant a fault.

/// Whether each hunk of `patch`, whose one file reads `text`, finds the lines that it changes, at a single place.
pub fn applies(patch: &str, text: &str) -> bool {
    let hunks = patch.split("\n@@ ").skip(1);
    let mut hunks = hunks.map(|hunk| {
        let lines = hunk.lines().skip(1).filter(|line| !line.starts_with('+'));
        lines.map(|line| line.get(1..).unwrap_or_default().to_owned() + "\n").collect::<String>()
    });
    patch.contains("\n@@ ") && hunks.all(|old| text.matches(&old).count() == 1)
}

/// The file that `patch` changes, below the root.
pub fn changed_file(patch: &str) -> Option<&str> {
    patch.lines().find_map(|line| line.strip_prefix("+++ b/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "A fault.\n\n--- a/x.rs\n+++ b/x.rs\n@@ -1,3 +1,3 @@ fn f() {\n a\n-b\n+c\n d\n";

    #[test]
    fn lines_that_are_gone_or_stand_twice_are_no_place_for_a_hunk() {
        assert_eq!(changed_file(PATCH), Some("x.rs"));
        assert!(applies(PATCH, "a\nb\nd\n"));
        assert!(!applies(PATCH, "a\nc\nd\n"));
        assert!(!applies(PATCH, "a\nb\nd\na\nb\nd\n"));
        assert!(!applies("no hunk", "a\n"));
    }
}

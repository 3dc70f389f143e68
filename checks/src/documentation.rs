//! Public items have documentation: the compiler looks, where `missing_docs` is on, and nothing may hide an item from it.

/// The lint that finds a public item without documentation.
pub const LINT: &str = "missing_docs";

/// Whether a manifest switches [`LINT`] on in the table of lints `table`, such as `[workspace.lints.rust]`. Clippy makes an error of a warning.
pub fn is_on(manifest: &str, table: &str) -> bool {
    let lines = manifest.lines().map(str::trim).skip_while(|line| *line != table).skip(1);
    let mut settings =
        lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='));
    settings.any(|(name, level)| {
        name.trim() == LINT && ["\"warn\"", "\"deny\"", "\"forbid\""].contains(&level.trim())
    })
}

/// Whether the package with this manifest has [`LINT`] on: from the workspace, or by itself.
pub fn has_lint(manifest: &str) -> bool {
    let mut lines = manifest.lines().map(str::trim).skip_while(|line| *line != "[lints]").skip(1);
    lines.next() == Some("workspace = true") || is_on(manifest, "[lints.rust]")
}

/// What in a source file takes public items out of [`LINT`]'s sight: the number of the line, and why it may not.
pub fn violations(source: &str) -> Vec<(usize, &'static str)> {
    let (mut found, mut is_documented) = (Vec::new(), false);
    for (number, line) in (1..).zip(source.lines().map(str::trim)) {
        if line.starts_with("#[") || line.starts_with("#![") {
            if line.contains(LINT) {
                found.push((number, "no item is excepted from `missing_docs`: write its documentation"));
            }
            if line.contains("doc(hidden)") && !is_documented {
                found.push((number, "a hidden item has documentation before `#[doc(hidden)]`, too"));
            }
        } else {
            is_documented = line.starts_with("///");
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lint_is_on_by_its_table_alone() {
        let on =
            "[workspace.lints.rust]\nunsafe_code = \"forbid\"\nmissing_docs = \"warn\"\n\n[profile.dev]\n";
        assert!(is_on(on, "[workspace.lints.rust]"));
        assert!(!is_on(on, "[lints.rust]"));
        for off in [
            "[workspace.lints.rust]\nmissing_docs = \"allow\"",
            "[workspace.lints.rust]\n[workspace.lints.clippy]\nmissing_docs = \"warn\"",
            "[workspace.lints.rust]\n# missing_docs = \"warn\"",
        ] {
            assert!(!is_on(off, "[workspace.lints.rust]"), "{off}");
        }
    }

    #[test]
    fn a_package_inherits_the_lint_or_switches_it_on() {
        assert!(has_lint("[package]\n\n[lints]\nworkspace = true\n"));
        assert!(has_lint("[lints.rust]\nunsafe_code = \"deny\"\nmissing_docs = \"deny\"\n"));
        assert!(!has_lint("[lints.rust]\nunsafe_code = \"deny\"\n"));
        assert!(!has_lint("[package]\nversion.workspace = true\n\n[dependencies]\nx.workspace = true\n"));
    }

    #[test]
    fn what_hides_an_item_is_told_with_its_line() {
        let lines = |source| violations(source).iter().map(|(line, _)| *line).collect::<Vec<_>>();
        assert_eq!(lines("//! A\n#![allow(missing_docs)]"), [2]);
        assert_eq!(lines("/// A\n#[expect(missing_docs, reason = \"x\")]\npub enum A {}"), [2]);
        assert_eq!(lines("struct A;\n\n#[doc(hidden)]\npub fn b() {}"), [3]);
        assert_eq!(lines("/// A\n#[doc(hidden)]\n#[derive(Clone)]\npub struct A;"), [0; 0]);
        assert_eq!(lines("// Not missing_docs.\nlet a = \"#[doc(hidden)]\";"), [0; 0]);
    }
}

//! The examples of the crates of protocols.

/// The crates of protocols: each has an example that speaks with others, and names one on its front page.
pub const SHOWN: &[&str] = &["dtls", "coap", "endpoint", "ipsec", "sixlowpan", "ieee802154", "rpl", "senml"];

/// Returns what is missing in a crate: one sentence for each rule that it breaks. `files` are the names in its folder `examples/`, and `lib`
/// is the text of its `src/lib.rs`.
pub fn violations(name: &str, files: &[String], lib: &str) -> Vec<String> {
    let examples: Vec<&str> = files.iter().filter_map(|file| file.strip_suffix(".rs")).collect();
    if examples.is_empty() {
        return vec![format!("sixlock-{name}: examples/ holds no example")];
    }
    let names = |example: &&str| {
        let front = lib.lines().filter_map(|line| line.strip_prefix("//!"));
        front.into_iter().any(|line| line.contains(&format!("examples/{example}.rs")))
    };
    if examples.iter().any(names) {
        return Vec::new();
    }
    let paths: Vec<String> = examples.iter().map(|example| format!("examples/{example}.rs")).collect();
    vec![format!("sixlock-{name}: the front page in src/lib.rs names none of {}", paths.join(", "))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_without_an_example_is_told() {
        assert_eq!(
            violations("dtls", &[], "//! examples/a.rs"),
            ["sixlock-dtls: examples/ holds no example"]
        );
        assert_eq!(violations("dtls", &["data.bin".into()], "//! examples/data.bin").len(), 1);
    }

    #[test]
    fn a_front_page_names_an_example_that_is_there() {
        let files = ["a.rs".to_owned(), "b.rs".to_owned()];
        assert!(violations("dtls", &files, "//! As examples/b.rs does.").is_empty());
        let expected =
            "sixlock-dtls: the front page in src/lib.rs names none of examples/a.rs, examples/b.rs";
        for lib in ["//! As examples/c.rs does.", "// examples/a.rs", "/// examples/a.rs"] {
            assert_eq!(violations("dtls", &files, lib), [expected]);
        }
    }
}

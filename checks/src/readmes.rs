//! The README of a crate that is published: the front page of its documentation, as a registry shows it.

/// The README of the crate called `name`, whose `src/lib.rs` is `lib`. Links to items are left out, as a registry resolves none; so are
/// the lines of code that documentation hides.
pub fn readme(name: &str, lib: &str) -> String {
    let mut readme = format!("# {name}\n\n");
    let mut text = String::new();
    let mut is_code = false;
    for line in lib.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        if let Some(language) = line.strip_prefix("```") {
            readme.push_str(&without_items(&std::mem::take(&mut text)));
            is_code = !is_code;
            readme.push_str(if is_code && language.is_empty() { "```rust" } else { line });
            readme.push('\n');
        } else if is_code {
            if line != "#" && !line.starts_with("# ") {
                readme.push_str(line);
                readme.push('\n');
            }
        } else {
            // The name of the crate is the title, and each section is one below it, with an empty line after its heading.
            if line.starts_with('#') {
                text.push_str(&format!("#{line}\n"));
            } else {
                text.push_str(line);
            }
            text.push('\n');
        }
    }
    readme.push_str(&without_items(&text));
    readme.push_str(
        "\n## Sixlock\n\n\
         This crate is a part of Sixlock, which secures 6LoWPAN networks from the microcontroller to the cloud. It is `no_std`, and all crates of \
         Sixlock have one version.\n\n\
         Licensed under [MIT](LICENSE-MIT) or [Apache-2.0](LICENSE-APACHE), at your choice.\n",
    );
    readme
}

/// The text without its links to items: their names are left.
fn without_items(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some(start) = rest.find(['[', '`']) {
        plain.push_str(&rest[..start]);
        rest = &rest[start..];
        let Some(after) = rest.strip_prefix('[') else {
            let end = rest[1..].find('`').map_or(rest.len(), |end| end + 2);
            plain.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        };
        let Some((label, after)) = after.split_once(']') else { break };
        let target = after.strip_prefix('(').and_then(|after| after.split_once(')'));
        rest = match target {
            Some((target, after)) if target.contains("://") => {
                plain.push_str(&format!("[{label}]({target})"));
                after
            }
            Some((_, after)) => {
                plain.push_str(label);
                after
            }
            None if label.starts_with('`') => {
                plain.push_str(label);
                after
            }
            None => {
                plain.push_str(&format!("[{label}]"));
                after
            }
        };
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readme_is_the_front_page_with_the_name_as_its_title() {
        let lib = "//! What it is.\n//!\n//! # Use\n//! Call it.\n//!\n//! ```\n//! # hidden();\n//! shown();\n//! ```\n\n\
                   #![no_std]\n//! not on the page\n";
        let readme = readme("sixlock-x", lib);
        let page =
            "# sixlock-x\n\nWhat it is.\n\n## Use\n\nCall it.\n\n```rust\nshown();\n```\n\n## Sixlock\n";
        assert!(readme.starts_with(page), "{readme}");
        assert!(!readme.contains("not on the page"));
    }

    #[test]
    fn links_to_items_are_left_out_and_others_stay() {
        for (text, expected) in [
            ("A [`Session`] is [`fed`](Session::handle).", "A `Session` is `fed`."),
            ("[Discovery](neighbour) of `[u8]`, `[`", "Discovery of `[u8]`, `[`"),
            ("[RFC 1](https://x/y) has [none] (yet)", "[RFC 1](https://x/y) has [none] (yet)"),
            ("open [", "open ["),
        ] {
            assert_eq!(without_items(text), expected);
        }
    }
}

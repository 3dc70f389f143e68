//! The documents as the pages of a site: all Markdown of a tree, found by itself, with a search. The program serves it at `/docs/`, and
//! `cargo site DIR` writes it into a folder that any web server can serve.
//!
//! No page has a script or a style of its own, so that the content security policy of the dashboard holds for it, too.

mod documents;
mod headings;
mod page;
mod search;
mod sections;
mod targets;

use std::io;
use std::path::Path;

/// A file of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where it is below the site's root, with `/` between folders.
    pub path: String,
    /// What is in it.
    pub content: Vec<u8>,
}

/// The site of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Its files, in the order of their paths.
    pub files: Vec<File>,
    /// The links that lead nowhere, a sentence each.
    pub broken: Vec<String>,
    /// The files that it was made of, below the tree's root.
    pub sources: Vec<String>,
}

/// Makes the site of the tree in the folder `root`. A tree without README.md has none: no file.
///
/// # Errors
///
/// Returns the error of a file or folder that cannot be read.
pub fn make(root: &Path) -> io::Result<Site> {
    if !root.join("README.md").is_file() {
        return Ok(Site::default());
    }
    let documents = documents::read_all(root)?;
    let mut site = Site {
        sources: documents.iter().map(|document| document.source.clone()).collect(),
        ..Site::default()
    };
    let mut images = Vec::new();
    let mut index = search::Index::default();
    for document in &documents {
        let rendered = page::render(document, &documents, root);
        index.add(document, &rendered.texts);
        site.broken.extend(rendered.broken);
        images.extend(rendered.images);
        site.add(&document.page, page::whole(document, &documents, &rendered.html).into_bytes());
    }
    site.add(page::CONTENTS, page::contents(&documents).into_bytes());
    site.add("favicon.svg", include_bytes!("../assets/favicon.svg").to_vec());
    site.add("search-index.js", index.script().into_bytes());
    site.add("search.js", include_bytes!("../assets/search.js").to_vec());
    site.add("style.css", include_bytes!("../assets/style.css").to_vec());
    images.sort();
    images.dedup();
    for image in images {
        site.add(&documents::served(&image), std::fs::read(root.join(&image))?);
        site.sources.push(image);
    }
    site.files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(site)
}

impl Site {
    fn add(&mut self, path: &str, content: Vec<u8>) {
        self.files.push(File { path: path.to_owned(), content });
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The site of a tree with these files.
    fn site_of(files: &[(&str, &str)]) -> Site {
        let tree = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = tree.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        make(tree.path()).unwrap()
    }

    fn text<'a>(site: &'a Site, path: &str) -> &'a str {
        let file = site.files.iter().find(|file| file.path == path);
        let file = file.unwrap_or_else(|| panic!("{path} is not among {:?}", paths(site)));
        std::str::from_utf8(&file.content).unwrap()
    }

    fn paths(site: &Site) -> Vec<&str> {
        site.files.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn each_document_is_a_page_and_stands_in_the_contents() {
        let site = site_of(&[
            ("README.md", "# Home\n"),
            ("docs/limits.md", "# Limits\n"),
            ("docs/guide/start.md", "# How to start\n"),
            ("firmware/README.md", "# Firmware\n"),
            ("web/node_modules/a/README.md", "# Not ours\n"),
            ("target/a.md", "# Made\n"),
        ]);
        let pages: Vec<_> = paths(&site).into_iter().filter(|path| path.ends_with(".html")).collect();
        let expected =
            ["contents.html", "firmware/README.html", "guide/start.html", "index.html", "limits.html"];
        assert_eq!(pages, expected);
        let contents = text(&site, "contents.html");
        for page in expected.iter().filter(|page| **page != "contents.html") {
            assert!(contents.contains(&format!("href=\"{page}\"")), "{page}: {contents}");
        }
        assert_eq!(site.broken, [""; 0]);
    }

    #[test]
    fn links_lead_to_pages_and_those_that_lead_nowhere_are_told() {
        let site = site_of(&[
            ("README.md", "# Home\n[a](docs/guide/a.md) [b](docs/gone.md) [c](docs/guide/a.md#more-of-it)"),
            (
                "docs/guide/a.md",
                "# A\n[home](../../README.md) [x](../../README.md#gone) [y](#more-of-it) [z](#less)\n## More of it\n",
            ),
        ]);
        let home = text(&site, "index.html");
        assert!(home.contains("href=\"guide/a.html\"") && home.contains("href=\"guide/a.html#more-of-it\""));
        assert!(text(&site, "guide/a.html").contains("<a href=\"../index.html\">home</a>"));
        let expected = [
            "docs/guide/a.md links to README.md#gone, and no heading there is called so",
            "docs/guide/a.md links to docs/guide/a.md#less, and no heading there is called so",
            "README.md links to docs/gone.md, which is not there",
        ];
        assert_eq!(site.broken, expected);
    }

    #[test]
    fn a_file_that_is_no_document_is_named_and_an_image_is_served() {
        let site = site_of(&[
            (
                "README.md",
                "# Home\nThe [rules](src/lib.rs) and `src/lib.rs`.\n![A chart](docs/a.png)\n![Gone](b.png)\n",
            ),
            ("src/lib.rs", ""),
            ("docs/a.png", "image"),
        ]);
        let home = text(&site, "index.html");
        assert!(home.contains("The rules (<code>src/lib.rs</code>) and"), "{home}");
        assert!(home.contains("<img src=\"a.png\" alt=\"A chart\""), "{home}");
        assert_eq!(text(&site, "a.png"), "image");
        assert_eq!(site.broken, ["README.md links to b.png, which is not there"]);
    }

    #[test]
    fn no_page_has_a_script_or_a_style_of_its_own() {
        let site =
            site_of(&[("README.md", "# Home\n| a | b |\n|--:|:--|\n| 1 | 2 |\n\n```console\n$ a <b\n```\n")]);
        let home = text(&site, "index.html");
        assert!(!home.contains("style=") && !home.contains("<script>") && !home.contains("<style"), "{home}");
        assert!(home.contains("$ a &lt;b"));
    }

    #[test]
    fn the_search_knows_each_heading_with_its_text() {
        let site =
            site_of(&[("README.md", "# Home\nSome *words*.\n## The `part` \"two\"\nOthers `</script>`.\n")]);
        let script = text(&site, "search-index.js");
        let json =
            script.strip_prefix("window.searchIndex = ").and_then(|rest| rest.strip_suffix(";\n")).unwrap();
        let index: serde_json::Value = serde_json::from_str(json).unwrap();
        let expected = serde_json::json!([
            ["index.html", "Home", "", "Some words."],
            ["index.html#the-part-two", "Home", "The part \"two\"", "Others </script>."],
        ]);
        assert_eq!(index, expected);
    }

    #[test]
    fn a_tree_without_documents_has_no_site() {
        assert_eq!(site_of(&[("src/lib.rs", "")]), Site::default());
    }
}

//! The documents of a tree.

use std::path::Path;
use std::{fs, io};

use crate::headings::Slugs;
use crate::sections::{SECTIONS, section_of};

/// A document: a Markdown file.
pub(crate) struct Document {
    /// Its file, below the tree's root.
    pub(crate) source: String,
    /// Its page, below the site's root.
    pub(crate) page: String,
    /// Its first heading.
    pub(crate) title: String,
    /// Which of [`SECTIONS`] it stands in.
    pub(crate) section: usize,
    /// What links to its headings end with.
    pub(crate) anchors: Vec<String>,
    pub(crate) text: String,
}

/// Reads all documents of a tree, by section and in the order of the sections: decisions and notes by their files, others by their titles.
pub(crate) fn read_all(root: &Path) -> io::Result<Vec<Document>> {
    let mut sources = Vec::new();
    find(root, "", &mut sources)?;
    let mut documents =
        sources.into_iter().map(|source| read(root, source)).collect::<io::Result<Vec<_>>>()?;
    documents.sort_by_cached_key(|document| {
        let name = if SECTIONS[document.section].by_file { &document.source } else { &document.title };
        (document.section, name.to_lowercase())
    });
    Ok(documents)
}

/// Finds the Markdown files below `folder`, but hidden ones and those that cargo and npm make.
fn find(root: &Path, folder: &str, found: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let is_made = ["target", "node_modules", "dist"].contains(&name.as_str()) || name.starts_with('.');
        if is_made {
            continue;
        } else if entry.file_type()?.is_dir() {
            find(root, &path, found)?;
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
    Ok(())
}

fn read(root: &Path, source: String) -> io::Result<Document> {
    let text = fs::read_to_string(root.join(&source))?;
    let headings = Slugs::of(&text);
    let title = headings.first().map_or_else(|| source.clone(), |(title, _)| title.clone());
    let anchors = headings.into_iter().map(|(_, anchor)| anchor).collect();
    let page = match source.as_str() {
        "README.md" => "index.html".to_owned(),
        source => served(&format!("{}.html", source.trim_end_matches(".md"))),
    };
    Ok(Document { section: section_of(&source), source, page, title, anchors, text })
}

/// Where a file of the tree is in the site: what is in `docs/` is at the site's root.
pub(crate) fn served(path: &str) -> String {
    path.strip_prefix("docs/").unwrap_or(path).to_owned()
}

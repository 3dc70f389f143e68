//! Where the links of a document lead.

use std::path::Path;

use crate::documents::Document;

/// Where a link leads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// To another site, or a place that the reader's machine has.
    Elsewhere,
    /// To a page of this site: its path, with the `#` and the anchor if there is one.
    Page(String),
    /// To a file or folder of the tree that is no document.
    File(String),
    /// Nowhere, for this reason.
    Nowhere(String),
}

/// Where `link`, in the document `from`, leads.
pub(crate) fn target(link: &str, from: &Document, documents: &[Document], root: &Path) -> Target {
    let has_scheme =
        link.split_once(':').is_some_and(|(scheme, _)| scheme.chars().all(|c| c.is_ascii_alphabetic()));
    if has_scheme {
        return Target::Elsewhere;
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let Some(path) = (if path.is_empty() { Some(from.source.clone()) } else { resolved(path, &from.source) })
    else {
        return Target::Nowhere(format!("{} links to {link}, which is outside of the tree", from.source));
    };
    if let Some(document) = documents.iter().find(|document| document.source == path) {
        return match anchor {
            None => Target::Page(document.page.clone()),
            Some(anchor) if document.anchors.iter().any(|other| other == anchor) => {
                Target::Page(format!("{}#{anchor}", document.page))
            }
            Some(anchor) => Target::Nowhere(format!(
                "{} links to {path}#{anchor}, and no heading there is called so",
                from.source
            )),
        };
    }
    match root.join(&path).exists() {
        true => Target::File(path),
        false => Target::Nowhere(format!("{} links to {path}, which is not there", from.source)),
    }
}

/// The path below the tree's root that a link of the file `from` names; `None` if it leaves the tree.
fn resolved(link: &str, from: &str) -> Option<String> {
    let mut folders: Vec<&str> = from.split('/').collect();
    folders.pop();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                folders.pop()?;
            }
            part => folders.push(part),
        }
    }
    Some(folders.join("/"))
}

#[test]
fn links_are_resolved_from_their_document() {
    assert_eq!(resolved("../limits.md", "docs/guide/a.md").as_deref(), Some("docs/limits.md"));
    assert_eq!(resolved("./b.md", "docs/guide/a.md").as_deref(), Some("docs/guide/b.md"));
    assert_eq!(resolved("crates/dtls/examples/", "README.md").as_deref(), Some("crates/dtls/examples"));
    assert_eq!(resolved("../a.md", "README.md"), None);
}

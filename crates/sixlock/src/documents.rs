//! The documents, as `build.rs` has made pages of them.

use sixlock_cloud::{Document, Documents};

/// What the cloud serves below `/docs/`.
pub(crate) const DOCUMENTS: Documents = Documents(include!(concat!(env!("OUT_DIR"), "/documents.rs")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_are_in_the_program_and_are_small() {
        let pages: Vec<_> = DOCUMENTS.0.iter().map(|document| document.path).collect();
        assert!(pages.is_sorted(), "the cloud finds them by their order");
        for page in ["index.html", "contents.html", "guide/run-a-cloud.html", "search.js", "search-index.js"]
        {
            assert!(pages.contains(&page), "{page} is not among {pages:?}");
        }
        let bytes: usize = DOCUMENTS.0.iter().map(|document| document.content.len()).sum();
        assert!(bytes < 4 << 20, "{bytes} bytes of documents are in each program");
    }
}

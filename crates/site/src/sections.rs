//! The sections of the site, in their order.

/// A section: documents that stand together in the list of pages.
pub(crate) struct Section {
    /// Its heading.
    pub(crate) title: &'static str,
    /// The folder whose documents are in it; those of its folders are only if no other section has them.
    folder: &'static str,
    /// Whether its pages are in the order of their files, as of decisions, which have numbers. Others are in that of their titles.
    pub(crate) by_file: bool,
}

/// All sections. The last but those of a folder takes what has no other.
pub(crate) const SECTIONS: &[Section] = &[
    Section { title: "Guides", folder: "docs/guide/", by_file: false },
    Section { title: "Reference", folder: "docs/", by_file: false },
    Section { title: "Measurements", folder: "docs/measurements/", by_file: false },
    Section { title: "The project", folder: "", by_file: true },
    Section { title: "Decisions", folder: "docs/decisions/", by_file: true },
    Section { title: "Notes", folder: "docs/notes/", by_file: true },
];

/// The section of a document: that with the longest folder that it is in.
pub(crate) fn section_of(source: &str) -> usize {
    let fits = SECTIONS.iter().enumerate().filter(|(_, section)| source.starts_with(section.folder));
    fits.max_by_key(|(_, section)| section.folder.len()).map_or(0, |(place, _)| place)
}

#[test]
fn a_document_stands_with_those_of_its_folder() {
    let title = |source| SECTIONS[section_of(source)].title;
    assert_eq!(title("docs/limits.md"), "Reference");
    assert_eq!(title("docs/guide/choose.md"), "Guides");
    assert_eq!(title("docs/decisions/0001-a.md"), "Decisions");
    assert_eq!(title("docs/other/a.md"), "Reference");
    assert_eq!(title("firmware/README.md"), "The project");
    assert_eq!(title("README.md"), "The project");
}

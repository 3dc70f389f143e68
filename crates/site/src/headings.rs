//! The headings of a document, and what a link to one ends with: as on the pages of a repository, its words in small letters, with hyphens
//! between them.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// How the documents are written: tables and nothing else is added to CommonMark.
pub(crate) const OPTIONS: Options = Options::ENABLE_TABLES;

/// Gives each heading of a document an anchor that no other has.
#[derive(Default)]
pub(crate) struct Slugs {
    taken: BTreeMap<String, usize>,
}

impl Slugs {
    /// The headings of a document, each with its anchor.
    pub(crate) fn of(text: &str) -> Vec<(String, String)> {
        let mut slugs = Self::default();
        let mut found = Vec::new();
        let mut heading: Option<String> = None;
        for event in Parser::new_ext(text, OPTIONS) {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let title = heading.take().unwrap_or_default();
                    let slug = slugs.next(&title);
                    found.push((title, slug));
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&text);
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// The anchor of the next heading of the document. A second one of the same words gets a number.
    pub(crate) fn next(&mut self, title: &str) -> String {
        let small = title.to_lowercase();
        let kept = small.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        let slug: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let before = self.taken.entry(slug.clone()).or_default();
        *before += 1;
        match *before - 1 {
            0 => slug,
            before => format!("{slug}-{before}"),
        }
    }
}

#[test]
fn anchors_are_those_of_a_repositorys_pages() {
    let text = "# What it is, and why\n## `[plan]`: what is demanded\n## A_b c-d\n## A_b c-d\n";
    let anchors: Vec<_> = Slugs::of(text).into_iter().map(|(_, anchor)| anchor).collect();
    assert_eq!(anchors, ["what-it-is-and-why", "plan-what-is-demanded", "a_b-c-d", "a_b-c-d-1"]);
}

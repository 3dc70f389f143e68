//! A page: a document as HTML, with the list of the pages beside it.

use std::fmt::Write;
use std::path::Path;

use pulldown_cmark::{CowStr, Event, HeadingLevel, Parser, Tag, TagEnd, html};

use crate::documents::{Document, served};
use crate::headings::{OPTIONS, Slugs};
use crate::search::Text;
use crate::sections::SECTIONS;
use crate::targets::{Target, target};

/// The page that lists all others.
pub(crate) const CONTENTS: &str = "contents.html";

/// A document as HTML, and what was found in it.
pub(crate) struct Rendered {
    pub(crate) html: String,
    /// The text under each heading.
    pub(crate) texts: Vec<Text>,
    /// Images that it shows, below the tree's root.
    pub(crate) images: Vec<String>,
    /// Links that lead nowhere, a sentence each.
    pub(crate) broken: Vec<String>,
}

/// Renders a document. A link to a file that is no document becomes the file's name, as the site does not have it.
pub(crate) fn render(document: &Document, documents: &[Document], root: &Path) -> Rendered {
    let (mut images, mut broken) = (Vec::new(), Vec::new());
    let up = up(&document.page);
    let mut headings = Slugs::of(&document.text).into_iter();
    let mut texts = vec![Text::default()];
    let mut in_heading = false;
    // The file that the link around this event names, if it leads to one.
    let mut named: Option<String> = None;
    let mut events = Vec::new();
    for event in Parser::new_ext(&document.text, OPTIONS) {
        match event {
            Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
                let (title, anchor) = headings.next().unwrap_or_default();
                in_heading = true;
                if level != HeadingLevel::H1 {
                    texts.push(Text { heading: title, anchor: anchor.clone(), words: String::new() });
                }
                let id = Some(CowStr::from(anchor));
                events.push(Event::Start(Tag::Heading { level, id, classes, attrs }));
                continue;
            }
            Event::End(TagEnd::Heading(_)) => in_heading = false,
            // The alignment of a column would be a style in the page, which its policy forbids.
            Event::Start(Tag::Table(_)) => {
                events.push(Event::Start(Tag::Table(Vec::new())));
                continue;
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                match target(&dest_url, document, documents, root) {
                    Target::Elsewhere => {
                        events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                    }
                    Target::Page(page) => {
                        let dest_url = format!("{up}{page}").into();
                        events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                    }
                    Target::File(path) => named = Some(path),
                    Target::Nowhere(why) => {
                        broken.push(why);
                        named = Some(String::new());
                    }
                }
                continue;
            }
            Event::End(TagEnd::Link) => {
                match named.take() {
                    None => events.push(Event::End(TagEnd::Link)),
                    Some(path) if path.is_empty() => {}
                    Some(path) => {
                        events.push(Event::Text(" (".into()));
                        events.push(Event::Code(path.into()));
                        events.push(Event::Text(")".into()));
                    }
                }
                continue;
            }
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                let dest_url = match target(&dest_url, document, documents, root) {
                    Target::File(path) => {
                        let source = format!("{up}{}", served(&path));
                        images.push(path);
                        source.into()
                    }
                    Target::Nowhere(why) => {
                        broken.push(why);
                        dest_url
                    }
                    Target::Elsewhere | Target::Page(_) => {
                        broken.push(format!(
                            "{} shows {dest_url}, which is no image of the tree",
                            document.source
                        ));
                        dest_url
                    }
                };
                events.push(Event::Start(Tag::Image { link_type, dest_url, title, id }));
                continue;
            }
            _ => {}
        }
        if let Some(last) = texts.last_mut().filter(|_| !in_heading) {
            match &event {
                Event::Text(text) | Event::Code(text) => last.words.push_str(text),
                Event::SoftBreak | Event::HardBreak => last.words.push(' '),
                Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell | TagEnd::CodeBlock) => {
                    last.words.push(' ')
                }
                _ => {}
            }
        }
        events.push(event);
    }
    debug_assert!(headings.next().is_none(), "each heading has its anchor");
    let mut rendered = String::new();
    html::push_html(&mut rendered, events.into_iter());
    // What is wider than the page scrolls by itself, also by the keyboard.
    let html = rendered
        .replace("<pre>", "<pre tabindex=\"0\">")
        .replace("<table>", "<div class=\"wide\" tabindex=\"0\"><table>")
        .replace("</table>", "</table></div>");
    Rendered { html, texts, images, broken }
}

/// The way from a page to the site's root.
fn up(page: &str) -> String {
    "../".repeat(page.matches('/').count())
}

/// The whole page of a document.
pub(crate) fn whole(document: &Document, documents: &[Document], content: &str) -> String {
    let up = up(&document.page);
    let mut list = String::new();
    for (section, title) in SECTIONS.iter().enumerate().map(|(place, section)| (place, section.title)) {
        if section != document.section {
            _ = write!(list, "<li><a href=\"{up}{CONTENTS}#{}\">{title}</a>", anchor(title));
            continue;
        }
        _ = write!(list, "<li><span>{title}</span><ul>");
        for other in documents.iter().filter(|other| other.section == section) {
            let here = if other.page == document.page { " aria-current=\"page\"" } else { "" };
            _ = write!(list, "<li><a href=\"{up}{}\"{here}>{}</a>", other.page, escaped(&other.title));
        }
        list.push_str("</ul>");
    }
    frame(&document.title, &up, &list, content)
}

/// The page that lists all others, by section.
pub(crate) fn contents(documents: &[Document]) -> String {
    let (mut list, mut content) = (String::new(), "<h1>Contents</h1>".to_owned());
    for (place, section) in SECTIONS.iter().enumerate() {
        let title = section.title;
        _ = write!(list, "<li><a href=\"#{}\">{title}</a>", anchor(title));
        _ = write!(content, "<h2 id=\"{}\">{title}</h2><ul>", anchor(title));
        for document in documents.iter().filter(|document| document.section == place) {
            _ = write!(content, "<li><a href=\"{}\">{}</a>", document.page, escaped(&document.title));
        }
        content.push_str("</ul>");
    }
    frame("Contents", "", &list, &content)
}

fn anchor(title: &str) -> String {
    Slugs::default().next(title)
}

/// What all pages have around their content.
fn frame(title: &str, up: &str, list: &str, content: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{title} · Sixlock</title>\
         <link rel=\"icon\" type=\"image/svg+xml\" href=\"{up}favicon.svg\">\
         <link rel=\"stylesheet\" href=\"{up}style.css\"><script src=\"{up}search.js\" defer></script></head>\n\
         <body><a class=\"skip\" href=\"#content\">To the text</a>\
         <header><a href=\"{up}index.html\">Sixlock</a><a href=\"{up}{CONTENTS}\">Contents</a>\
         <form role=\"search\" data-root=\"{up}\" hidden><label for=\"search\">Search</label>\
         <input type=\"search\" id=\"search\" autocomplete=\"off\" spellcheck=\"false\"></form></header>\n\
         <section id=\"found\" aria-label=\"What was found\" hidden></section>\n\
         <nav aria-label=\"Pages\"><ul>{list}</ul></nav>\n<main id=\"content\" tabindex=\"-1\">\n{content}</main></body></html>\n"
    )
}

/// A text as it stands in HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

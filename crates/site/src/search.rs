//! What the search of the site looks through: the text under each heading.

use serde_json::{Value, json};

use crate::documents::Document;

/// The text under one heading of a document.
#[derive(Default)]
pub(crate) struct Text {
    /// The heading; empty for the document's title.
    pub(crate) heading: String,
    /// What a link to it ends with; empty for the document's title.
    pub(crate) anchor: String,
    pub(crate) words: String,
}

/// All texts, as the search reads them.
#[derive(Default)]
pub(crate) struct Index {
    entries: Vec<Value>,
}

impl Index {
    /// Adds the texts of a document.
    pub(crate) fn add(&mut self, document: &Document, texts: &[Text]) {
        for Text { heading, anchor, words } in texts {
            let mark = if anchor.is_empty() { "" } else { "#" };
            let words: Vec<_> = words.split_whitespace().collect();
            let page = format!("{}{mark}{anchor}", document.page);
            self.entries.push(json!([page, document.title, heading, words.join(" ")]));
        }
    }

    /// A script that a page loads, also where it is read from a file and may fetch nothing.
    pub(crate) fn script(self) -> String {
        format!("window.searchIndex = {};\n", Value::Array(self.entries))
    }
}

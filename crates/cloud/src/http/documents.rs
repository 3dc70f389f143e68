//! The documents: pages that whoever starts the cloud hands in, which it serves below `/docs/` to all who ask.

use std::fmt;

use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};

use super::static_files::{StaticFile, page};

/// Where they are served.
const ROOT: &str = "/docs/";

const NOT_BUILT: &str = "<!doctype html><meta charset=utf-8><title>Sixlock</title><h1>Documents</h1>\
     <p>This program has no documents in it. One that is built in the repository, where they are, has.";
const NOT_FOUND: &str = "<!doctype html><meta charset=utf-8><title>Not found</title>\
     <p>There is no such document. <a href=\"/docs/\">To the documents</a>";

/// A page, or a file that pages use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Document {
    /// Where it is below `/docs/`, with `/` between folders.
    pub path: &'static str,
    /// What is in it.
    pub content: &'static [u8],
    /// Differs from that of any other content: a browser that has this content is not sent it again.
    pub tag: &'static str,
}

/// The documents, in the order of their paths. Where there are none, a page says so.
#[derive(Clone, Copy, Default)]
pub struct Documents(pub &'static [Document]);

impl Documents {
    /// The answer to a request for this path; `None` if it is not one of documents.
    pub(super) fn answer(self, path: &str, asked: &HeaderMap) -> Option<Response> {
        if path == ROOT.trim_end_matches('/') {
            return Some(Redirect::permanent(ROOT).into_response());
        }
        let path = match path.strip_prefix(ROOT)? {
            "" => "index.html",
            path => path,
        };
        Some(match self.0.binary_search_by_key(&path, |document| document.path) {
            Ok(place) => self.0[place].as_file().answer(asked),
            Err(_) if self.0.is_empty() => page(StatusCode::SERVICE_UNAVAILABLE, NOT_BUILT),
            Err(_) => page(StatusCode::NOT_FOUND, NOT_FOUND),
        })
    }
}

impl Document {
    fn as_file(self) -> StaticFile {
        let kind = match self.path.rsplit('.').next() {
            Some("html") => "text/html",
            Some("css") => "text/css",
            Some("js") => "text/javascript",
            Some("png") => "image/png",
            Some("svg") => "image/svg+xml",
            _ => "application/octet-stream",
        };
        StaticFile {
            content: self.content.into(),
            kind: kind.to_owned(),
            tag: self.tag.to_owned(),
            cache: "no-cache",
        }
    }
}

impl fmt::Debug for Documents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Documents({})", self.0.len())
    }
}

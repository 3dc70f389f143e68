//! Answers with files that are part of the program.

use std::borrow::Cow;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Scripts, styles, fonts and requests from this server only; charts set styles by script, which this allows.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
     connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// A file that is part of the program.
pub(super) struct StaticFile {
    pub(super) content: Cow<'static, [u8]>,
    /// Its media type.
    pub(super) kind: String,
    /// Differs from that of any other content.
    pub(super) tag: String,
    /// For how long browsers may keep it, as `Cache-Control` says it.
    pub(super) cache: &'static str,
}

impl StaticFile {
    /// The answer to a request with these headers: without the content if the browser has it.
    pub(super) fn answer(self, asked: &HeaderMap) -> Response {
        let Self { content, kind, tag, cache } = self;
        let tag = format!("\"{tag}\"");
        let known = asked.get_all(header::IF_NONE_MATCH).iter().any(|tags| {
            tags.to_str()
                .is_ok_and(|tags| tags.split(',').any(|known| known.trim().trim_start_matches("W/") == tag))
        });
        let kind = if kind.starts_with("text/") { format!("{kind}; charset=utf-8") } else { kind };
        let mut response =
            if known { StatusCode::NOT_MODIFIED.into_response() } else { content.into_response() };
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        for (name, value) in [(header::ETAG, tag), (header::CONTENT_TYPE, kind)] {
            if let Ok(value) = value.try_into() {
                headers.insert(name, value);
            }
        }
        response
    }
}

/// A page that says a thing in a sentence.
pub(super) fn page(status: StatusCode, html: &'static str) -> Response {
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response()
}

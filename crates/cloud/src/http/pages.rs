//! Pages without a script, for what a browser does outside the dashboard.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::failure::Failure;

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// A page about `subject` with this content, which is HTML.
pub(super) fn page(status: StatusCode, subject: &str, content: &str) -> Response {
    const POLICY: &str = "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    let lower = lower(subject);
    let html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>Sixlock: {lower}</title><main><h1>{subject}</h1>{content}</main>"
    );
    let headers = [
        (header::CONTENT_TYPE, HTML),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        // Without a referrer, a browser does not say either where the form comes from.
        (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    ];
    (status, headers, html).into_response()
}

/// A page in the place of the answer of `refused`, whose line the record has by what stands beside the answer.
pub(super) fn instead(refused: Failure, subject: &str, content: &str) -> Response {
    let mut response = refused.into_response();
    let page = page(response.status(), subject, content);
    let (parts, body) = page.into_parts();
    *response.body_mut() = body;
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.headers_mut().extend(parts.headers);
    response
}

/// `text` as it stands in a page.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            char => escaped.push(char),
        }
    }
    escaped
}

fn lower(subject: &str) -> String {
    let mut chars = subject.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_shown_becomes_a_part_of_the_page() {
        assert_eq!(escaped(r#"<a href="x" id='y'>&"#), "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;");
    }
}

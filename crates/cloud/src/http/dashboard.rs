//! The dashboard: static files that are part of the program.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Files;

/// Scripts, styles, fonts and requests from this server only; charts set styles by script, which this allows.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
     connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const NOT_BUILT: &str = "<!doctype html><meta charset=utf-8><title>Sixlock</title><h1>Sixlock</h1>\
     <p>The cloud runs, but this program was built without the dashboard. In the folder <code>web</code> run \
     <code>npm ci</code> and <code>npm run build</code>, then build the program again.";

pub(super) async fn serve(request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let path = match request.uri().path().trim_start_matches('/') {
        "" => "index.html",
        path => path,
    };
    match Files::get(path) {
        Some(file) => answer(path, &file, request.headers()),
        None if path == "index.html" => page(StatusCode::SERVICE_UNAVAILABLE, NOT_BUILT),
        None => {
            page(StatusCode::NOT_FOUND, "<!doctype html><title>Not found</title><p>There is no such page.")
        }
    }
}

fn page(status: StatusCode, html: &'static str) -> Response {
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response()
}

fn answer(path: &str, file: &rust_embed::EmbeddedFile, asked: &HeaderMap) -> Response {
    // The bundler names files in assets/ after their content.
    let cache = if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let hash: String = file.metadata.sha256_hash()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    let tag = format!("\"{hash}\"");
    let known = asked.get_all(header::IF_NONE_MATCH).iter().any(|tags| {
        tags.to_str()
            .is_ok_and(|tags| tags.split(',').any(|known| known.trim().trim_start_matches("W/") == tag))
    });
    let kind = match file.metadata.mimetype() {
        kind if kind.starts_with("text/") => format!("{kind}; charset=utf-8"),
        kind => kind.to_owned(),
    };
    let mut response =
        if known { StatusCode::NOT_MODIFIED.into_response() } else { file.data.clone().into_response() };
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

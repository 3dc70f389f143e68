//! The dashboard: static files that are part of the program. Below `/docs/` are the documents.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

use super::app::App;
use super::static_files::{StaticFile, page};

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Files;

const NOT_BUILT: &str = "<!doctype html><meta charset=utf-8><title>Sixlock</title><h1>Sixlock</h1>\
     <p>The cloud runs, but this program was built without the dashboard. In the folder <code>web</code> run \
     <code>npm ci</code> and <code>npm run build</code>, then build the program again.";

pub(super) async fn serve(State(app): State<Arc<App>>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    if let Some(answer) = app.documents.answer(request.uri().path(), request.headers()) {
        return answer;
    }
    let path = match request.uri().path().trim_start_matches('/') {
        "" => "index.html",
        path => path,
    };
    match Files::get(path) {
        Some(file) => static_file(path, file).answer(request.headers()),
        None if path == "index.html" => page(StatusCode::SERVICE_UNAVAILABLE, NOT_BUILT),
        None => {
            page(StatusCode::NOT_FOUND, "<!doctype html><title>Not found</title><p>There is no such page.")
        }
    }
}

fn static_file(path: &str, file: rust_embed::EmbeddedFile) -> StaticFile {
    // The bundler names files in assets/ after their content.
    let cache = if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let tag = file.metadata.sha256_hash()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    StaticFile { kind: file.metadata.mimetype().to_owned(), content: file.data, tag, cache }
}

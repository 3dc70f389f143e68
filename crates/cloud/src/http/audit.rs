//! `/audit`: the record of refusals and actions.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use sixlock_telemetry::{AuditReader, FileError};
use tokio::fs::File;
use tokio::io::{AsyncReadExt, Take};

use super::app::App;
use super::failure::Failure;
use super::listing::check_limit;
use crate::Error;

/// The most lines of one answer.
const MOST_LINES: usize = 1000;
/// Bytes of a file that are sent at a time.
const BLOCK: usize = 64 << 10;

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct AuditQuery {
    /// At most so many lines, 1 to 1000; without it, 100
    #[serde(default = "usual")]
    #[param(minimum = 1, maximum = 1000)]
    limit: usize,
    /// Only lines before the one with this `id`: the last of a page gives the next one
    before: Option<u64>,
    /// `json`, or `jsonl`: all lines there are, oldest first, one a line; `limit` and `before` do not count then
    #[serde(default)]
    #[param(inline)]
    format: Format,
    /// `true` for actions only: they are kept in files of their own, out of which no refusal pushes them. Their ids are others
    #[serde(default)]
    actions: bool,
}

#[derive(Clone, Copy, Default, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Json,
    Jsonl,
}

const fn usual() -> usize {
    100
}

/// Who was refused, and who did what, newest first
///
/// A refusal is `{"id","time","scheme","from","reason","who"?,"what"?}`, an action `{"id","time","scheme","from"?,"action",
/// "who"?,"what"?}`, and `{"id","time","lost"}` says that so many more lines came faster than they are written. Of refusals
/// 1000 at once and 50 a second are. `from` is the address that a trusted proxy names, where there is one. All that is
/// kept is the newest 64 to 128 MB, and of actions likewise. What a client states is cut to 192 bytes. A page has fewer than
/// `limit` lines if they have more than 1 MiB: only one without any is the last.
#[utoipa::path(get, path = "/audit", tag = "cloud", params(AuditQuery),
    responses((status = 200, content((Vec<Object> = "application/json"), (String = "application/jsonl")))))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    query: Result<Query<AuditQuery>, QueryRejection>,
) -> Result<Response, Failure> {
    let Query(AuditQuery { limit, before, format, actions }) = query?;
    check_limit(limit, MOST_LINES)?;
    let audit = app.events.audit().map(|audit| if actions { audit.actions() } else { audit.reader() });
    match (format, audit) {
        (Format::Json, None) => Ok(Json(Vec::<serde_json::Value>::new()).into_response()),
        (Format::Json, Some(audit)) => {
            let lines = blocking(move || audit.newest(limit, before)).await?;
            Ok(Json(lines).into_response())
        }
        (Format::Jsonl, audit) => download(audit).await,
    }
}

/// Reads the record on a thread that may wait for the disk.
async fn blocking<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, Error> {
    let read = tokio::task::spawn_blocking(read).await;
    Ok(read.map_err(|_| Error::Died("reader of the record"))??)
}

async fn download(audit: Option<AuditReader>) -> Result<Response, Failure> {
    let files = match audit {
        Some(audit) => blocking(move || audit.files()).await?,
        None => Vec::new(),
    };
    let kind = HeaderValue::from_static("application/jsonl");
    let name = HeaderValue::from_static("attachment; filename=\"audit.jsonl\"");
    let body = Body::from_stream(stream::try_unfold(Download { files, open: None }, Download::next));
    Ok(([(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, name)], body).into_response())
}

/// What is still to be sent.
struct Download {
    files: Vec<(PathBuf, u64)>,
    open: Option<Take<File>>,
}

impl Download {
    async fn next(mut self) -> std::io::Result<Option<(Bytes, Self)>> {
        loop {
            let Some(file) = &mut self.open else {
                if self.files.is_empty() {
                    return Ok(None);
                }
                let (path, length) = self.files.remove(0);
                self.open = File::open(path).await.ok().map(|file| file.take(length));
                continue;
            };
            let mut block = vec![0; BLOCK];
            let read = file.read(&mut block).await?;
            if read > 0 {
                block.truncate(read);
                return Ok(Some((block.into(), self)));
            }
            self.open = None;
        }
    }
}

//! Answers that are read and sent a part at a time.

use axum::body::Body;
use futures_util::stream;

use crate::Error;

/// What is sent in parts.
pub(super) trait Parts: Send + 'static {
    /// Reads the next part; nothing behind the last one.
    fn next_part(&mut self) -> impl Future<Output = Result<Option<String>, Error>> + Send;
}

/// A body of these parts.
pub(super) fn body(parts: impl Parts) -> Body {
    Body::from_stream(stream::unfold(Some(parts), |parts| async {
        let mut parts = parts?;
        match parts.next_part().await {
            Ok(Some(text)) => Some((Ok(text), Some(parts))),
            Ok(None) => None,
            // The file breaks off, and its reader is told so.
            Err(error) => Some((Err(error), None)),
        }
    }))
}

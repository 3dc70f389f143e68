//! Answers that are read and sent a part at a time, for as long as their reader may have them.

use axum::BoxError;
use axum::body::Body;
use futures_util::stream;

use super::live_access::LiveAccess;
use crate::Error;

/// What is sent in parts.
pub(super) trait Parts: Send + 'static {
    /// Reads the next part; nothing behind the last one.
    fn next_part(&mut self) -> impl Future<Output = Result<Option<String>, Error>> + Send;
}

/// A body of these parts. It breaks off, and its reader is told so, where `access` ends.
pub(super) fn body(access: LiveAccess, parts: impl Parts) -> Body {
    Body::from_stream(stream::unfold(Some((access, parts)), |sending| async {
        let (mut access, mut parts) = sending?;
        if !access.holds().await {
            return Some((Err(BoxError::from("the reader's access has ended")), None));
        }
        match parts.next_part().await {
            Ok(Some(text)) => Some((Ok(text), Some((access, parts)))),
            Ok(None) => None,
            Err(error) => Some((Err(BoxError::from(error)), None)),
        }
    }))
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use sixlock_store::{Store, now_ms};

    use super::*;

    struct Endless;

    impl Parts for Endless {
        async fn next_part(&mut self) -> Result<Option<String>, Error> {
            Ok(Some("line\n".into()))
        }
    }

    #[tokio::test]
    async fn an_export_breaks_off_when_the_token_of_its_reader_ends() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let ann = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
        let (token, _) = store.begin_session(ann.id, now_ms()).await.unwrap();
        let caller = store.signed_in(&token, now_ms()).await.unwrap().unwrap();
        let access = LiveAccess::new(&store, &caller, None).await.ok().unwrap();
        let mut body = body(access, Endless);
        for _ in 0..3 {
            assert!(body.frame().await.unwrap().is_ok());
        }
        store.end_token(caller.token).await.unwrap();
        assert!(body.frame().await.unwrap().is_err());
        assert!(body.frame().await.is_none());
    }
}

//! Work under way.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;

use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};

/// Work under way. It is polled by the task of the shard, which saves a task and a change of threads for each request;
/// what computes for long goes to a thread of its own.
pub(crate) struct Work<T>(FuturesUnordered<Pin<Box<dyn Future<Output = Option<T>> + Send>>>);

impl<T: 'static> Work<T> {
    pub(crate) fn new() -> Self {
        Self(FuturesUnordered::new())
    }

    /// Begins something; if it panics, only it ends.
    pub(crate) fn begin(&mut self, work: impl Future<Output = T> + Send + 'static) {
        let result = AssertUnwindSafe(work).catch_unwind();
        self.0.push(Box::pin(result.map(Result::ok)));
    }

    /// Waits for something to be done, for ever if nothing was begun. Nothing if it panicked.
    pub(crate) async fn next(&mut self) -> Option<T> {
        match self.0.next().await {
            Some(done) => done,
            None => std::future::pending().await,
        }
    }

    /// Begins something, and tells what came of it if there was nothing to wait for.
    pub(crate) fn begin_or_finish(&mut self, work: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let mut work = Box::pin(AssertUnwindSafe(work).catch_unwind().map(Result::ok));
        match work.as_mut().now_or_never() {
            Some(done) => done,
            None => {
                self.0.push(work);
                None
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

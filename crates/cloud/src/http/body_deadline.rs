//! How long the body of a request may take to arrive.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};

/// How slow a transfer may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinimumRate {
    /// What it may take in any case.
    pub(crate) grace: Duration,
    /// And how many bytes a second there must be besides.
    pub(crate) rate: u32,
}

impl Default for MinimumRate {
    fn default() -> Self {
        Self { grace: Duration::from_secs(15), rate: 4096 }
    }
}

impl MinimumRate {
    /// How long so many bytes may take.
    pub(super) fn allows(&self, bytes: u64) -> Duration {
        let millis = bytes.saturating_mul(1000) / u64::from(self.rate.max(1));
        self.grace.saturating_add(Duration::from_millis(millis))
    }
}

/// Whether a body came too slowly, for the layer that answers.
#[derive(Clone, Default)]
pub(super) struct TooSlow(Arc<AtomicBool>);

impl TooSlow {
    pub(super) fn is_true(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Makes `body` fail if it does not keep the pace from now on, which `too_slow` then tells.
pub(super) fn with_deadline(body: Body, minimum_rate: MinimumRate, too_slow: TooSlow) -> Body {
    if body.is_end_stream() {
        return body;
    }
    let begun = Instant::now();
    let sleep = Box::pin(sleep_until(begun + minimum_rate.allows(0)));
    Body::new(Deadline { body, minimum_rate, begun, received: 0, sleep, too_slow })
}

struct Deadline {
    body: Body,
    minimum_rate: MinimumRate,
    begun: Instant,
    received: u64,
    sleep: Pin<Box<Sleep>>,
    too_slow: TooSlow,
}

impl HttpBody for Deadline {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            let data = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
            this.received += data.map_or(0, |data| data.len() as u64);
            return Poll::Ready(frame);
        }
        this.sleep.as_mut().reset(this.begun + this.minimum_rate.allows(this.received));
        if this.sleep.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        this.too_slow.0.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Err(axum::Error::new("the body comes too slowly"))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use futures_util::stream::{self, StreamExt};

    use super::*;

    const HURRY: MinimumRate = MinimumRate { grace: Duration::from_millis(50), rate: 1 };

    #[test]
    fn the_deadline_grows_with_what_has_come() {
        let minimum_rate = MinimumRate { grace: Duration::from_secs(15), rate: 4096 };
        assert_eq!(minimum_rate.allows(0), Duration::from_secs(15));
        assert_eq!(minimum_rate.allows(64 << 10), Duration::from_secs(31));
    }

    #[tokio::test]
    async fn a_body_that_stops_fails_and_one_that_comes_does_not() {
        let whole = stream::iter(["a", "b"].map(Ok::<_, axum::Error>));
        let (body, too_slow) = (Body::from_stream(whole), TooSlow::default());
        let body = with_deadline(body, HURRY, too_slow.clone());
        assert_eq!(&to_bytes(body, 10).await.unwrap()[..], b"ab");
        assert!(!too_slow.is_true());

        let stops = stream::iter(["a"].map(Ok::<_, axum::Error>)).chain(stream::pending());
        let body = with_deadline(Body::from_stream(stops), HURRY, too_slow.clone());
        assert!(to_bytes(body, 10).await.is_err());
        assert!(too_slow.is_true());
    }
}

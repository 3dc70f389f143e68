//! How long a client may keep the cloud waiting with what it has to send.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::body_deadline::MinimumRate;

/// A stream on which writing fails when its reader does not keep the pace: when nothing can be written for the grace of
/// the pace, or when the time that writing had to wait, in all, is longer than what was written may take. A reader that
/// reads costs no time, however long the stream is open.
pub(super) struct WriteDeadline<S> {
    stream: S,
    minimum_rate: MinimumRate,
    written: u64,
    /// How long writing has waited, but for the present time.
    waited: Duration,
    /// Since when it waits.
    waits: Option<Instant>,
    sleep: Pin<Box<Sleep>>,
}

impl<S> WriteDeadline<S> {
    pub(super) fn new(stream: S, minimum_rate: MinimumRate) -> Self {
        let sleep = Box::pin(sleep(Duration::ZERO));
        Self { stream, minimum_rate, written: 0, waited: Duration::ZERO, waits: None, sleep }
    }

    /// What becomes of the outcome of a write.
    fn judge(&mut self, outcome: Poll<io::Result<usize>>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(outcome) = outcome {
            self.waited += self.waits.take().map_or(Duration::ZERO, |since| since.elapsed());
            self.written += outcome.as_ref().map_or(0, |written| *written as u64);
            return Poll::Ready(outcome);
        }
        let since = *self.waits.get_or_insert_with(Instant::now);
        // What was written may stand in the system's buffers, unread: it earns no longer silence.
        let left =
            self.minimum_rate.allows(self.written).saturating_sub(self.waited).min(self.minimum_rate.grace);
        self.sleep.as_mut().reset(since + left);
        self.sleep.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteDeadline<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteDeadline<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.judge(outcome, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.judge(outcome, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn a_reader_that_reads_is_waited_for_and_one_that_stops_is_given_up() {
        let minimum_rate = MinimumRate { grace: Duration::from_secs(60), rate: 1 << 20 };
        let (mut client, server) = duplex(1024);
        let mut server = WriteDeadline::new(server, minimum_rate);
        let reader = tokio::spawn(async move {
            let mut all = vec![0; 64 << 10];
            client.read_exact(&mut all).await.unwrap();
            client
        });
        server.write_all(&[7; 64 << 10]).await.unwrap();
        let _silent = reader.await.unwrap();
        server.minimum_rate.grace = Duration::from_millis(50);
        let error = server.write_all(&[7; 1 << 20]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn what_stands_unread_in_buffers_earns_no_longer_silence() {
        // What is written at first would be allowed years at this rate.
        let minimum_rate = MinimumRate { grace: Duration::from_millis(50), rate: 1 };
        let (_silent, server) = duplex(1 << 20);
        let mut server = WriteDeadline::new(server, minimum_rate);
        let error = server.write_all(&[7; 2 << 20]).await.unwrap_err();
        assert_eq!((error.kind(), server.written), (io::ErrorKind::TimedOut, 1 << 20));
    }

    #[tokio::test]
    async fn a_reader_that_trickles_is_given_up_in_the_end() {
        let minimum_rate = MinimumRate { grace: Duration::from_millis(200), rate: 1 << 30 };
        let (mut client, server) = duplex(1);
        let mut server = WriteDeadline::new(server, minimum_rate);
        let trickle = tokio::spawn(async move {
            while client.read_u8().await.is_ok() {
                sleep(Duration::from_millis(20)).await;
            }
        });
        let error = server.write_all(&[7; 1 << 20]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(server);
        trickle.await.unwrap();
    }
}

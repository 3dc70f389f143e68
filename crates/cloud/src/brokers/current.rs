//! Whether what is served is what the store says.
//!
//! When settings, roles or devices change, nothing goes out until the brokers were read anew: whoever may publish no more publishes no more.
//! That is one look for all brokers, and none while nothing changes.

use tokio::sync::watch;

/// Knows of changes, and of which of them the brokers that are served know.
#[derive(Clone)]
pub(super) struct Current {
    /// How often something has changed.
    pub(super) changes: watch::Receiver<u64>,
    /// How often it had when the brokers were read last.
    pub(super) read: watch::Receiver<u64>,
}

impl Current {
    /// Waits until nothing has changed since the brokers were read; for ever, if nobody reads them any more.
    pub(super) async fn settled(&mut self) {
        while *self.read.borrow_and_update() < *self.changes.borrow() {
            if self.read.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn nothing_goes_out_between_a_change_and_the_next_look_at_the_brokers() {
        let (changes, read) = (watch::Sender::new(3), watch::Sender::new(3));
        let mut current = Current { changes: changes.subscribe(), read: read.subscribe() };
        let mut is_settled = || current.settled().now_or_never().is_some();
        assert!(is_settled());
        changes.send_replace(5);
        assert!(!is_settled());
        read.send_replace(4);
        assert!(!is_settled());
        read.send_replace(5);
        assert!(is_settled());
        changes.send_replace(6);
        drop(read);
        assert!(!is_settled());
    }
}

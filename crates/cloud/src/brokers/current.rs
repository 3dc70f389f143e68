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
    /// Waits until the brokers were read anew after what has changed before this call; for ever, if nobody reads them any more. What changes
    /// meanwhile is not waited for: others could go on changing things for ever.
    pub(super) async fn settled(&mut self) {
        let changes = *self.changes.borrow();
        while *self.read.borrow_and_update() < changes {
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

    #[test]
    fn what_goes_on_changing_holds_up_nothing() {
        let (changes, read) = (watch::Sender::new(3), watch::Sender::new(2));
        let mut current = Current { changes: changes.subscribe(), read: read.subscribe() };
        let mut settled = std::pin::pin!(current.settled());
        assert_eq!(settled.as_mut().now_or_never(), None);
        changes.send_replace(9);
        read.send_replace(3);
        assert_eq!(settled.now_or_never(), Some(()));
    }
}

//! What the journal remembers of the database between two transactions.

use std::sync::Arc;

use rusqlite::Connection;
use tokio::sync::Notify;

use super::alerting::Alerting;
use super::computing::Computing;
use super::spending::Spending;
use super::stream_rows::StreamRows;

/// What is remembered of streams, of quotas, of what is computed and of rules.
pub(super) struct Caches {
    pub(super) streams: StreamRows,
    pub(super) spending: Spending,
    pub(super) computing: Computing,
    pub(super) alerting: Alerting,
}

impl Caches {
    /// Nothing yet. `outbox` is told when there is something to be told.
    pub(super) fn new(outbox: Arc<Notify>) -> Self {
        let (streams, spending, computing) = Default::default();
        Self { streams, spending, computing, alerting: Alerting::new(outbox) }
    }

    /// Forgets what others may have changed; to be called in each transaction.
    pub(super) fn begin(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let others_wrote = self.streams.begin(connection)?;
        if others_wrote {
            self.spending.clear();
        }
        self.computing.begin(connection, others_wrote)?;
        self.alerting.begin(connection, others_wrote)
    }

    /// Relies on nothing that was learnt in a transaction which was not made.
    pub(super) fn discard(&mut self) {
        self.streams.clear();
        self.spending.clear();
        self.computing.discard();
        self.alerting.discard();
    }
}

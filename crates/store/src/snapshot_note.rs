//! Which file holds the sessions that were open when the cloud last ended in order.

use crate::error::Error;
use crate::ids::CredentialId;
use crate::known::Holder;
use crate::store::Store;

/// The file, and when it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotNote {
    /// What tells it from all others.
    pub fingerprint: Vec<u8>,
    /// In milliseconds since 1970.
    pub ended: i64,
}

impl Store {
    /// Notes, before it returns also for after a power cut, that this is the file, and no other.
    pub async fn note_snapshot(
        &self,
        SnapshotNote { fingerprint, ended }: SnapshotNote,
    ) -> Result<(), Error> {
        self.take_snapshot_note().await?;
        sqlx::query("INSERT INTO suspended_sessions (fingerprint, ended) VALUES ($1, $2)")
            .bind(fingerprint)
            .bind(ended)
            .execute(&mut *self.writer.lock().await)
            .await?;
        Ok(())
    }

    /// The file that was noted, if any. When this returns, none is noted any more, nor will one be after a power cut.
    pub async fn take_snapshot_note(&self) -> Result<Option<SnapshotNote>, Error> {
        let rows: Vec<(Vec<u8>, i64)> =
            sqlx::query_as("DELETE FROM suspended_sessions RETURNING fingerprint, ended")
                .fetch_all(&mut *self.writer.lock().await)
                .await?;
        let noted = rows.into_iter().map(|(fingerprint, ended)| SnapshotNote { fingerprint, ended });
        // More than one would mean that somebody else has written here.
        let mut noted: Vec<SnapshotNote> = noted.collect();
        Ok(noted.pop().filter(|_| noted.is_empty()))
    }

    /// All credentials that are good at the time `now`, in their order, with whose they are.
    pub async fn good_credentials(&self, now: i64) -> Result<Vec<(CredentialId, Holder)>, Error> {
        let rows: Vec<(i64, Option<i64>, Option<i64>)> = sqlx::query_as(
            "SELECT credentials.id, resource, holder
             FROM credentials LEFT JOIN users ON users.id = credentials.holder
             WHERE (expires IS NULL OR expires > $1) AND NOT coalesce(users.disabled, FALSE)
             ORDER BY credentials.id",
        )
        .bind(now)
        .fetch_all(&self.readers)
        .await?;
        let good = |(id, resource, user)| Some((CredentialId(id), Holder::read(resource, user)?));
        Ok(rows.into_iter().filter_map(good).collect())
    }
}

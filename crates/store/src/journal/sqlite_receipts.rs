//! Receipts in the database.

use rusqlite::Connection;

use super::idempotency::{Idempotency, RETRANSMISSION_WINDOW_MS};
use super::receipts::Receipts;

/// Returns the receipts in the database.
pub(super) fn read(connection: &Connection, now: i64) -> rusqlite::Result<Receipts> {
    let mut statement = connection.prepare("SELECT posts FROM receipts WHERE stored > ?1 ORDER BY id")?;
    let mut rows = statement.query([now - 2 * RETRANSMISSION_WINDOW_MS])?;
    let mut receipts = Receipts::new(now);
    while let Some(row) = rows.next()? {
        let posts = row.get_ref(0)?.as_blob()?;
        let stored = posts.chunks_exact(Idempotency::STORED).filter_map(Idempotency::read);
        stored.for_each(|receipt| receipts.restore(receipt));
    }
    Ok(receipts)
}

/// Writes the receipts of the commit that is being made.
pub(super) fn write(receipts: &Receipts, connection: &Connection, now: i64) -> rusqlite::Result<()> {
    if !receipts.written().is_empty() {
        let sql = "INSERT INTO receipts (stored, posts) VALUES (?1, ?2)";
        connection.prepare_cached(sql)?.execute((now, receipts.written()))?;
    }
    Ok(())
}

/// Forgets the old receipts.
pub(super) fn age(receipts: &mut Receipts, connection: &Connection, now: i64) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM receipts WHERE stored < ?1", [receipts.young_since()])?;
    receipts.age(now);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ResourceId;
    use crate::journal::idempotency::{RETRANSMISSION_WINDOW_MS, Transmission};

    fn sent(token: &[u8], association: &[u8], message_id: u16) -> Idempotency {
        Idempotency::of(ResourceId(1), Transmission { association, message_id, token }, b"payload")
    }

    #[test]
    fn a_receipt_lasts_for_a_window_in_memory_and_in_the_database_and_not_for_ever() {
        let database = Connection::open_in_memory().unwrap();
        database
            .execute_batch(
                "CREATE TABLE receipts (id INTEGER PRIMARY KEY, stored BIGINT NOT NULL, posts BLOB NOT NULL)",
            )
            .unwrap();
        let mut receipts = read(&database, 0).unwrap();
        let [first, second] = [sent(b"token-1", b"session", 1), sent(b"token-2", b"session", 2)];
        assert!(receipts.is_new(&first));
        receipts.discard();
        assert!(receipts.is_new(&first), "the commit was not made");
        assert!(!receipts.is_new(&first), "twice in one commit");
        write(&receipts, &database, 0).unwrap();
        receipts.keep();
        let anew = sent(b"token-1", b"next session", 7);
        for mut receipts in [read(&database, 1).unwrap(), receipts] {
            assert!(!receipts.is_new(&first));
            assert!(!receipts.is_new(&anew));
            assert!(
                receipts.is_new(&sent(b"token-1", b"next session", 8)),
                "another message of that session"
            );
            receipts.discard();
            let mut now = RETRANSMISSION_WINDOW_MS + 1;
            assert!(receipts.is_aged(now));
            age(&mut receipts, &database, now).unwrap();
            assert!(!receipts.is_new(&first), "it may come until twice the window is over");
            assert!(receipts.is_new(&second));
            write(&receipts, &database, now).unwrap();
            receipts.keep();
            now += RETRANSMISSION_WINDOW_MS;
            age(&mut receipts, &database, now).unwrap();
            assert!(receipts.is_new(&first));
            assert!(!receipts.is_new(&second));
            receipts.discard();
            let mut read = read(&database, now).unwrap();
            assert!(!read.is_new(&second));
            database.execute("DELETE FROM receipts WHERE stored > 0", []).unwrap();
        }
    }
}

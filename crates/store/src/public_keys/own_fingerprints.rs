//! The fingerprints of the cloud's own keys, which the database keeps: a key that is lost is missed, and not replaced by another,
//! which no device knows.

use rusqlite::{Connection, OptionalExtension};

use super::key_pair::fingerprint;
use super::own_keys::{FILES, Fingerprints, OwnKeys};

/// Those in the database, of this version or an earlier one.
pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Fingerprints> {
    let mut known = Fingerprints::default();
    if connection.table_exists(None, "own_key_fingerprints")? {
        let sql = "SELECT fingerprint FROM own_key_fingerprints WHERE file = ?1";
        for (known, file) in known.iter_mut().zip(FILES) {
            *known = connection.query_row(sql, [file], |row| row.get(0)).optional()?;
        }
    }
    Ok(known)
}

/// Keeps those of these keys in the database, which is of this version: both, or neither.
pub(crate) fn keep(connection: &mut Connection, own: &OwnKeys) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for (file, point) in FILES.iter().zip(own.points()) {
        let sql = "INSERT INTO own_key_fingerprints VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        transaction.execute(sql, (file, fingerprint(point)))?;
    }
    transaction.commit()
}

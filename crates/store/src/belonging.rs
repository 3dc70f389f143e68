//! Whether a data folder is whole: its master key and its database belong together, or neither is there yet.
//!
//! Without its own master key no key in a database can be read, and keys that were sealed under another one beside them would
//! leave a database that no key opens. So nothing is made anew in a folder that has had its like.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::error::Error;
use crate::files::make_database_private;
use crate::master_key::{MASTER_KEY, MasterKey};
use crate::public_keys::{self, OwnKeys, own_fingerprints};

/// The database.
pub(crate) const DATABASE: &str = "sixlock.db";
/// What a start makes when there is a database already: a folder that has one of these has had a database.
const MADE_LATER: [&str; 4] =
    [public_keys::FILES[0], public_keys::FILES[1], super::tokens::ADMINISTRATORS_FILE, "endpoints.json"];

/// What the check value is sealed for. No identity, for which device keys are sealed, begins like this.
const CONTEXT: &[u8] = b"\0master key check";
const VALUE: &[u8] = b"sixlock";

/// The master key of the data in `directory`. It is made if no cloud has run there. A first start makes an empty file of the
/// database before the key: where that is, and nothing that is made later, a first start was interrupted and is begun
/// again. A key without that file is what is left of a cloud.
pub(crate) fn master_key(directory: &Path) -> Result<MasterKey, Error> {
    let (key, database) = (directory.join(MASTER_KEY), directory.join(DATABASE));
    match (key.exists(), has_tables(&database)?) {
        (true, true) => MasterKey::open(directory),
        (false, true) => Err(Error::MasterKeyMissing(key)),
        (_, false) if MADE_LATER.iter().any(|file| directory.join(file).exists()) => {
            Err(Error::DatabaseMissing(database))
        }
        (true, false) if !database.exists() => Err(Error::DatabaseMissing(database)),
        (true, false) => MasterKey::open(directory),
        (false, false) => {
            make_database_private(&database).map_err(|error| Error::file(&database, error))?;
            MasterKey::create(directory)
        }
    }
}

/// Whether no cloud has run with the data in `directory`.
pub fn is_new(directory: &Path) -> bool {
    let files = [MASTER_KEY, DATABASE].into_iter().chain(MADE_LATER);
    !files.into_iter().any(|file| directory.join(file).exists())
}

/// Whether there is a database with anything in it.
fn has_tables(database: &Path) -> Result<bool, Error> {
    if !database.metadata().is_ok_and(|metadata| metadata.len() > 0) {
        return Ok(false);
    }
    let connection = connect(database)?;
    Ok(connection.query_row("SELECT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?)
}

/// The database at `database`, which is there.
pub(crate) fn connect(database: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    Ok(connection)
}

/// Checks that `key` is the one of the database, which is of this version. A database that had no check value gets one if any of
/// its device keys opens, or if it has none.
pub(crate) fn check(database: &Path, key: &MasterKey) -> Result<(), Error> {
    let connection = connect(database)?;
    if !belongs(&connection, key)? {
        return Err(Error::WrongMasterKey(database.with_file_name(MASTER_KEY)));
    }
    let sealed = key.seal(CONTEXT, VALUE)?;
    let sql = "INSERT INTO master_key_check SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM master_key_check)";
    connection.execute(sql, [sealed])?;
    Ok(())
}

/// The cloud's own keys in `directory`, which the database knows; those of a new folder are made. A database that knows none yet
/// knows from now on those that are there.
pub(crate) fn own_keys(directory: &Path) -> Result<OwnKeys, Error> {
    let mut connection = connect(&directory.join(DATABASE))?;
    let own = OwnKeys::open(directory, &own_fingerprints::read(&connection)?)?;
    own_fingerprints::keep(&mut connection, &own)?;
    Ok(own)
}

/// Whether what is sealed in a database, of this version or an earlier one, opens under `key`.
pub(crate) fn belongs(connection: &Connection, key: &MasterKey) -> Result<bool, Error> {
    if connection.table_exists(None, "master_key_check")? {
        let sql = "SELECT sealed FROM master_key_check";
        let sealed: Option<Vec<u8>> = connection.query_row(sql, [], |row| row.get(0)).optional()?;
        if let Some(sealed) = sealed {
            return Ok(key.open_sealed(CONTEXT, &sealed).is_ok_and(|value| value.bytes() == VALUE));
        }
    }
    // Earlier versions took any key: if some device keys were sealed under another one, those that this one opens are of use.
    let table = if connection.table_exists(None, "credentials")? { "credentials" } else { "resources" };
    let mut statement = connection.prepare(&format!("SELECT identity, key FROM {table} ORDER BY id"))?;
    let mut rows = statement.query([])?;
    let mut is_empty = true;
    while let Some(row) = rows.next()? {
        is_empty = false;
        let (identity, sealed): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
        if key.open_sealed(identity.as_bytes(), &sealed).is_ok() {
            return Ok(true);
        }
    }
    Ok(is_empty)
}

//! A copy of all that a cloud keeps, in one file, and back.
//!
//! The file is a database like the cloud's own, at one moment, with the master key and the cloud's own keys in a table beside. So it is as
//! secret as the data folder itself. At its end stands [a digest](crate::backup_digest) of the rest.

use std::fs::File;
use std::io;
use std::path::Path;

use rusqlite::Connection;
use sixlock_telemetry::{Done, Scheme};
use zeroize::Zeroizing;

use crate::backup_digest::{self, Copied};
use crate::belonging::{DATABASE, belongs, connect, is_new};
use crate::clock::now_ms;
use crate::error::Error;
use crate::files;
use crate::files::make_private_directory;
use crate::master_key::{MASTER_KEY, MasterKey};
use crate::public_keys::{self, own_fingerprints};
use crate::secrets::Secret;

/// The file that tells when the latest backup was made.
const LAST: &str = "last-backup";

/// Writes all that the cloud in the folder `data` keeps to the new file `file`, for its owner's eyes only. The cloud may
/// run meanwhile: what it had acknowledged before is in the copy.
pub fn back_up(data: &Path, file: &Path) -> Result<(), Error> {
    let database = data.join(DATABASE);
    if is_new(data) {
        return Err(Error::NeverStarted(data.to_owned()));
    }
    if file.exists() {
        return Err(Error::Exists(file.to_owned()));
    }
    let master_key = master_key_of(data)?;
    public_keys::check(data, &own_fingerprints::read(&connect(&database)?)?)?;
    let mut own_keys = Vec::new();
    for name in public_keys::FILES {
        let path = data.join(name);
        match files::read_private(&path) {
            Ok(text) => own_keys.push((name, Secret::new(text.into_bytes()))),
            // No cloud that has such keys has run with this folder.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::file(&path, error)),
        }
    }
    check_room(&connect(&database)?, file)?;
    let unfinished = file.with_added_extension("unfinished");
    // SQLite fills a file that is empty, and leaves it to its owner.
    begin(&unfinished).map_err(|error| Error::file(&unfinished, error))?;
    let copied = copy_all(&database, &unfinished, &master_key, &own_keys);
    let finished = copied.and_then(|()| finish(&unfinished, file).map_err(|error| Error::file(file, error)));
    if finished.is_err() {
        // It holds keys, and is of no use. What failed is told, whether it can be removed or not.
        let _ = std::fs::remove_file(&unfinished);
    }
    finished?;
    let last = data.join(LAST);
    files::replace_private(&last, &now_ms().to_string()).map_err(|error| Error::file(&last, error))?;
    let taken = Done::new(Scheme::Command, "backup_taken").what(file.display().to_string());
    Ok(sixlock_telemetry::append(data, now_ms(), &taken)?)
}

/// Refuses a backup for which its disk has no room, before it takes from readings what room there is.
fn check_room(database: &Connection, file: &Path) -> Result<(), Error> {
    let sql = "SELECT (page_count - freelist_count) * page_size
               FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()";
    let needed: i64 = database.query_row(sql, [], |row| row.get(0))?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A disk that does not tell is written to until it is full.
    let Ok(disk) = rustix::fs::statvfs(folder) else { return Ok(()) };
    check_size(needed.unsigned_abs(), disk.f_bavail.saturating_mul(disk.f_frsize))
        .map_err(|error| Error::file(file, error))
}

fn check_size(needed: u64, free: u64) -> io::Result<()> {
    if needed <= free {
        return Ok(());
    }
    const MB: u64 = 1_000_000;
    let (needed, free) = (needed.div_ceil(MB), free / MB);
    let why = format!(
        "the backup takes {needed} MB, and its disk has room for {free}; make room, or choose another disk"
    );
    Err(io::Error::new(io::ErrorKind::StorageFull, why))
}

/// Copies the database, and the keys beside it, to the empty file `unfinished`.
fn copy_all(
    database: &Path,
    unfinished: &Path,
    master_key: &Secret,
    own_keys: &[(&str, Secret)],
) -> Result<(), Error> {
    connect(database)?.execute("VACUUM INTO ?1", [unfinished.to_string_lossy()])?;
    let copy = connect(unfinished)?;
    copy.execute_batch("PRAGMA journal_mode = DELETE; CREATE TABLE backup (master_key BLOB NOT NULL)")?;
    copy.execute("INSERT INTO backup VALUES (?1)", [master_key.bytes().trim_ascii()])?;
    copy.execute_batch("CREATE TABLE own_keys (file TEXT NOT NULL, pem BLOB NOT NULL)")?;
    for (name, text) in own_keys {
        copy.execute("INSERT INTO own_keys VALUES (?1, ?2)", (name, text.bytes().trim_ascii()))?;
    }
    close(copy)?;
    let opened = File::options().read(true).append(true).open(unfinished);
    let digested = opened.and_then(|mut file| backup_digest::append(&mut file));
    digested.map_err(|error| Error::file(unfinished, error))
}

/// The master key of the cloud in the folder `data`, which is the one of the database there: with another, a copy would be of no
/// use.
fn master_key_of(data: &Path) -> Result<Secret, Error> {
    let (database, path) = (data.join(DATABASE), data.join(MASTER_KEY));
    if !database.metadata().is_ok_and(|metadata| metadata.len() > 0) {
        return Err(Error::DatabaseMissing(database));
    }
    // It says what is wrong with the file.
    MasterKey::open(data)?;
    let digits = files::read_private(&path).map_err(|error| Error::file(&path, error))?;
    let digits = Secret::new(digits.into_bytes());
    let key = MasterKey::parse(digits.bytes()).ok_or_else(|| Error::MasterKey(path.clone()))?;
    if belongs(&connect(&database)?, &key)? { Ok(digits) } else { Err(Error::WrongMasterKey(path)) }
}

/// Returns when the latest backup of the folder `data` was made, in milliseconds since 1970; `None` if there is none.
pub async fn last_backup(data: &Path) -> Option<i64> {
    tokio::fs::read_to_string(data.join(LAST)).await.ok()?.trim().parse().ok()
}

/// Puts what [`back_up`] wrote to `file` into the folder `data`, which is to be new or empty. A file of which any bit has changed since
/// is refused; of one that an earlier version wrote, which has no digest, only what SQLite finds wrong with it.
pub fn restore(file: &Path, data: &Path) -> Result<(), Error> {
    make_private_directory(data)?;
    let mut entries = std::fs::read_dir(data).map_err(|error| Error::file(data, error))?;
    if entries.next().is_some() {
        return Err(Error::NotEmpty(data.to_owned()));
    }
    let mut backup = File::open(file).map_err(|error| Error::file(file, error))?;
    let (database, master) = (data.join(DATABASE), data.join(MASTER_KEY));
    let unfinished = database.with_added_extension("unfinished");
    let copied = begin(&unfinished).and_then(|mut copy| backup_digest::copy(&mut backup, &mut copy));
    let keys = match copied {
        Ok(Copied::Whole | Copied::WithoutDigest) => {
            take_keys(&unfinished).map_err(|_| Error::NotABackup(file.to_owned()))
        }
        Ok(Copied::Damaged) => Err(Error::DamagedBackup(file.to_owned())),
        Ok(Copied::NoBackup) => Err(Error::NotABackup(file.to_owned())),
        Err(error) => Err(Error::file(&unfinished, error)),
    };
    if keys.is_err() {
        // Nothing stays in the folder that is not a cloud's.
        std::fs::remove_file(&unfinished).map_err(|error| Error::file(&unfinished, error))?;
    }
    let (master_key, own_keys) = keys?;
    files::create_private(&master, &master_key).map_err(|error| Error::file(&master, error))?;
    for (name, text) in own_keys {
        // Nothing else leaves the folder, whatever the backup says.
        if let Some(name) = public_keys::FILES.into_iter().find(|known| *known == name) {
            let path = data.join(name);
            files::create_private(&path, &text).map_err(|error| Error::file(&path, error))?;
        }
    }
    // Last of all: without it there is no cloud in the folder.
    finish(&unfinished, &database).map_err(|error| Error::file(&database, error))
}

/// The name of a file of keys, and what stands in it.
type KeyFile = (String, Zeroizing<String>);

/// Takes the master key out of a copy of a backup, if that is whole, and the files of the cloud's own keys, which clouds did not
/// always have.
fn take_keys(copy: &Path) -> Result<(String, Vec<KeyFile>), Error> {
    let copy = connect(copy)?;
    let said: String = copy.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if said != "ok" {
        return Err(Error::Invalid("the database is damaged"));
    }
    let master_key: Vec<u8> = copy.query_row("SELECT master_key FROM backup", [], |row| row.get(0))?;
    let is_of_database = MasterKey::parse(&master_key).map(|key| belongs(&copy, &key)).transpose()?;
    if is_of_database != Some(true) {
        return Err(Error::Invalid("the master key is not that of the database"));
    }
    let mut own_keys = Vec::new();
    if copy.table_exists(None, "own_keys")? {
        let mut rows = copy.prepare("SELECT file, CAST(pem AS TEXT) FROM own_keys")?;
        for row in rows.query_map([], |row| Ok((row.get(0)?, Zeroizing::new(row.get(1)?))))? {
            own_keys.push(row?);
        }
    }
    // What was commanded when the copy was made has been done since, or is wanted no more.
    if copy.table_exists(None, "commands")? {
        let sql = "UPDATE commands SET state = 'withdrawn', ended = ?1 WHERE state = 'queued'";
        copy.execute(sql, [now_ms()])?;
    }
    // They do not stay in the pages that are free afterwards.
    copy.execute_batch("PRAGMA secure_delete = ON; DROP TABLE backup; DROP TABLE IF EXISTS own_keys")?;
    close(copy)?;
    let master_key =
        String::from_utf8(master_key).map_err(|_| Error::Invalid("the master key is not one"))?;
    Ok((master_key, own_keys))
}

fn close(connection: Connection) -> rusqlite::Result<()> {
    connection.close().map_err(|(_, error)| error)
}

/// A new file in place of one that was not finished.
fn begin(path: &Path) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => files::new_private(path),
    }
}

/// Gives a file its name when all of it is on the disk.
fn finish(unfinished: &Path, path: &Path) -> io::Result<()> {
    File::open(unfinished)?.sync_all()?;
    std::fs::rename(unfinished, path)?;
    files::sync_directory(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_that_its_disk_has_no_room_for_is_refused() {
        assert!(check_size(5_000_000, 5_000_000).is_ok());
        let why = check_size(5_000_001, 5_000_000).unwrap_err().to_string();
        assert!(why.starts_with("the backup takes 6 MB, and its disk has room for 5"), "{why}");
        let database = Connection::open_in_memory().unwrap();
        database.execute_batch("CREATE TABLE t (x)").unwrap();
        check_room(&database, &std::env::temp_dir().join("backup")).unwrap();
    }
}

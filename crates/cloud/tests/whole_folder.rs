//! A data folder that is not whole is refused in words, and left as it is.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sixlock_cloud::{
    AuthenticationMethod, Config, Device, Error, Offline, Role, StartError, Store, back_up, replace_private,
    restore, start,
};
use sixlock_testing::crash::copy;

/// A folder in which a cloud has run, with a device.
async fn folder() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let running = start(Config::on_loopback(directory.path()), None).await.unwrap();
    let mode = "dtls-psk".parse().unwrap();
    running.enrol(Device { mode, ..Device::named("node-1") }).await.unwrap();
    running.stop().await.unwrap();
    // All of it stands in the database itself.
    let database = rusqlite::Connection::open(directory.path().join("sixlock.db")).unwrap();
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    directory
}

fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    // What SQLite does to share a database is no part of it.
    let files = files.filter(|path| !name(path).ends_with("-shm") && !name(path).ends_with("-wal"));
    files.map(|path| (name(&path), std::fs::read(&path).unwrap())).collect()
}

fn spoil(directory: &Path, name: &str, spoil: impl Fn(&mut Vec<u8>)) {
    let path = directory.join(name);
    let mut bytes = std::fs::read(&path).unwrap();
    spoil(&mut bytes);
    std::fs::write(&path, bytes).unwrap();
}

/// What each way into a folder says of it.
async fn refusals(directory: &Path) -> Vec<Error> {
    let backup = tempfile::tempdir().unwrap();
    let (data, file) = (directory.to_owned(), backup.path().join("backup"));
    let backed_up = tokio::task::spawn_blocking(move || back_up(&data, &file)).await.unwrap();
    let StartError::Store(not_started) =
        start(Config::on_loopback(directory), None).await.err().expect("the cloud started")
    else {
        panic!("the store was opened");
    };
    vec![
        not_started,
        Offline::open(directory).await.err().expect("the commands work"),
        backed_up.expect_err("a backup was made"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_keys_or_with_others_a_database_is_refused() {
    let whole = folder().await;
    type Spoil = fn(&Path);
    type Says = fn(&Error) -> bool;
    let cases: [(&str, Spoil, Says, &str); 10] = [
        (
            "nothing but the key",
            |folder| {
                let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
                let others = files.filter(|file| !file.ends_with("master.key") && !file.ends_with("lock"));
                others.for_each(|file| std::fs::remove_file(file).unwrap());
            },
            |error| matches!(error, Error::DatabaseMissing(_)),
            "missing or empty",
        ),
        (
            "no key",
            |folder| std::fs::remove_file(folder.join("master.key")).unwrap(),
            |error| matches!(error, Error::MasterKeyMissing(_)),
            "master.key is missing",
        ),
        (
            "another key",
            |folder| replace_private(&folder.join("master.key"), &"5a".repeat(16)).unwrap(),
            |error| matches!(error, Error::WrongMasterKey(_)),
            "is not the key that the device keys in the database are sealed under",
        ),
        (
            "no database",
            |folder| std::fs::remove_file(folder.join("sixlock.db")).unwrap(),
            |error| matches!(error, Error::DatabaseMissing(_)),
            "missing or empty",
        ),
        (
            "an empty database",
            |folder| spoil(folder, "sixlock.db", Vec::clear),
            |error| matches!(error, Error::DatabaseMissing(_)),
            "missing or empty",
        ),
        (
            "no authority",
            |folder| std::fs::remove_file(folder.join("authority.pem")).unwrap(),
            |error| matches!(error, Error::OwnKeyMissing(_)),
            "authority.pem is missing",
        ),
        (
            "no key of the cloud",
            |folder| std::fs::remove_file(folder.join("cloud.pem")).unwrap(),
            |error| matches!(error, Error::OwnKeyMissing(_)),
            "cloud.pem is missing",
        ),
        (
            "another key of the cloud",
            |folder| _ = std::fs::copy(folder.join("authority.pem"), folder.join("cloud.pem")).unwrap(),
            |error| matches!(error, Error::WrongOwnKey(_)),
            "cloud.pem holds another key",
        ),
        (
            "a master key that is no text",
            |folder| spoil(folder, "master.key", |bytes| bytes[0] = 0xff),
            |error| matches!(error, Error::MasterKey(_)),
            "does not hold 32 hexadecimal digits",
        ),
        (
            "a key of the cloud that is no text",
            |folder| spoil(folder, "cloud.pem", |bytes| bytes[0] = 0xff),
            |error| matches!(error, Error::OwnKey(_)),
            "does not hold a private key of P-256 and its certificate",
        ),
    ];
    for (case, spoil, says, words) in cases {
        let directory = tempfile::tempdir().unwrap();
        copy(whole.path(), directory.path());
        spoil(directory.path());
        let before = contents(directory.path());
        for error in refusals(directory.path()).await {
            let said = error.to_string();
            assert!(says(&error), "{case}: {error:?}");
            assert!(said.contains(words) && said.contains("sixlock cloud restore"), "{case}: {said}");
        }
        assert_eq!(contents(directory.path()), before, "{case}: it was changed");
    }
    // Put back, all is well.
    drop(start(Config::on_loopback(whole.path()), None).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_without_a_check_value_is_judged_by_its_device_keys() {
    let whole = folder().await;
    let forget = |directory: &Path| {
        let database = rusqlite::Connection::open(directory.join("sixlock.db")).unwrap();
        database.execute("DELETE FROM master_key_check", []).unwrap();
    };
    forget(whole.path());
    let other = tempfile::tempdir().unwrap();
    copy(whole.path(), other.path());
    replace_private(&other.path().join("master.key"), &"5a".repeat(16)).unwrap();
    assert!(matches!(Store::open(other.path()).await, Err(Error::WrongMasterKey(_))));
    let (store, _writer) = Store::open(whole.path()).await.unwrap();
    assert!(store.known(AuthenticationMethod::PreSharedKey, "node-1", 0).await.unwrap().is_some());
    drop(store);
    // From now on the check value tells, also where no device does.
    let database = rusqlite::Connection::open(whole.path().join("sixlock.db")).unwrap();
    database.execute("DELETE FROM credentials", []).unwrap();
    drop(database);
    replace_private(&whole.path().join("master.key"), &"5a".repeat(16)).unwrap();
    assert!(matches!(Store::open(whole.path()).await, Err(Error::WrongMasterKey(_))));
    // Without either, there is nothing that another key could spoil.
    forget(whole.path());
    assert!(Store::open(whole.path()).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_knows_no_fingerprints_takes_the_own_keys_that_are_there() {
    let whole = folder().await;
    let keys = || ["authority.pem", "cloud.pem"].map(|file| std::fs::read(whole.path().join(file)).unwrap());
    let forget = || {
        let database = rusqlite::Connection::open(whole.path().join("sixlock.db")).unwrap();
        database.execute("DELETE FROM own_key_fingerprints", []).unwrap();
    };
    forget();
    let before = keys();
    drop(Store::open(whole.path()).await.unwrap());
    assert_eq!(keys(), before);
    // From now on they are known.
    std::fs::remove_file(whole.path().join("cloud.pem")).unwrap();
    assert!(matches!(Store::open(whole.path()).await, Err(Error::OwnKeyMissing(_))));
    // A start that was interrupted made the authority first: where that alone is missing, it was lost.
    forget();
    drop(Store::open(whole.path()).await.unwrap());
    assert_eq!(keys()[0], before[0]);
    forget();
    std::fs::remove_file(whole.path().join("authority.pem")).unwrap();
    assert!(matches!(Store::open(whole.path()).await, Err(Error::OwnKeyMissing(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_was_interrupted_before_it_made_a_database_is_begun_again() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["master.key", "lock", "sixlock.db"] {
        let text = if name == "master.key" { "00".repeat(16) } else { String::new() };
        replace_private(&directory.path().join(name), &text).unwrap();
    }
    std::fs::write(directory.path().join("sixlock.db"), b"").unwrap();
    start(Config::on_loopback(directory.path()), None).await.unwrap().stop().await.unwrap();
    let key = std::fs::read_to_string(directory.path().join("master.key")).unwrap();
    assert_eq!(key.trim(), "00".repeat(16));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_database_is_called_so() {
    let whole = folder().await;
    for (case, damage) in [
        (
            "no database at all",
            (|bytes: &mut Vec<u8>| *bytes = b"not a database ".repeat(500)) as fn(&mut Vec<u8>),
        ),
        ("zeros in the schema", |bytes| bytes[100..4000].fill(0)),
        ("noise in the schema", |bytes| bytes[100..4000].iter_mut().for_each(|byte| *byte ^= 0x5a)),
    ] {
        let directory = tempfile::tempdir().unwrap();
        copy(whole.path(), directory.path());
        spoil(directory.path(), "sixlock.db", damage);
        for error in refusals(directory.path()).await {
            let said = error.to_string();
            assert!(said.contains("the database is damaged") && said.contains("restore"), "{case}: {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_in_which_one_bit_is_another_is_not_restored() {
    let whole = folder().await;
    let place = tempfile::tempdir().unwrap();
    let (file, data) = (place.path().join("backup"), place.path().join("data"));
    back_up(whole.path(), &file).unwrap();
    let bytes = std::fs::read(&file).unwrap();
    // Bits all over the file, its last byte too.
    for at in (0..bytes.len()).step_by(bytes.len() / 60).chain([bytes.len() - 1]) {
        let mut spoiled = bytes.clone();
        spoiled[at] ^= 1 << (at % 8);
        std::fs::write(&file, spoiled).unwrap();
        let said = restore(&file, &data).expect_err(&format!("byte {at}")).to_string();
        assert!(said.contains("the backup is damaged") && said.contains("take another copy"), "{said}");
        assert_eq!(std::fs::read_dir(&data).unwrap().count(), 0, "byte {at}");
    }
    std::fs::write(&file, bytes).unwrap();
    restore(&file, &data).unwrap();
    assert_eq!(contents(&data).get("master.key"), contents(whole.path()).get("master.key"));
    Offline::open(&data).await.unwrap().close().await.unwrap();
}

/// Makes the backup at `file` one of an earlier version, which wrote no digest.
fn take_off_digest(file: &Path) {
    let mut bytes = std::fs::read(file).unwrap();
    bytes.truncate(bytes.len() - 32);
    std::fs::write(file, bytes).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_an_earlier_version_is_restored() {
    let whole = folder().await;
    let place = tempfile::tempdir().unwrap();
    let (file, data) = (place.path().join("backup"), place.path().join("data"));
    back_up(whole.path(), &file).unwrap();
    take_off_digest(&file);
    restore(&file, &data).unwrap();
    Offline::open(&data).await.unwrap().close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_whose_master_key_is_another_is_not_restored() {
    let whole = folder().await;
    let place = tempfile::tempdir().unwrap();
    let (file, data) = (place.path().join("backup"), place.path().join("data"));
    back_up(whole.path(), &file).unwrap();
    take_off_digest(&file);
    rusqlite::Connection::open(&file)
        .unwrap()
        .execute("UPDATE backup SET master_key = ?1", ["5a".repeat(16).as_bytes()])
        .unwrap();
    assert!(matches!(restore(&file, &data), Err(Error::NotABackup(_))));
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_files_are_for_their_owner_only_from_the_first_start_on() {
    let directory = tempfile::tempdir().unwrap();
    let modes = || {
        let files = std::fs::read_dir(directory.path()).unwrap().map(Result::unwrap);
        let mode = |file: std::fs::DirEntry| {
            (file.file_name().into_string().unwrap(), file.metadata().unwrap().permissions().mode() & 0o777)
        };
        files.map(mode).filter(|(_, mode)| *mode != 0o600).collect::<Vec<_>>()
    };
    let running = start(Config::on_loopback(directory.path()), None).await.unwrap();
    assert!(directory.path().join("sixlock.db-wal").exists());
    assert_eq!(modes(), []);
    running.stop().await.unwrap();
    // Those of earlier versions are made so.
    for name in ["sixlock.db", "lock"] {
        let open = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(directory.path().join(name), open).unwrap();
    }
    let running = start(Config::on_loopback(directory.path()), None).await.unwrap();
    assert_eq!(modes(), []);
    running.stop().await.unwrap();
}

/// The files that SECURITY.md names as private, and those that only say who uses the cloud.
fn private_files() -> Vec<&'static str> {
    let text = include_str!("../../../SECURITY.md");
    let (_, list) = text.split_once("Files in the data folder that must stay private:").unwrap();
    let (list, _) = list.split_once("`sign-in-link` is removed").unwrap();
    list.split('`').skip(1).step_by(2).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn security_md_names_all_private_files_that_a_run_makes() {
    // These say where the cloud listens, when it was copied, and that it runs.
    const OPEN: [&str; 3] = ["endpoints.json", "last-backup", "lock"];
    let (whole, private) = (folder().await, private_files());
    let names = || -> Vec<String> {
        let files = std::fs::read_dir(whole.path()).unwrap();
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
    };
    let mut made = names();
    let running = start(Config::on_loopback(whole.path()), None).await.unwrap();
    made.extend(names());
    running.stop().await.unwrap();
    for name in &made {
        assert!(private.contains(&&**name) || OPEN.contains(&&**name), "{name}");
    }
    assert!(made.len() > 10, "{made:?}");
    // These a run makes in some cases only.
    for name in
        [sixlock_cloud::ADMIN_PASSWORD, sixlock_cloud::SIGN_IN_LINK, "sessions.1", "polled-sessions.1"]
    {
        assert!(private.contains(&name), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_signs_nobody_in_any_more_stays_in_no_file() {
    let whole = folder().await;
    let (password, link) = (whole.path().join("admin-password"), whole.path().join("sign-in-link"));
    replace_private(&password, "the first password").unwrap();
    replace_private(&link, "http://127.0.0.1:1/sign-in?token=0123").unwrap();
    // The next cloud has another link.
    start(Config::on_loopback(whole.path()), None).await.unwrap().stop().await.unwrap();
    assert!(!link.exists() && password.exists());
    let offline = Offline::open(whole.path()).await.unwrap();
    offline.add_user("ann", "", "long enough".into(), Role::Member).await.unwrap();
    offline.set_password("ann", "long enough too".into()).await.unwrap();
    assert!(password.exists());
    offline.set_password("admin", "long enough".into()).await.unwrap();
    offline.close().await.unwrap();
    assert!(!password.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_fails_leaves_no_file() {
    let (whole, place) = (folder().await, tempfile::tempdir().unwrap());
    // The copy is to have a table of this name.
    let database = rusqlite::Connection::open(whole.path().join("sixlock.db")).unwrap();
    database.execute_batch("CREATE TABLE backup (other TEXT)").unwrap();
    drop(database);
    assert!(back_up(whole.path(), &place.path().join("backup")).is_err());
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

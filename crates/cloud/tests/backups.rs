//! Backups that a cloud takes of itself.

mod web_client;

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use sixlock_cloud::{Backups, Store, restore};
use web_client::{Cloud, PATIENCE};

const OTHERS: [&str; 2] = ["notes.txt", "sixlock-zzzzzzzz-20200101T000000.000Z.backup"];

fn taken(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".backup") && !OTHERS.contains(&&**name)).collect()
}

/// Waits until the backups there are as they should be.
async fn until(folder: &Path, is_there: impl Fn(&BTreeSet<String>) -> bool) -> BTreeSet<String> {
    let end = Instant::now() + PATIENCE;
    loop {
        let seen = taken(folder);
        if is_there(&seen) {
            return seen;
        }
        assert!(Instant::now() < end, "{seen:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn backups_are_taken_each_period_the_newest_are_kept_and_a_cloud_goes_on_from_them() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("not/there/yet");
    let backups = Backups { folder: folder.clone(), every: Duration::from_millis(1), keep: 2 };
    let cloud = Cloud::start(|config| config.backups = Some(backups)).await;
    for other in OTHERS {
        std::fs::write(folder.join(other), "left alone").unwrap();
    }
    until(&folder, |taken| !taken.is_empty()).await;
    cloud.user("ann", false).await;
    cloud.node("ann").await;
    let before = taken(&folder);
    // The oldest goes after the newest has come.
    let after = until(&folder, |taken| taken.is_disjoint(&before) && taken.len() == 2).await;
    cloud.running.stop().await.unwrap();

    assert!(taken(&folder).last() >= after.last());
    // One that is under way when the cloud stops may still end, and the oldest go: not the newest.
    let newest = taken(&folder).pop_last().unwrap();
    // Keys are in it.
    let mode = std::fs::metadata(folder.join(&newest)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    let restored = place.path().join("restored");
    restore(&folder.join(newest), &restored).unwrap();
    let (store, _writer) = Store::open(&restored).await.unwrap();
    let ann = store.user("ann").await.unwrap().unwrap();
    assert!(store.resource(ann.id, "node").await.unwrap().is_some());
    for other in OTHERS {
        assert_eq!(std::fs::read_to_string(folder.join(other)).unwrap(), "left alone");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cloud_that_starts_takes_a_backup_at_once_if_one_is_due_and_leaves_others_there() {
    let place = tempfile::tempdir().unwrap();
    let (data, folder) = (place.path().join("data"), place.path().join("backups"));
    let start = || async {
        let backups = Backups { folder: folder.clone(), every: Duration::from_secs(3_600), keep: 2 };
        let config = sixlock_cloud::Config {
            max_sessions: 100,
            backups: Some(backups),
            ..sixlock_cloud::Config::on_loopback(&data)
        };
        sixlock_cloud::start(config, None).await.unwrap()
    };
    let running = start().await;
    let first = until(&folder, |taken| taken.len() == 1).await;
    running.stop().await.unwrap();
    // As if an hour had passed.
    let [name] = &first.into_iter().collect::<Vec<_>>()[..] else { panic!("there is more than one") };
    let (prefix, _) = name.rsplit_once('-').unwrap();
    let old = format!("{prefix}-20200101T000000.000Z.backup");
    std::fs::rename(folder.join(name), folder.join(&old)).unwrap();
    let running = start().await;
    until(&folder, |taken| taken.len() == 2 && taken.contains(&old)).await;
    running.stop().await.unwrap();
}

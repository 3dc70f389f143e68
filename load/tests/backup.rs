//! A backup taken under load holds what was acknowledged before, and a cloud goes on from it.

mod support;

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;

use sixlock_load::{Cloud, Fleet, Habits, LoadPattern, Post, Program, Progress, Target, enrol, posts};
use support::{DEVICES, PATIENCE, await_more, own_address};

fn run(program: &Program, action: &str, file: &Path, data: &Path) -> Output {
    let mut command = Command::new(program.path());
    command.args(["cloud", action]).arg(file).arg("--data").arg(data);
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_backup_under_load_holds_what_was_acknowledged_before_and_a_cloud_goes_on_from_it() {
    let (program, place) = (Program::built(), tempfile::tempdir().unwrap());
    let [data, restored, file] = ["data", "restored", "backup"].map(|name| place.path().join(name));
    let mut cloud = Cloud::start(&program, &data, own_address(), &[]).unwrap();
    let coaps = cloud.coaps;
    let credentials = enrol(cloud.http, &data, DEVICES).unwrap();
    let mut fleet = Fleet::new(Target::cloud(coaps), &credentials, Habits::default()).unwrap();
    assert!(fleet.connect(PATIENCE).unwrap(), "not every device could connect");

    let progress = Progress::default();
    let before = thread::scope(|scope| {
        let _end = progress.finish_when_dropped();
        let fleet = scope.spawn(|| fleet.run(LoadPattern::Answered, &progress, None, PATIENCE).unwrap());
        await_more(&progress, 2_000);
        let before = progress.acknowledged();
        let backup = run(&program, "backup", &file, &data);
        assert!(backup.status.success(), "{}", said(&backup));
        await_more(&progress, 500);
        progress.finish();
        assert!(fleet.join().unwrap(), "a post was never answered");
        before as usize
    });
    let acknowledged = fleet.acknowledged();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let again = run(&program, "backup", &file, &data);
    assert!(!again.status.success() && said(&again).contains("choose another name"), "{}", said(&again));
    let into_use = run(&program, "restore", &file, &data);
    assert!(!into_use.status.success() && said(&into_use).contains("is not empty"), "{}", said(&into_use));
    cloud.kill().unwrap();

    let restore = run(&program, "restore", &file, &restored);
    assert!(restore.status.success(), "{}", said(&restore));
    let held: BTreeSet<Post> = posts(&restored).unwrap().into_keys().collect();
    let missing: Vec<_> = acknowledged[..before].iter().filter(|post| !held.contains(post)).collect();
    assert_eq!(missing, [] as [&Post; 0], "acknowledged before the backup began, and not in it");
    assert!(held.len() <= acknowledged.len(), "a post that no device sent");
    let [master_key, database] = [data.join("master.key"), restored.join("sixlock.db")].map(std::fs::read);
    let (master_key, database) = (master_key.unwrap(), database.unwrap());
    let key_is_there = database.windows(32).any(|bytes| bytes == master_key.trim_ascii());
    assert!(!key_is_there, "the master key was left in the database");

    // The devices know their keys still, and so does the cloud.
    let _cloud = Cloud::start(&program, &restored, coaps, &[]).unwrap();
    let mut fleet = Fleet::new(Target::cloud(coaps), &credentials, Habits::default()).unwrap();
    assert!(fleet.connect(PATIENCE).unwrap(), "not every device could connect");
}

#[test]
fn a_file_that_is_not_a_whole_backup_is_not_restored() {
    let (program, place) = (Program::built(), tempfile::tempdir().unwrap());
    let [data, restored, file] = ["data", "restored", "backup"].map(|name| place.path().join(name));
    let never = run(&program, "backup", &file, &data);
    assert!(!never.status.success() && said(&never).contains("no cloud has run"), "{}", said(&never));
    drop(Cloud::start(&program, &data, own_address(), &[]).unwrap());
    assert!(run(&program, "backup", &file, &data).status.success());
    let whole = std::fs::read(&file).unwrap();
    for spoiled in [&whole[..whole.len() / 2], b"not a database at all", b""] {
        std::fs::write(&file, spoiled).unwrap();
        let refused = run(&program, "restore", &file, &restored);
        assert!(
            !refused.status.success() && said(&refused).contains("is not a whole backup"),
            "{}",
            said(&refused)
        );
        assert_eq!(std::fs::read_dir(&restored).unwrap().count(), 0);
    }
    std::fs::write(&file, whole).unwrap();
    assert!(run(&program, "restore", &file, &restored).status.success());
}

//! What passwords that are tried leave in the memory of the process. It is measured, so nothing else runs here.

#![cfg(target_os = "linux")]

use std::sync::Arc;

use sixlock_store::Store;
use tokio::sync::Semaphore;

/// Passwords tried, and how many at the same time.
const TRIED: usize = 500;
const AT_ONCE: u32 = 8;
/// KiB that the process may hold then. Each hash takes 19,456.
const MOST_KIB: u64 = 100 << 10;

/// What of the process is in memory, in KiB.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn five_hundred_wrong_passwords_leave_less_than_a_hundred_mebibytes() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer) = Store::open(directory.path()).await.unwrap();
    store.add_user("ann", "", "a long password".into(), false).await.unwrap();
    let turns = Arc::new(Semaphore::new(AT_ONCE as usize));
    let mut tries = Vec::new();
    for n in 0..TRIED {
        let turn = turns.clone().acquire_owned().await.unwrap();
        let store = store.clone();
        tries.push(tokio::spawn(async move {
            let user = if n % 2 == 0 { "ann" } else { "nobody" };
            let from = [192, 0, (n % 250) as u8, 1].into();
            let found = store.user_by_password(user, format!("wrong password {n}"), from).await.unwrap();
            drop(turn);
            found
        }));
    }
    for tried in tries {
        assert_eq!(tried.await.unwrap(), None);
    }
    let from = [192, 0, 2, 1].into();
    assert!(store.user_by_password("ann", "a long password".into(), from).await.unwrap().is_some());
    let resident = resident_kib();
    println!("{resident} KiB are resident after {TRIED} wrong passwords");
    assert!(resident < MOST_KIB, "{resident} KiB are resident after {TRIED} wrong passwords");
}

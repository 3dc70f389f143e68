//! A cloud besieged by strangers serves its user and its devices, in little memory. `./bench siege` does the same at length, and judges how long
//! it takes.

use sixlock_load::{Plan, Program, Tell, siege};

fn withstands(secure: bool) {
    let disk = tempfile::tempdir().unwrap();
    let besieged = siege(&Program::built(), disk.path(), secure, &Plan::SHORT, &mut Tell::default()).unwrap();
    println!("{besieged}");
    assert_eq!(besieged.faults(), [] as [String; 0], "{besieged}");
}

#[test]
fn besieged_over_http_the_cloud_serves_its_user_and_its_devices_and_loses_nothing() {
    withstands(false);
}

#[test]
fn besieged_over_tls_the_cloud_serves_its_user_and_its_devices_and_loses_nothing() {
    withstands(true);
}

//! Sessions go on over a restart of the cloud as a process, which SIGTERM ends in order.

use sixlock_load::{Program, Tell, restart};

#[test]
fn asked_to_end_and_started_again_with_another_number_of_threads_the_cloud_goes_on_with_all_sessions() {
    let disk = tempfile::tempdir().unwrap();
    let done = restart(&Program::built(), disk.path(), 300, [2, 3], &mut Tell::default()).unwrap();
    println!("{done}");
}

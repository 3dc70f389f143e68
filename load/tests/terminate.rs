//! The cloud is asked to end under load: whatever it took it stores and answers, and then it ends.

mod support;

use std::collections::BTreeSet;
use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use sixlock_load::{Cloud, Fleet, Habits, LoadPattern, Post, Program, Progress, Target, enrol, posts};
use support::{DEVICES, PATIENCE, await_more, own_address};

#[test]
fn told_to_end_under_load_the_cloud_answers_what_it_took_and_the_next_one_goes_on() {
    let (program, data) = (Program::built(), tempfile::tempdir().unwrap());
    let cloud = Cloud::start(&program, data.path(), own_address(), &[]).unwrap();
    let coaps = cloud.coaps;
    let credentials = enrol(cloud.http, data.path(), DEVICES).unwrap();
    // Several posts a device, so that many are under way at the end.
    let habits = Habits { window: 4, ..Habits::default() };
    let mut fleet = Fleet::new(Target::cloud(coaps), &credentials, habits).unwrap();
    assert!(fleet.connect(PATIENCE).unwrap(), "not every device could connect");

    let progress = Progress::default();
    thread::scope(|scope| {
        let _end = progress.finish_when_dropped();
        let fleet = scope
            .spawn(|| fleet.run(LoadPattern::Answered, &progress, None, Duration::from_secs(1)).unwrap());
        await_more(&progress, 2_000);
        let asked = Instant::now();
        let status = cloud.terminate(PATIENCE).unwrap().expect("it ends");
        println!("ended after {:?}", asked.elapsed());
        assert!(status.success(), "it ended with {status}");
        progress.finish();
        fleet.join().unwrap();
    });
    let acknowledged: BTreeSet<Post> = fleet.acknowledged().iter().copied().collect();
    let stored: BTreeSet<Post> = posts(data.path()).unwrap().into_keys().collect();
    let unanswered: Vec<_> = stored.difference(&acknowledged).collect();
    assert_eq!(unanswered, [] as [&Post; 0], "taken and stored, but not answered");
    let lost: Vec<_> = acknowledged.difference(&stored).collect();
    assert_eq!(lost, [] as [&Post; 0], "acknowledged, but not stored");

    // What was not taken is sent again, to the next one.
    let _cloud = Cloud::start(&program, data.path(), coaps, &[]).unwrap();
    let finished = fleet.run(LoadPattern::Answered, &progress, None, PATIENCE).unwrap();
    assert!(finished, "a post was never answered");
    let stored = posts(data.path()).unwrap();
    let acknowledged: BTreeSet<Post> = fleet.acknowledged().iter().copied().collect();
    assert_eq!(stored.len(), acknowledged.len());
    assert!(acknowledged.iter().all(|post| stored.get(post) == Some(&1)));
    assert_eq!(fleet.refusals, []);
}

#[test]
fn clients_that_do_not_finish_what_they_say_do_not_hold_up_the_end() {
    let (program, data) = (Program::built(), tempfile::tempdir().unwrap());
    let cloud = Cloud::start(&program, data.path(), own_address(), &[]).unwrap();
    let token = std::fs::read_to_string(data.path().join("admin-token")).unwrap();
    let head = format!("Host: {}\r\nAuthorization: Bearer {}\r\n", cloud.http, token.trim());
    let unfinished = [
        "GET /api/v1/us".to_owned(),
        format!("GET /api/v1/live HTTP/1.1\r\n{head}\r\n"),
        format!(
            "POST /api/v1/users HTTP/1.1\r\n{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
        ),
    ];
    let mut connections = Vec::new();
    for said in unfinished {
        let mut connection = TcpStream::connect(cloud.http).unwrap();
        connection.write_all(said.as_bytes()).unwrap();
        connections.push(connection);
    }
    // Each of them has been heard when a later one was answered.
    enrol(cloud.http, data.path(), 1).unwrap();
    let status = cloud.terminate(PATIENCE).unwrap().expect("it ends");
    assert!(status.success(), "it ended with {status}");
}

//! The cloud is killed under load, and started again on the same data: what was acknowledged is there, once, and so is what is made of it:
//! computed points, alerts, what is told of these, and rollups.
//!
//! `SIXLOCK_KILLS` says how often, `SIXLOCK_DEVICES` how many devices post, of which at most 1,000 are watched, and `SIXLOCK_SEED` repeats a run
//! that failed.

mod support;

use std::thread;
use std::time::{Duration, Instant};

use sixlock_load::{
    Cloud, Fleet, Habits, Hook, LoadPattern, Program, Progress, Random, Target, Watched, await_told,
    differences, differences_from_recomputation, posts, variable, watch,
};
use support::{DEVICES, PATIENCE, await_more, own_address};

/// The first readings are of long ago (2024), so that their hours are over, and rolled up when the cloud starts.
const BEGAN: i64 = 1_704_067_200;
/// The most devices that have a rule and computed streams.
const MOST_WATCHED: usize = 1_000;

#[test]
fn killed_at_random_moments_under_load_the_cloud_has_every_acknowledged_post_exactly_once() {
    // ./soak asks for more.
    let kills = variable("SIXLOCK_KILLS").unwrap_or(3);
    let devices = variable("SIXLOCK_DEVICES").map_or(DEVICES, |devices| devices as usize);
    let watched = Watched { devices, every: devices.div_ceil(MOST_WATCHED) };
    let mut random = Random::seeded();

    let (program, data) = (Program::built(), tempfile::tempdir().unwrap());
    let hook = Hook::start().unwrap();
    let sessions = (2 * devices).to_string();
    let options = ["--alert-allow", "127.0.0.1", "--max-sessions", &sessions];
    let start = |coaps| Cloud::start(&program, data.path(), coaps, &options).unwrap();
    let mut cloud = start(own_address());
    let coaps = cloud.coaps;
    let credentials = watch(cloud.http, data.path(), watched, &hook).unwrap();
    let habits = Habits { readings: 3, began: Some(BEGAN), ..Habits::default() };
    let mut fleet = Fleet::new(Target::cloud(coaps), &credentials, habits).unwrap();
    assert!(fleet.connect(PATIENCE).unwrap(), "not every device could connect");

    // So many that the first device posts often enough for somebody to be told.
    let least = 1_000.max(3 * devices as u64);
    let progress = Progress::default();
    let started = Instant::now();
    let all_answered = thread::scope(|scope| {
        let _end = progress.finish_when_dropped();
        let fleet = scope.spawn(|| fleet.run(LoadPattern::Answered, &progress, None, PATIENCE).unwrap());
        for kill in 0..kills {
            // Somewhere in the middle of things: posts are acknowledged again, and then a moment later.
            let rate = await_more(&progress, least + random.below(2 * least));
            thread::sleep(Duration::from_micros(random.below(100_000)));
            cloud.kill().unwrap();
            let killed = Instant::now();
            cloud = start(coaps);
            println!("kill {} at {rate:.0} posts/s; ready again after {:?}", kill + 1, killed.elapsed());
        }
        await_more(&progress, least);
        progress.finish();
        fleet.join().unwrap()
    });
    let took = started.elapsed();
    assert!(all_answered, "a post was never answered");
    assert_eq!(fleet.refusals, [], "a post was refused");
    assert!(await_told(cloud.http, data.path(), PATIENCE).unwrap(), "somebody was not told of all alerts");
    drop(cloud);

    println!("{}", fleet.summary(took));
    // Each post was answered in the end, so each is there, with each of its readings once.
    assert_eq!(differences(fleet.acknowledged(), &posts(data.path()).unwrap(), 3), None);
    // So is what was made of them, most of it in the same commits.
    assert_eq!(differences_from_recomputation(data.path(), watched, &hook).unwrap(), [] as [String; 0]);
    // Each device had a post under way at the last kill; not all may have been back from the one before.
    assert!(fleet.sessions() as usize >= 2 * devices, "not every device has made its session anew");
}

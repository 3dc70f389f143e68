//! The cloud is killed under load, and started again on the same data: what was acknowledged is there, once, and so are its alerts.
//!
//! `SIXLOCK_KILLS` says how often, and `SIXLOCK_SEED` repeats a run that failed.

mod support;

use std::thread;
use std::time::{Duration, Instant};

use sixlock_load::{
    Cloud, Fleet, Habits, LoadPattern, Program, Progress, Random, Target, differences, enrol, posts,
    variable, watch_first_device, wrong_alerts,
};
use support::{DEVICES, PATIENCE, await_more, own_address};

#[test]
fn killed_at_random_moments_under_load_the_cloud_has_every_acknowledged_post_exactly_once() {
    // ./soak asks for more.
    let kills = variable("SIXLOCK_KILLS").unwrap_or(3);
    let mut random = Random::seeded();

    let (program, data) = (Program::built(), tempfile::tempdir().unwrap());
    let mut cloud = Cloud::start(&program, data.path(), own_address(), &[]).unwrap();
    let coaps = cloud.coaps;
    let credentials = enrol(cloud.http, data.path(), DEVICES).unwrap();
    watch_first_device(cloud.http, data.path()).unwrap();
    let habits = Habits { readings: 3, ..Habits::default() };
    let mut fleet = Fleet::new(Target::cloud(coaps), &credentials, habits).unwrap();
    assert!(fleet.connect(PATIENCE).unwrap(), "not every device could connect");

    let progress = Progress::default();
    let started = Instant::now();
    let all_answered = thread::scope(|scope| {
        let _end = progress.finish_when_dropped();
        let fleet = scope.spawn(|| fleet.run(LoadPattern::Answered, &progress, None, PATIENCE).unwrap());
        for kill in 0..kills {
            // Somewhere in the middle of things: posts are acknowledged again, and then a moment later.
            let rate = await_more(&progress, 1_000 + random.below(2_000));
            thread::sleep(Duration::from_micros(random.below(100_000)));
            cloud.kill().unwrap();
            let killed = Instant::now();
            cloud = Cloud::start(&program, data.path(), coaps, &[]).unwrap();
            println!("kill {} at {rate:.0} posts/s; ready again after {:?}", kill + 1, killed.elapsed());
        }
        await_more(&progress, 1_000);
        progress.finish();
        fleet.join().unwrap()
    });
    let took = started.elapsed();
    assert!(all_answered, "a post was never answered");
    assert_eq!(fleet.refusals, [], "a post was refused");
    drop(cloud);

    println!("{}", fleet.summary(took));
    // Each post was answered in the end, so each is there, with each of its readings once.
    assert_eq!(differences(fleet.acknowledged(), &posts(data.path()).unwrap(), 3), None);
    // So is what a rule made of them, in the same commits.
    assert_eq!(wrong_alerts(data.path()).unwrap(), None);
    // Each device had a post under way at the last kill; not all may have been back from the one before.
    assert!(fleet.sessions() as usize >= 2 * DEVICES, "not every device has made its session anew");
}

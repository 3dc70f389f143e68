//! The cloud is killed under load, and started again on the same data: what was acknowledged is there, once.
//!
//! `SIXLOCK_KILLS` says how often, and `SIXLOCK_SEED` repeats a run that failed.

mod support;

use std::collections::HashMap;
use std::thread;
use std::time::{Duration, Instant};

use sixlock_load::{Cloud, Fleet, Habits, Pace, Post, Program, Progress, Target, enrol, posts};
use support::{DEVICES, PATIENCE, await_more, own_address};

/// A small generator (SplitMix64): a seed gives the same moments again, as far as the machine lets it.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}

#[test]
fn killed_at_random_moments_under_load_the_cloud_has_every_acknowledged_post_exactly_once() {
    // ./soak asks for more.
    let kills = number("SIXLOCK_KILLS").unwrap_or(3);
    let seed = number("SIXLOCK_SEED")
        .unwrap_or_else(|| Instant::now().elapsed().as_nanos() as u64 ^ u64::from(std::process::id()));
    println!("SIXLOCK_SEED={seed}");
    let mut random = Random(seed);

    let (program, data) = (Program::built(), tempfile::tempdir().unwrap());
    let mut cloud = Cloud::start(&program, data.path(), own_address(), &[]).unwrap();
    let coaps = cloud.coaps;
    let credentials = enrol(cloud.http, data.path(), DEVICES).unwrap();
    let habits = Habits { readings: 3, ..Habits::default() };
    let mut fleet = Fleet::new(Target::cloud(coaps), &credentials, habits).unwrap();
    assert!(fleet.connect(PATIENCE).unwrap(), "not every device could connect");

    let progress = Progress::default();
    let started = Instant::now();
    let all_answered = thread::scope(|scope| {
        let fleet = scope.spawn(|| fleet.run(Pace::Answered, &progress, None, PATIENCE).unwrap());
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
    let seconds = started.elapsed().as_secs_f64();
    assert!(all_answered, "a post was never answered");
    assert_eq!(fleet.refusals, [], "a post was refused");
    drop(cloud);

    let stored = posts(data.path()).unwrap();
    let acknowledged = fleet.acknowledged();
    println!(
        "{} posts acknowledged in {seconds:.1} s ({:.0}/s, pauses included), {} sent again, {} sessions",
        acknowledged.len(),
        acknowledged.len() as f64 / seconds,
        fleet.repeats(),
        fleet.sessions(),
    );
    // Each post was answered in the end, so each is there, with each of its readings once.
    let expected: HashMap<Post, u32> = acknowledged.iter().map(|&post| (post, 3)).collect();
    let differing = |a: &HashMap<Post, u32>, b: &HashMap<Post, u32>| -> Vec<(Post, u32)> {
        let mut differing: Vec<_> =
            a.iter().filter(|(post, n)| b.get(post) != Some(n)).map(|(&post, &n)| (post, n)).collect();
        differing.sort();
        differing
    };
    assert_eq!(differing(&expected, &stored), [], "acknowledged, but not stored once");
    assert_eq!(differing(&stored, &expected), [], "stored, but not as it was acknowledged");
    assert!(
        u64::from(fleet.sessions()) > kills * DEVICES as u64,
        "not every device has made its sessions anew"
    );
}
